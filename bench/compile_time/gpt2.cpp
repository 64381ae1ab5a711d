// SPDX-License-Identifier: Apache-2.0
//
// What a training program of GPT-2 with 124 million weights costs to compile.

#include "examples/models/gpt2.hpp"

#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/train/train_step.hpp>

using namespace twill;

int main() {
  nn::Network<models::Gpt2<models::gpt2_small, 256>, Cpu> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 1e-3F}});
  const auto tokens = zeros<std::int64_t, Shape<1, 256>>();
  return step(tokens, tokens).item() > 0 ? 0 : 1;
}
