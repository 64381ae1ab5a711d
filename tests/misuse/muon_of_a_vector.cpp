// SPDX-License-Identifier: Apache-2.0
//
// Muon, which updates matrices, as the rule of a bias.
// expect: matrix_needs_two_axes
// expect: output.bias

#include <twill/all.hpp>

#include <cstdint>

using namespace twill;

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 8> x) { return nn::linear(x, 3, "output"); }
};

float train(const Tensor<float, Cpu, Shape<dyn, 8>>& x, const Tensor<std::int64_t, Cpu, Shape<dyn>>& label) {
  nn::Network<Classifier> model{};
#ifdef MISUSE
  const auto rule = optim::Muon{};
#else
  const auto rule = optim::groups(optim::Muon{}, optim::vectors(optim::AdamW{}));
#endif
  auto step = train_step(model, nn::cross_entropy, rule);
  return step(x, label).item();
}
