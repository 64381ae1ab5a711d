// SPDX-License-Identifier: Apache-2.0
//
// A micro-batch without the target of its loss.
//
// expect: loss_takes_another_number_of_targets
// expect: given<0>

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
  const auto x = zeros<float, Shape<dyn, 4>>(Dims(3, 4));
#ifdef MISUSE
  step.add(x);
#else
  step.add(x, zeros<float, Shape<dyn, 2>>(Dims(3, 2)));
#endif
}
