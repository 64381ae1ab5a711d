// SPDX-License-Identifier: Apache-2.0
//
// Inference on doubles by a model of floats.
//
// expect: input_has_another_element_type_than_the_model_declares
// expect: float32
// expect: float64

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
const auto y = model.infer(zeros<double, Shape<dyn, 4>>(Dims(3, 4)));
#else
const auto y = model.infer(x);
#endif
