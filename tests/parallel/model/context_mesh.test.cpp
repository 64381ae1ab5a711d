// SPDX-License-Identifier: Apache-2.0
//
// A sequence that is divided within the replicas of a pipeline: eight ranks on a mesh of three axes take the steps of
// one device.

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/ring_attention.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>
#include <twill/training/train_step.hpp>

#include "tests/parallel/model/parallel_model.suite.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace twill;
using graph::Value;

namespace {

constexpr std::int64_t sequences = 4;
constexpr std::int64_t rows = 8;
constexpr auto zigzag = nn::SequenceDivision::zigzag;

/// A stage of attention, and one of a linear layer.
template <int N> struct Staged {
  using Context = RankAxis<"context", N>;
  static constexpr Value forward(Input<Dim<"batch">, rows, 6> x) {
    const Value own = nn::sequence_part<Context>(x, 1, zigzag);
    const nn::SplitRegion<Context> part{x.graph(), 1};
    const Value first = nn::stage_boundary(
        nn::ring_multi_head_attention<Context>(own, 2, "attention", {.is_causal = true, .division = zigzag}));
    return nn::sequence_whole<Context>(nn::linear(first, 3, "head"), 1, zigzag);
  }
};

template <std::int64_t Width> auto numbers_from(double factor) {
  Tensor<double, Cpu, Shape<dyn, rows, Width>> x(Cpu{0}, Dims(sequences, rows, Width));
  for (std::int64_t i = 0; i < x.elements(); ++i) x.data()[i] = std::sin(static_cast<double>(i) * factor);
  return x;
}

using Grid = parallel::Mesh<parallel::Axis<"data">, parallel::Axis<"pipe", 2>, parallel::Axis<"context", 2>>;

} // namespace

TEST_CASE("a sequence divided on a mesh trains as on one device", "[parallel][PAR-7]") {
  const auto rule = optim::clip_norm(optim::MomentumSgd{{.rate = 0.1}}, 0.5);
  const auto x = numbers_from<6>(1.3);
  const auto y = numbers_from<3>(0.7);
  manual_seed(Cpu{0}, 7);
  const RandomDraw draw = generator(Cpu{0}).next();
  manual_seed(Cpu{0}, 7);
  nn::Network<Staged<1>, Cpu, double> one{Cpu{0}};
  auto step_of_one = train_step(one, nn::mse, rule);
  std::vector<double> wanted{};
  for (int i = 0; i < 3; ++i) wanted.push_back(step_of_one(x, y).item());
  auto world = parallel::thread_communicators(std::vector<Cpu>(8, Cpu{0}), {.timeout_ms = 60'000});
  parallel::run_ranks(world, [&]<class C>(C& communicator) {
    ParallelModel<Grid, pipeline::OneForwardOneBackward, C, Staged<2>, double> model{communicator, draw};
    const int replica = model.groups().template coordinate<"data">();
    const parallel::Rows own = parallel::chunk_rows(sequences, 2)[static_cast<std::size_t>(replica)];
    auto step = train_step(model, nn::mse, rule, {.micro_batches = 2});
    for (const double loss : wanted)
      test::require_close(step(parallel::rows_of<0>(x, own), parallel::rows_of<0>(y, own)), loss, "the loss of a step");
  });
}
