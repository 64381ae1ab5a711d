// SPDX-License-Identifier: Apache-2.0
//
// An optimiser with the arguments of PyTorch's.
//
// expect: twill: optim: a rule takes its options by name, optim::Adam{{.rate = 0.01}}

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/optim/adam.hpp>

using namespace twill;

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Mlp> model{Cpu{0}};

#ifdef MISUSE
auto rule = optim::Adam(model.parameters(), 0.01);
#else
auto rule = optim::Adam{{.rate = 0.01}};
#endif
