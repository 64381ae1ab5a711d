// SPDX-License-Identifier: Apache-2.0
//
// A layer that there is not, by PyTorch's name: the compiler's own error, and little after it.
//
// expect[g++]: 'Linear' is not a member of 'twill
// expect[clang]: no member named 'Linear'

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Mlp {
#ifdef MISUSE
  static constexpr auto forward(Input<Dim<"batch">, 4> x) { return nn::Linear(x, 2, "output"); }
#else
  static constexpr auto forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
#endif
};

nn::Network<Mlp> model{Cpu{0}};
const auto y = model.infer(zeros<float, Shape<3, 4>>());
