// SPDX-License-Identifier: Apache-2.0
//
// Trains a small network and prints the bits of its losses.

#include <twill/twill.hpp>

#include <cstdio>

#ifndef TWILL_COMPILED
#error "twill::compiled does not say that it is linked"
#endif

using namespace twill;

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 20> x) {
    const auto hidden = tanh(nn::linear(x, 31, "hidden"));
    return nn::linear(nn::layer_norm(hidden, "norm"), 5, "output");
  }
};

int main() {
  manual_seed(Cpu{0}, 3);
  nn::Network<Mlp, Cpu> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.01}});
  const auto x = rand<float, Shape<dyn, 20>>(Dims(17, 20));
  const auto label = zeros<std::int64_t, Shape<dyn>>(Dims(17));
  for (int i = 0; i < 5; ++i) std::printf("%a\n", static_cast<double>(step(x, label).item()));
}
