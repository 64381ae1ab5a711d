// SPDX-License-Identifier: Apache-2.0
//
// A training step of a 2-8-8-1 network with tanh, mean squared error and SGD on four rows, where nothing but overhead counts.
// After 50 steps the weights equal the reference's within 1e-4.

#include "bench/kernel/registers.hpp"
#include "bench/support/check.hpp"
#include "bench/support/network.hpp"

#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <benchmark/benchmark.h>

#include <vector>

#if BENCH_HAS_REGISTERS
#include "bench/reference/tiny_step.hpp"
#define HAS_REFERENCE 1
#endif

using namespace twill;

namespace {

const std::vector<float> x = bench::numbers(4 * 2, 1.0F, 1);
const std::vector<float> target = bench::numbers(4, 1.0F, 2);
const std::vector<float> start = bench::numbers(2 * 8 + 8 + 8 * 8 + 8 + 8 + 1, 0.5F, 3);
constexpr float rate = 0.05F;
constexpr int checked_steps = 50;

#if HAS_REFERENCE
void by_hand(benchmark::State& state) {
  reference::TinyStep step{start};
  for (auto _ : state) benchmark::DoNotOptimize(step.step(x.data(), target.data(), rate));
}
#endif

void with_twill(benchmark::State& state) {
  nn::Network<bench::TinyNet> model{Cpu{0}};
  bench::set_weights(model, start);
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = rate}});
  const auto inputs = from_values<Shape<dyn, 2>>(x, Dims(4, 2), Cpu{0});
  const auto targets = from_values<Shape<dyn, 1>>(target, Dims(4, 1), Cpu{0});
#if HAS_REFERENCE
  reference::TinyStep expected{start};
  for (int i = 0; i < checked_steps; ++i) {
    const float loss = step(inputs, targets);
    const float expected_loss = expected.step(x.data(), target.data(), rate);
    bench::require_close(&loss, &expected_loss, 1, 1e-4F, "tiny_step/twill: loss");
  }
  bench::require_close(bench::weights_of(model), expected.values(), 1e-4F, "tiny_step/twill");
#endif
  for (auto _ : state) benchmark::DoNotOptimize(step(inputs, targets));
}

} // namespace

#if HAS_REFERENCE
BENCHMARK(by_hand)->Name("tiny_step/reference");
#endif
BENCHMARK(with_twill)->Name("tiny_step/twill");

BENCHMARK_MAIN();
