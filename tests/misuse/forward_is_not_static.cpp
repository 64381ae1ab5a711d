// SPDX-License-Identifier: Apache-2.0
//
// A model whose function is a member of an object, as in PyTorch.
//
// expect: twill: forward of a model is a static function: static constexpr auto forward(

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

#ifdef MISUSE
struct Mlp {
  constexpr graph::Value forward(Input<Dim<"batch">, 4> x) const { return nn::linear(x, 2, "output"); }
};
#else
struct Mlp {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};
#endif

nn::Network<Mlp> model{Cpu{0}};
