// SPDX-License-Identifier: Apache-2.0
//
// A training step of GPT-2 with 124 million weights on 16 sequences of 1024 tokens: products and attention in bfloat16,
// weights and their update in float32, as PyTorch's autocast has it.

#include "bench/gpu/model_losses.hpp"
#include "bench/gpu/model_steps.cuh"
#include "examples/models/gpt2.hpp"

using namespace twill;

namespace {

using Model = nn::Autocast<models::Gpt2<models::gpt2_small, bench::gpt2_tokens>, bfloat16>;

auto tokens_of(std::int64_t batch, std::int64_t offset) {
  return from_values<Shape<dyn, bench::gpt2_tokens>>(bench::tokens(batch, offset), Dims(batch, bench::gpt2_tokens),
                                                     Cpu{0})
      .to(Cuda{0});
}

} // namespace

void bench_gpt2(bench::Report& report) {
  constexpr std::int64_t batch = 16;
  manual_seed_all(bench::model_seed);
  nn::Network<Model, Cuda> model{Cuda{0}};
  auto step = train_step(model, models::NextToken{}, optim::Sgd{{.rate = bench::model_rate}});
  std::vector<float> losses{};
  {
    const auto x = tokens_of(bench::gpt2_checked, 0);
    const auto y = tokens_of(bench::gpt2_checked, 1);
    for (int i = 0; i < bench::model_checks; ++i) losses.push_back(step(x, y).item());
  }
  const auto x = tokens_of(batch, 0);
  const auto y = tokens_of(batch, 1);
  const auto run = [&] { (void)step(x, y); };
  empty_cache(Cuda{0});
  reset_peak_memory_stats(Cuda{0});
  report.compare("gpu_gpt2_step_bf16", std::to_string(batch),
                 {{"twill", run, [&] { return bench::are_losses(losses, bench::gpt2_losses(), 1e-3F); }}});
  bench::explain_step(report, "gpu_gpt2_step_bf16", std::to_string(batch), run);
}
