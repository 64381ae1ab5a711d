// SPDX-License-Identifier: Apache-2.0
//
// Inference on an expression that is not evaluated.
//
// expect: twill: infer: a network takes tensors; evaluate an expression first: const Tensor x = image / 255;

#include <twill/expr.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};
const auto x = zeros<float, Shape<dyn, 4>>(Dims(3, 4));

#ifdef MISUSE
const auto y = model.infer(x / 255);
#else
const Tensor scaled = x / 255;
const auto y = model.infer(scaled);
#endif
