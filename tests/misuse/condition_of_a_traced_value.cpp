// SPDX-License-Identifier: Apache-2.0
//
// A branch on a value of a model, whose elements are not known while it is traced.
//
// expect: twill: a traced value is no condition
// expect: where(condition, a, b)

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

#ifdef MISUSE
struct Mlp {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) {
    if (x > 0) return x;
    return 0.1 * x;
  }
};
#else
struct Mlp {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return where(x > 0, x, 0.1 * x); }
};
#endif

nn::Network<Mlp> model{Cpu{0}};
