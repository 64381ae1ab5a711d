// SPDX-License-Identifier: Apache-2.0
//
// A batch whose rows are not as wide as the model's input.
// nvcc
// expect: input_has_another_extent_than_the_model_declares
// expect: declared<784>
// expect: given<28>
// expect: axis<1>

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 784> image) { return nn::linear(image, 10, "output"); }
};

nn::Network<Model> model{Cpu{0}};

#ifdef MISUSE
const auto y = model.forward(zeros<float, Shape<dyn, 28>>(Dims(3, 28)));
#else
const auto y = model.forward(zeros<float, Shape<dyn, 784>>(Dims(3, 784)));
#endif
