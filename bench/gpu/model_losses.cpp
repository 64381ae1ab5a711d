// SPDX-License-Identifier: Apache-2.0
//
// The host's side of bench/gpu/model_losses.hpp.

#include "bench/gpu/model_losses.hpp"
#include "examples/models/gpt2.hpp"
#include "examples/models/resnet.hpp"

#include <twill/device/generator.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

using namespace twill;

namespace {

template <class Model, class Loss, class X, class Y>
std::vector<float> losses(Loss loss, const X& inputs, const Y& targets) {
  manual_seed_all(bench::model_seed);
  nn::Network<Model, Cpu> model{Cpu{0}};
  auto step = train_step(model, loss, optim::Sgd{{.rate = bench::model_rate}});
  std::vector<float> found{};
  for (int i = 0; i < bench::model_checks; ++i) found.push_back(step(inputs, targets).item());
  return found;
}

} // namespace

std::vector<float> bench::resnet50_losses() {
  constexpr std::int64_t n = resnet_extent, batch = resnet_checked;
  return losses<models::ResNet50<n>>(nn::cross_entropy,
                                     from_values<Shape<dyn, 3, n, n>>(images(batch), Dims(batch, 3, n, n), Cpu{0}),
                                     from_values<Shape<dyn>>(classes(batch), Dims(batch), Cpu{0}));
}

std::vector<float> bench::gpt2_losses() {
  using Tokens = Shape<dyn, gpt2_tokens>;
  const Dims shape(gpt2_checked, gpt2_tokens);
  return losses<models::Gpt2<models::gpt2_small, gpt2_tokens>>(
      models::NextToken{}, from_values<Tokens>(tokens(gpt2_checked, 0), shape, Cpu{0}),
      from_values<Tokens>(tokens(gpt2_checked, 1), shape, Cpu{0}));
}
