#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Training of a rank that can fail and go on, one text for threads and processes: an MLP with dropout under
// `parallel::Reproducible`, so that the number of ranks changes no bit.

#include "tests/support/ranks.hpp"

#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/data/elastic_state.hpp>
#include <twill/parallel/data/reproducible_step.hpp>

#include <cstdint>

namespace twill::test::elastic {

inline constexpr std::int64_t steps = 7;
inline constexpr std::int64_t rows = 13;

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(nn::dropout(tanh(nn::linear(x, 7, "hidden")), 0.3), 3, "output");
  }
};

/// This rank's rows of the batch of a step.
inline constexpr auto batch_of = [](const auto& rank, std::int64_t step, const parallel::Rows& own) {
  return LabelledRows<float, 5>{rows, 3, Cpu{0}, static_cast<unsigned>(step)}.rows(own.begin, own.count, rank.device());
};

/// The run of a rank, with batches that may fail.
template <int Stage, parallel::Communicator C, class Batches>
void train(C& communicator, parallel::ElasticState& state, const Batches& batch) {
  // region: rank
  nn::Network<Mlp> network{communicator.device()};
  DistributedDataParallel model{network, communicator};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.01}}, parallel::zero<Stage>,
                         parallel::Reproducible{.shards = 4});
  state.restore(model, step); // the first group starts here, a later one from the newest commit
  while (step.steps() < steps) {
    const auto [x, label] = batch(communicator, step.steps(), step.rows_of(rows));
    step(x, label);
    if (step.steps() % 2 == 0) state.commit(model, step);
  }
  state.commit(model, step);
  // end region
}

} // namespace twill::test::elastic
