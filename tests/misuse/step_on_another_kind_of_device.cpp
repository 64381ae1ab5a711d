// SPDX-License-Identifier: Apache-2.0
//
// A training step with a target on another kind of device than the model.
//
// expect: input_lies_on_another_kind_of_device_than_the_model
// expect: Cpu
// expect: Meta
// expect: target<1>
// expect: model<Model>
// expect: "train_step"

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

#ifdef MISUSE
const float loss = step(x, zeros<float, Shape<dyn, 2>>(Dims(3, 2), Meta{0}));
#else
const float loss = step(x, zeros<float, Shape<dyn, 2>>(Dims(3, 2), Cpu{0}));
#endif
