// SPDX-License-Identifier: Apache-2.0
//
// A training step with a learning rate where the rule of updates belongs.
//
// expect: twill: train_step: the third argument is a rule of updates, such as optim::Sgd{{.rate = 0.1}}

#include <twill/nn/linear.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};

#ifdef MISUSE
auto step = train_step(model, nn::mse, 0.1);
#else
auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.1}});
#endif
