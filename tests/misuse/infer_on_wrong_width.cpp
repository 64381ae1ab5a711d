// SPDX-License-Identifier: Apache-2.0
//
// Inference on an input that is not as wide as the model says.
//
// expect: input_has_another_extent_than_the_model_declares
// expect: declared<4>
// expect: given<5>
// expect: axis<1>
// expect: argument_of_forward<1>
// expect: "infer"

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
const auto y = model.infer(zeros<float, Shape<dyn, 5>>(Dims(3, 5)));
#else
const auto y = model.infer(x);
#endif
