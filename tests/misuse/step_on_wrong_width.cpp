// SPDX-License-Identifier: Apache-2.0
//
// A training step with a batch that is not as wide as the model's input.
//
// expect: input_has_another_extent_than_the_model_declares
// expect: declared<4>
// expect: given<5>

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
const auto target = zeros<float, Shape<dyn, 2>>(Dims(3, 2));

#ifdef MISUSE
const float loss = step(zeros<float, Shape<dyn, 5>>(Dims(3, 5)), target);
#else
const float loss = step(zeros<float, Shape<dyn, 4>>(Dims(3, 4)), target);
#endif
