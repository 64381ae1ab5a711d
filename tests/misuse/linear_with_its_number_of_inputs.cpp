// SPDX-License-Identifier: Apache-2.0
//
// A layer with the arguments of PyTorch's.
//
// expect: twill: nn::linear: x, the number of outputs, a name, then options
// expect: the number of inputs is that of x

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Mlp {
#ifdef MISUSE
  static constexpr auto forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 4, 2, "output"); }
#else
  static constexpr auto forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
#endif
};

nn::Network<Mlp> model{Cpu{0}};
