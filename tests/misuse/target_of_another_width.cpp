// SPDX-License-Identifier: Apache-2.0
//
// A target of another width than the prediction.
//
// expect: broadcast_extents_differ
// expect: left<2>
// expect: right<3>
// expect: loss
// expect: "mse"

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
const float loss = step(x, zeros<float, Shape<dyn, 3>>(Dims(3, 3)));
#else
const float loss = step(x, target);
#endif
