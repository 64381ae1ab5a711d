// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a weight by a name that the model does not use.
//
// expect: twill: gradient: the model has no weight of this name

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};

#ifdef MISUSE
const auto gradient = [] { return model.gradient<"output">(); };
#else
const auto gradient = [] { return model.gradient<"output.bias">(); };
#endif
