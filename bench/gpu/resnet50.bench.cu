// SPDX-License-Identifier: Apache-2.0
//
// A training step of ResNet-50 on 256 images of 224 x 224: products and convolutions in bfloat16, weights and their update in
// float32, as PyTorch's autocast has it.

#include "bench/gpu/model_losses.hpp"
#include "bench/gpu/model_steps.cuh"
#include "examples/models/resnet.hpp"

using namespace twill;

namespace {

using Model = nn::Autocast<models::ResNet50<bench::resnet_extent>, bfloat16>;
using Images = Shape<dyn, 3, bench::resnet_extent, bench::resnet_extent>;

auto images_of(std::int64_t batch) {
  constexpr std::int64_t n = bench::resnet_extent;
  return from_values<Images>(bench::images(batch), Dims(batch, 3, n, n), Cpu{0}).to(Cuda{0});
}
auto classes_of(std::int64_t batch) {
  return from_values<Shape<dyn>>(bench::classes(batch), Dims(batch), Cpu{0}).to(Cuda{0});
}

} // namespace

void bench_resnet50(bench::Report& report) {
  constexpr std::int64_t batch = 256;
  manual_seed_all(bench::model_seed);
  nn::Network<Model, Cuda> model{Cuda{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = bench::model_rate}});
  std::vector<float> losses{};
  {
    const auto x = images_of(bench::resnet_checked);
    const auto y = classes_of(bench::resnet_checked);
    for (int i = 0; i < bench::model_checks; ++i) losses.push_back(step(x, y).item());
  }
  const auto x = images_of(batch);
  const auto y = classes_of(batch);
  const auto run = [&] { (void)step(x, y); };
  empty_cache(Cuda{0});
  reset_peak_memory_stats(Cuda{0});
  // in training, fifty batch norms of four images multiply the rounding of bfloat16
  report.compare("gpu_resnet50_step_bf16", std::to_string(batch),
                 {{"twill", run, [&] { return bench::are_losses(losses, bench::resnet50_losses(), 0.03F); }}});
  bench::explain_step(report, "gpu_resnet50_step_bf16", std::to_string(batch), run);
}
