// SPDX-License-Identifier: Apache-2.0
//
// A batch of another size than a model without a named dimension takes.
//
// expect: input_has_another_extent_than_the_model_declares
// expect: declared<8>
// expect: given<3>
// expect: axis<0>

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<8, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};

#ifdef MISUSE
const auto y = model.infer(zeros<float, Shape<3, 4>>());
#else
const auto y = model.infer(zeros<float, Shape<8, 4>>());
#endif
