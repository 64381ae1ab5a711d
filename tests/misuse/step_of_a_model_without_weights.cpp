// SPDX-License-Identifier: Apache-2.0
//
// A training step of a model, which has no weights without a network.
//
// expect: twill: train_step: the first argument is a network, nn::Network<Model>, which has the weights of a model

#include <twill/nn/linear.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

#ifdef MISUSE
Model model;
auto step = train_step(model, nn::mse, optim::Sgd{});
#else
nn::Network<Model> model{Cpu{0}};
auto step = train_step(model, nn::mse, optim::Sgd{});
#endif
