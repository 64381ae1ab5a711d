// SPDX-License-Identifier: Apache-2.0
//
// A micro-batch that is not as wide as the model's input.
//
// expect: input_has_another_extent_than_the_model_declares
// expect: declared<4>
// expect: given<5>

#include <twill/nn/linear.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/accumulation.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

void add(nn::Network<Model>& model) {
  auto step = accumulated_step(model, nn::mse, optim::Sgd{});
  const auto target = zeros<float, Shape<dyn, 2>>(Dims(3, 2));
#ifdef MISUSE
  step.add(zeros<float, Shape<dyn, 5>>(Dims(3, 5)), target);
#else
  step.add(zeros<float, Shape<dyn, 4>>(Dims(3, 4)), target);
#endif
}
