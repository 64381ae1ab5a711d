// SPDX-License-Identifier: Apache-2.0
//
// What the training program of GPT-2 with 124 million weights costs to compile.

#include "examples/models/gpt2.hpp"

#include <twill/twill.hpp>

using namespace twill;

int main() {
  nn::Network<models::Gpt2<models::gpt2_small, 256>, Cpu> model{Cpu{0}};
  auto step = train_step(model, models::NextToken{}, optim::Sgd{{.rate = 0.1}});
  const auto tokens = zeros<std::int64_t, Shape<dyn, 256>>(Dims(1, 256));
  for (int i = 0; i < 10; ++i) step(tokens, tokens);
}
