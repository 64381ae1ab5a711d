// SPDX-License-Identifier: Apache-2.0
//
// Labels of a step as integers in rows of the width of the logits.
//
// expect: loss_shapes_differ
// expect: left_rank<2>
// expect: right_rank<3>
// expect: "cross_entropy"

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};
auto step = train_step(model, nn::cross_entropy, optim::Sgd{});
const auto x = zeros<float, Shape<dyn, 4>>(Dims(3, 4));

#ifdef MISUSE
const float loss = step(x, zeros<std::int64_t, Shape<dyn, 2>>(Dims(3, 2)));
#else
const float loss = step(x, zeros<std::int64_t, Shape<dyn>>(Dims(3)));
#endif
