// SPDX-License-Identifier: Apache-2.0
//
// Two inputs whose rows the model calls by one name, with different numbers of them.
//
// expect: inputs_differ_in_a_dimension_of_the_same_name
// expect: given<3>
// expect: given<5>
// expect: argument_of_forward<1>
// expect: argument_of_forward<2>
// expect: axis<0>
// expect: model<Model>
// expect: "forward"
// expect: "batch"

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

#ifdef MISUSE
const auto y = model.forward(zeros<float, Shape<3, 4>>(), zeros<float, Shape<5, 6>>());
#else
const auto y = model.forward(zeros<float, Shape<3, 4>>(), zeros<float, Shape<3, 6>>());
#endif
