// SPDX-License-Identifier: Apache-2.0
//
// A second network made by copying the first.
//
// expect: deleted
// expect: Network

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};

#ifdef MISUSE
nn::Network<Model> copy = model;
#else
nn::Network<Model> copy{Cpu{0}};
#endif
