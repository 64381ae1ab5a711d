// SPDX-License-Identifier: Apache-2.0
//
// A model of two inputs called with one.
//
// expect: number_of_arguments_differs_from_the_models_inputs
// expect: declared<2>
// expect: given<1>

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> left, Input<Dim<"batch">, 6> right) {
    return nn::linear(left, 2, "left") + nn::linear(right, 2, "right");
  }
};

nn::Network<Model> model{Cpu{0}};
const auto left = zeros<float, Shape<3, 4>>();
const auto right = zeros<float, Shape<3, 6>>();

#ifdef MISUSE
const auto y = model.forward(left);
#else
const auto y = model.forward(left, right);
#endif
