// SPDX-License-Identifier: Apache-2.0
//
// A loss that captures a number.
//
// expect: twill: train_step: a loss is a function without captures

#include <twill/nn/linear.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};

inline auto make_step([[maybe_unused]] double weight) {
#ifdef MISUSE
  return train_step(
      model, [weight](auto y, auto target) { return weight * nn::mse(y, target); }, optim::Sgd{});
#else
  return train_step(model, nn::loss([](auto y, auto target) { return 2 * nn::mse(y, target); }), optim::Sgd{});
#endif
}
