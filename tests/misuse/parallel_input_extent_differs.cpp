// SPDX-License-Identifier: Apache-2.0
//
// A batch for several devices that is not as wide as the model's input.
//
// expect: input_has_another_extent_than_the_model_declares
// expect: declared<4>
// expect: given<5>

#include <twill/nn/linear.hpp>
#include <twill/parallel/data/data_parallel.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};
const DataParallel replicated{model};

#ifdef MISUSE
const auto y = replicated.forward(zeros<float, Shape<3, 5>>());
#else
const auto y = replicated.forward(zeros<float, Shape<3, 4>>());
#endif
