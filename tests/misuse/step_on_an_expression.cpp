// SPDX-License-Identifier: Apache-2.0
//
// A training step on an expression that is not evaluated.
//
// expect: twill: train_step: a step takes tensors; evaluate an expression first: const Tensor x = image / 255;

#include <twill/expr.hpp>
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
const float loss = step(x / 255, target);
#else
const Tensor scaled = x / 255;
const float loss = step(scaled, target);
#endif
