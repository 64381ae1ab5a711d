// SPDX-License-Identifier: Apache-2.0
//
// A weight by a name that the model does not use.
//
// expect: twill: parameter: the model has no weight of this name

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};

#ifdef MISUSE
const auto weight = model.parameter<"otput.weight">();
#else
const auto weight = model.parameter<"output.weight">();
#endif
