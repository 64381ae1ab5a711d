// SPDX-License-Identifier: Apache-2.0
//
// A weight that the result does not depend on.
// nvcc
// expect: parameter_is_not_reached_by_the_loss
// expect: "forgotten.weight"

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) {
#ifdef MISUSE
    [[maybe_unused]] const graph::Value forgotten = nn::linear(x, 5, "forgotten");
#endif
    return nn::linear(x, 2, "used");
  }
};

nn::Network<Model, Cpu> model{Cpu{0}};

const auto y = model.forward(zeros<float, Shape<3, 4>>());
