// SPDX-License-Identifier: Apache-2.0
//
// A model whose function does not say the shapes of its inputs.
//
// expect: twill: forward of a model takes inputs of known shapes, Input<Dim<
// expect: not values

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

#ifdef MISUSE
struct Mlp {
  static constexpr graph::Value forward(graph::Value x) { return nn::linear(x, 2, "output"); }
};
#else
struct Mlp {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};
#endif

nn::Network<Mlp> model{Cpu{0}};
