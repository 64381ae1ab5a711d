// SPDX-License-Identifier: Apache-2.0
//
// A model that returns two values.
//
// expect: twill: forward of a model returns one value, the result of its last layer

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

#include <tuple>

using namespace twill;

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    const auto hidden = nn::linear(x, 8, "hidden");
#ifdef MISUSE
    return std::tuple{nn::linear(hidden, 2, "output"), hidden};
#else
    return nn::linear(hidden, 2, "output");
#endif
  }
};

nn::Network<Mlp> model{Cpu{0}};
