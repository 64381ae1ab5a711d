// SPDX-License-Identifier: Apache-2.0
//
// A schedule of one's own whose last rank counts its micro-batches from one.
// expect: action_is_outside_the_schedule
// expect: rank<1>
// expect: micro_batch<2>

#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>

using namespace twill;

struct Own {
  static constexpr std::string_view name = "one of mine";
  static constexpr int stages_per_rank = 1;
  static constexpr int rank_of(int stage, int) { return stage; }
  static constexpr List<pipeline::Action> order(int rank, int ranks, int micro_batches) {
    List<pipeline::Action> order;
#ifdef MISUSE
    const int first = rank == ranks - 1 ? 1 : 0;
#else
    const int first = 0;
    static_cast<void>(ranks);
#endif
    for (int i = 0; i < micro_batches; ++i) order.push_back(pipeline::forward(rank, first + i));
    for (int i = 0; i < micro_batches; ++i) order.push_back(pipeline::backward(rank, first + i));
    return order;
  }
};

static_assert(pipeline::verified<Own, 2, 2>);
