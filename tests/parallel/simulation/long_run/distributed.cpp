// SPDX-License-Identifier: Apache-2.0
//
// Long simulations of DistributedDataParallel: three ranks with uneven rows, whole weights and ZeRO's three stages, on threads and
// on a network.

#include "tests/parallel/simulation/long_run/jobs.hpp"
#include "tests/parallel/simulation/long_run/wrappers.hpp"

#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/distributed_step.hpp>

namespace twill::test::long_run {
namespace {

template <int Stage> struct Distributed {
  static constexpr int ranks = 3;
  static constexpr int steps = 5;

  /// Zero's update is in pieces of weights, in which a kernel of one's own has no part.
  static auto rule() {
    if constexpr (Stage == 0)
      return FaultySgd{};
    else
      return optim::Sgd{{.rate = 0.1}};
  }

  template <class C, class Note> static void train(C& communicator, const Start& from, const Note& note) {
    const int rank = communicator.rank();
    nn::Network<Plain, Cpu, double> network{communicator.device()};
    begin_at(network, from);
    DistributedDataParallel model{network, communicator, {.buckets = {.first_bucket_bytes = 64, .bucket_bytes = 100}}};
    auto step = train_step(model, faulty_loss, rule(), parallel::zero<Stage>);
    for (int i = from.step; i < steps; ++i) {
      const int first = rank * (rank + 3) / 2; // 2, 3 and 4 rows
      static_cast<void>(
          step(batch_of<inputs>(Cpu{rank}, i, first, 2 + rank), batch_of<outputs>(Cpu{rank}, i, first, 2 + rank)));
      step.gather_weights();
      note(weights_of(network));
    }
  }
};

} // namespace

void add_distributed(std::vector<Wrapper>& all) {
  all.push_back({"DDP, threads", &play_seed<Distributed<0>, OnThreads>});
  all.push_back({"DDP, network", &play_seed<Distributed<0>, OnNetwork>});
  all.push_back({"ZeRO-1, threads", &play_seed<Distributed<1>, OnThreads>});
  all.push_back({"ZeRO-1, network", &play_seed<Distributed<1>, OnNetwork>});
  all.push_back({"ZeRO-2, threads", &play_seed<Distributed<2>, OnThreads>});
  all.push_back({"ZeRO-2, network", &play_seed<Distributed<2>, OnNetwork>});
  all.push_back({"ZeRO-3, threads", &play_seed<Distributed<3>, OnThreads>});
  all.push_back({"ZeRO-3, network", &play_seed<Distributed<3>, OnNetwork>});
}

} // namespace twill::test::long_run
