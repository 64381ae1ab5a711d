// SPDX-License-Identifier: Apache-2.0
//
// A schedule of one's own, as docs/how_to_add_a_schedule.md adds it: proved by the compiler, and its costs counted.

#include <catch2/catch.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/pipeline/schedule/simulate.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>

#include <algorithm>
#include <string_view>

namespace {

using namespace twill;

// region: schedule
/// GPipe in waves: so many micro-batches forward and back, then the next so many. Keeps `Wave` of them, for a longer fill.
template <int Wave> struct Waves {
  static constexpr std::string_view name = "waves";
  static constexpr int stages_per_rank = 1;
  static constexpr int multiple_of(int) { return Wave; }
  static constexpr int rank_of(int stage, int) { return stage; }
  static constexpr List<pipeline::Action> order(int rank, int, int micro_batches) {
    List<pipeline::Action> order;
    for (int first = 0; first < micro_batches; first += Wave) {
      for (int i = 0; i < Wave; ++i) order.push_back(pipeline::forward(rank, first + i));
      for (int i = 0; i < Wave; ++i) order.push_back(pipeline::backward(rank, first + i));
    }
    return order;
  }
};
// end region

// region: proof
static_assert(pipeline::verified<Waves<2>, 4, 8>);
static_assert(pipeline::simulate(pipeline::table<Waves<2>>(2, 4), pipeline::UniformCost{}).is_complete);
// end region

TEST_CASE("a schedule of one's own has the bubble and keeps the micro-batches that one expects", "[parallel][PAR-6]") {
  const pipeline::Schedule waves = pipeline::table<Waves<2>>(4, 8);
  const pipeline::Schedule at_once = pipeline::table<pipeline::GPipe>(4, 8);
  for (const int kept : pipeline::peak_activations(waves)) CHECK(kept == 2);
  for (const int kept : pipeline::peak_activations(at_once)) CHECK(kept == 8);
  // Each of four waves fills and drains the pipeline: (p - 1)(F + B) of idle time, with F = 1 and B = 2.
  const pipeline::Timeline timeline = pipeline::simulate(waves, pipeline::UniformCost{});
  CHECK(timeline.is_complete);
  CHECK(timeline.bubble() >= 3 * 3);
  CHECK(pipeline::simulate(at_once, pipeline::UniformCost{}).bubble() == 3 * 3);
}

} // namespace
