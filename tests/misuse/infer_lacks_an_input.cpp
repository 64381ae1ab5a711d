// SPDX-License-Identifier: Apache-2.0
//
// Inference of a model of two inputs with one tensor.
//
// expect: number_of_arguments_differs_from_the_models_inputs
// expect: declared<2>
// expect: given<1>

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x, Input<Dim<"batch">, 4> y) {
    return nn::linear(x * y, 2, "output");
  }
};

nn::Network<Model> model{Cpu{0}};
const auto x = zeros<float, Shape<dyn, 4>>(Dims(3, 4));

#ifdef MISUSE
const auto y = model.infer(x);
#else
const auto y = model.infer(x, x);
#endif
