// SPDX-License-Identifier: Apache-2.0
//
// A sum of two inputs whose rows have different names.
//
// expect: two_symbols_must_be_equal
// expect: "batch and time"

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>

using namespace twill;

#ifdef MISUSE
using Second = Input<Dim<"time">, 4>;
#else
using Second = Input<Dim<"batch">, 4>;
#endif
struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x, Second y) { return nn::linear(x + y, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};
