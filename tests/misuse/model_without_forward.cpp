// SPDX-License-Identifier: Apache-2.0
//
// A network of a model that calls its function by another name.
//
// expect[g++]: (Model<M>)
// expect[clang]: class template 'Network' [with M = Mlp

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

#ifdef MISUSE
struct Mlp {
  static constexpr graph::Value call(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};
#else
struct Mlp {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};
#endif

nn::Network<Mlp> model{Cpu{0}};
