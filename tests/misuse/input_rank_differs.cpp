// SPDX-License-Identifier: Apache-2.0
//
// Images as three-dimensional tensors, in evaluation, for a model of flat ones.
//
// expect: input_has_another_rank_than_the_model_declares
// expect: declared<2>
// expect: given<3>

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 784> image) { return nn::linear(image, 10, "output"); }
};

nn::Network<Model> model{Cpu{0}};
const auto images = zeros<float, Shape<3, 28, 28>>();

#ifdef MISUSE
const auto y = model.infer(images);
#else
const auto y = model.infer(images.flatten<1, 2>());
#endif
