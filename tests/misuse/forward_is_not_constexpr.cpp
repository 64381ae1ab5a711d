// SPDX-License-Identifier: Apache-2.0
//
// A model that the compiler cannot trace.
//
// expect[g++]: forward_has_to_be_constexpr
// expect[clang]: must be initialized by a constant expression
// lines[clang]: 54

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

#ifdef MISUSE
struct Mlp {
  static graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};
#else
struct Mlp {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};
#endif

nn::Network<Mlp> model{Cpu{0}};
