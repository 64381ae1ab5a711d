// SPDX-License-Identifier: Apache-2.0
//
// A training step with two targets for a loss that takes one.
//
// expect: loss_takes_another_number_of_targets
// expect: given<2>

#include <twill/nn/linear.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};
auto step = train_step(model, nn::mse, optim::Sgd{});
const auto x = zeros<float, Shape<dyn, 4>>(Dims(3, 4));
const auto target = zeros<float, Shape<dyn, 2>>(Dims(3, 2));

#ifdef MISUSE
const float loss = step(x, target, target);
#else
const float loss = step(x, target);
#endif
