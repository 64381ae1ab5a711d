// SPDX-License-Identifier: Apache-2.0
//
// Two weights of a model under one name.
// nvcc
// expect: parameter_name_is_used_twice
// expect: "layer.weight"

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) {
#ifdef MISUSE
    return nn::linear(nn::linear(x, 5, "layer"), 2, "layer");
#else
    return nn::linear(nn::linear(x, 5, "first"), 2, "second");
#endif
  }
};

nn::Network<Model, Cpu> model{Cpu{0}};
