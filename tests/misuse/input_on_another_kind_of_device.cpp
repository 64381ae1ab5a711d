// SPDX-License-Identifier: Apache-2.0
//
// A batch on another kind of device than the model.
//
// expect: input_lies_on_another_kind_of_device_than_the_model
// expect: Cpu
// expect: Meta

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

#ifdef MISUSE
nn::Network<Model, Cpu> model{Cpu{0}};
#else
nn::Network<Model, Meta> model{Meta{0}};
#endif

const auto y = model.forward(zeros<float, Shape<3, 4>>(Meta{0}));
