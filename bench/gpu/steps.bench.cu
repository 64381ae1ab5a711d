// SPDX-License-Identifier: Apache-2.0
//
// Whole training steps: a tiny network, where nothing but overhead counts, and 784-256-256-10 at batch 32. The losses of
// some steps equal those of the host before anything is timed.

#include "bench/gpu/model_steps.cuh"
#include "bench/support/check.hpp"
#include "bench/support/network.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;

namespace {

constexpr int checked_steps = 5;

template <class Model, class Loss, class X, class Y>
void step_of(bench::Report& report, const char* name, const char* size, Loss loss, const X& inputs, const Y& targets) {
  const optim::Sgd rule{{.rate = 0.01F}};
  nn::Network<Model, Cpu> host{Cpu{0}};
  nn::Network<Model, Cuda> device = host.to(Cuda{0});
  auto on_host = train_step(host, loss, rule);
  auto on_device = train_step(device, loss, rule);
  const auto x = inputs.to(Cuda{0});
  const auto y = targets.to(Cuda{0});
  std::vector<float> expected{}, found{};
  for (int i = 0; i < checked_steps; ++i) {
    expected.push_back(on_host(inputs, targets));
    found.push_back(on_device(x, y));
  }
  const auto run = [&] { (void)on_device(x, y); };
  report.compare(name, size, {{"twill", run, [&] { return bench::are_losses(found, expected, 1e-3F); }}});
  bench::explain_step(report, name, size, run);
}

} // namespace

void bench_steps(bench::Report& report) {
  const auto x = from_values<Shape<dyn, 784>>(bench::numbers(32 * 784, 1.0F, 1), Dims(32, 784), Cpu{0});
  std::vector<std::int64_t> labels(32);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i * 7 % 10);
  step_of<bench::Mlp>(report, "gpu_mlp_step", "32", nn::cross_entropy, x,
                      from_values<Shape<dyn>>(labels, Dims(32), Cpu{0}));
  const auto few = from_values<Shape<dyn, 2>>(bench::numbers(4 * 2, 1.0F, 1), Dims(4, 2), Cpu{0});
  const auto target = from_values<Shape<dyn, 1>>(bench::numbers(4, 1.0F, 2), Dims(4, 1), Cpu{0});
  step_of<bench::TinyNet>(report, "gpu_tiny_step", "4", nn::mse, few, target);
}
