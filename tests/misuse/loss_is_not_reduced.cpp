// SPDX-License-Identifier: Apache-2.0
//
// A loss that leaves a number for each element.
//
// expect: gradient_of_a_value_that_is_not_a_scalar
// expect: rank<2>

#include <twill/nn/linear.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

#ifdef MISUSE
constexpr auto reduce = nn::Reduce::none;
#else
constexpr auto reduce = nn::Reduce::sum;
#endif
constexpr auto loss = nn::loss([](auto x, auto y) { return nn::mse(x, y, {.reduce = reduce}); });
nn::Network<Model> model{Cpu{0}};
auto step = train_step(model, loss, optim::Sgd{});
const auto x = zeros<float, Shape<dyn, 4>>(Dims(3, 4));
const auto target = zeros<float, Shape<dyn, 2>>(Dims(3, 2));

const float value = step(x, target);
