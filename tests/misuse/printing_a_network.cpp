// SPDX-License-Identifier: Apache-2.0
//
// A network written to a stream, as print(model) in PyTorch.
//
// expect: twill: print: a network has no text

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/profile.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

#include <iostream>

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};

#ifdef MISUSE
std::ostream& out = std::cout << model;
#else
std::ostream& out = std::cout << model.infer(zeros<float, Shape<dyn, 4>>(Dims(3, 4)));
#endif
