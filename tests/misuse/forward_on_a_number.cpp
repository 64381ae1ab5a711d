// SPDX-License-Identifier: Apache-2.0
//
// A forward pass of a number.
//
// expect: twill: forward: a network takes tensors; evaluate an expression first

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
const auto y = model.forward(3);
#else
const auto y = model.forward(x);
#endif
