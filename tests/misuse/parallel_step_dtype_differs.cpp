// SPDX-License-Identifier: Apache-2.0
//
// A data-parallel training step of a float32 model with a float64 batch.
//
// expect: input_has_another_element_type_than_the_model_declares
// expect: float32
// expect: float64

#include <twill/nn/linear.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

nn::Network<Model> model{Cpu{0}};
DataParallel parallel_model{model};
auto step = train_step(parallel_model, nn::mse, optim::Sgd{});
const auto target = zeros<float, Shape<dyn, 2>>(Dims(3, 2));

#ifdef MISUSE
const float loss = step(zeros<double, Shape<dyn, 4>>(Dims(3, 4)), target);
#else
const float loss = step(zeros<float, Shape<dyn, 4>>(Dims(3, 4)), target);
#endif
