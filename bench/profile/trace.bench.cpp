// SPDX-License-Identifier: Apache-2.0
//
// What a trace costs a training step of a 2-8-8-1 network on four rows, where nothing but overhead counts: a step while nobody
// traces, which asks one flag, beside a step that is traced. After both the weights are the same, bit for bit.

#include "bench/support/check.hpp"
#include "bench/support/network.hpp"

#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/profile/trace.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <benchmark/benchmark.h>

#include <vector>

using namespace twill;

namespace {

const std::vector<float> x = bench::numbers(4 * 2, 1.0F, 1);
const std::vector<float> target = bench::numbers(4, 1.0F, 2);
const std::vector<float> start = bench::numbers(2 * 8 + 8 + 8 * 8 + 8 + 8 + 1, 0.5F, 3);
constexpr int checked_steps = 50;

std::vector<float> weights_after(bool is_traced) {
  nn::Network<bench::TinyNet> model{Cpu{0}};
  bench::set_weights(model, start);
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.05F}});
  const auto inputs = from_values<Shape<dyn, 2>>(x, Dims(4, 2), Cpu{0});
  const auto targets = from_values<Shape<dyn, 1>>(target, Dims(4, 1), Cpu{0});
  const auto steps = [&] {
    for (int i = 0; i < checked_steps; ++i) static_cast<void>(step(inputs, targets));
  };
  if (is_traced)
    static_cast<void>(profile::trace(steps));
  else
    steps();
  return bench::weights_of(model);
}

void step_of(benchmark::State& state, bool is_traced) {
  bench::require_close(weights_after(true), weights_after(false), 0.0F, "trace/traced");
  nn::Network<bench::TinyNet> model{Cpu{0}};
  bench::set_weights(model, start);
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.0F}});
  const auto inputs = from_values<Shape<dyn, 2>>(x, Dims(4, 2), Cpu{0});
  const auto targets = from_values<Shape<dyn, 1>>(target, Dims(4, 1), Cpu{0});
  const auto steps = [&] {
    for (auto _ : state) benchmark::DoNotOptimize(step(inputs, targets));
  };
  if (is_traced)
    static_cast<void>(profile::trace(steps));
  else
    steps();
}

void untraced(benchmark::State& state) { step_of(state, false); }
void traced(benchmark::State& state) { step_of(state, true); }

} // namespace

BENCHMARK(untraced)->Name("trace/reference");
BENCHMARK(traced)->Name("trace/traced")->Iterations(20'000); // each keeps its times

BENCHMARK_MAIN();
