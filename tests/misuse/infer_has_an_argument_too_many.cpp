// SPDX-License-Identifier: Apache-2.0
//
// Inference with labels, which a model does not take.
//
// expect: number_of_arguments_differs_from_the_models_inputs
// expect: declared<1>
// expect: given<2>

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};
const auto x = zeros<float, Shape<dyn, 4>>(Dims(3, 4));

#ifdef MISUSE
const auto y = model.infer(x, x);
#else
const auto y = model.infer(x);
#endif
