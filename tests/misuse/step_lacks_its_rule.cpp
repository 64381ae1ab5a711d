// SPDX-License-Identifier: Apache-2.0
//
// A training step without a rule of updates.
//
// expect: twill: train_step: the rule of updates is missing: train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}})

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
auto step = train_step(model, nn::mse);
#else
auto step = train_step(model, nn::mse, optim::Sgd{});
#endif
