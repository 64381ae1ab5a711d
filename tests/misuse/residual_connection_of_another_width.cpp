// SPDX-License-Identifier: Apache-2.0
//
// A residual connection around a layer that changes the width, in a network that is used.
//
// expect: broadcast_extents_differ
// expect: left<4>
// expect: right<8>

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
#ifdef MISUSE
    return nn::linear(x + nn::linear(x, 8, "around"), 2, "output");
#else
    return nn::linear(x + nn::linear(x, 4, "around"), 2, "output");
#endif
  }
};

nn::Network<Mlp> model{Cpu{0}};
const auto x = zeros<float, Shape<3, 4>>();
const auto y = model.infer(x);
const auto z = model.forward(x);
