// SPDX-License-Identifier: Apache-2.0
//
// A training step of a 784-256-256-10 network with relu, cross entropy and SGD at three batch sizes. After 5 steps the
// weights equal the reference's within 1e-4. A second program of it is a quick build, optimised as this one is.

#include "bench/kernel/registers.hpp"
#include "bench/support/check.hpp"
#include "bench/support/network.hpp"

#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#if BENCH_HAS_REGISTERS && defined(TWILL_WITH_CBLAS)
#include "bench/reference/mlp_step.hpp"
#define HAS_REFERENCE 1
#endif

using namespace twill;

namespace {

constexpr float rate = 0.01F;
constexpr int checked_steps = 5;
constexpr std::int64_t weight_count = 256 * 784 + 256 + 256 * 256 + 256 + 10 * 256 + 10;

struct Data {
  explicit Data(std::int64_t rows)
      : x{bench::numbers(rows * 784, 1.0F, 1)},
        labels(static_cast<std::size_t>(rows)),
        start{bench::numbers(weight_count, 0.05F, 2)} {
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i * 7 % 10);
  }
  std::vector<float> x;
  std::vector<std::int64_t> labels;
  std::vector<float> start;
};

#if HAS_REFERENCE && !TWILL_QUICK
void by_hand(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const Data data{rows};
  reference::MlpNumbers weights{data.start};
  reference::MlpStep step{rows};
  for (auto _ : state) benchmark::DoNotOptimize(step.step(weights, data.x.data(), data.labels.data(), rows, rate));
}
#endif

void with_twill(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const Data data{rows};
  nn::Network<bench::Mlp> model{Cpu{0}};
  bench::set_weights(model, data.start);
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = rate}});
  const auto images = from_values<Shape<dyn, 784>>(data.x, Dims(rows, 784), Cpu{0});
  const auto labels = from_values(data.labels, Dims(rows), Cpu{0});
#if HAS_REFERENCE
  reference::MlpNumbers expected{data.start};
  reference::MlpStep hand{rows};
  for (int i = 0; i < checked_steps; ++i) {
    const float loss = step(images, labels);
    const float expected_loss = hand.step(expected, data.x.data(), data.labels.data(), rows, rate);
    bench::require_close(&loss, &expected_loss, 1, 1e-4F, "mlp_step/twill: loss");
  }
  bench::require_close(bench::weights_of(model), expected.all, 1e-4F, "mlp_step/twill");
#endif
  for (auto _ : state) benchmark::DoNotOptimize(step(images, labels));
}

} // namespace

#if TWILL_QUICK
BENCHMARK(with_twill)->Name("mlp_step/quick")->Arg(1)->Arg(32)->Arg(256);
#else
#if HAS_REFERENCE
BENCHMARK(by_hand)->Name("mlp_step/reference")->Arg(1)->Arg(32)->Arg(256);
#endif
BENCHMARK(with_twill)->Name("mlp_step/twill")->Arg(1)->Arg(32)->Arg(256);
#endif

BENCHMARK_MAIN();
