// SPDX-License-Identifier: Apache-2.0
//
// The peak of a step whose number of rows is not said.
//
// expect: twill: peak_bytes: a named dimension of the step has no size; give each one, peak_bytes<Step, nn::Size<"batch", 64>>

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/peak_bytes.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 64> x) { return nn::linear(x, 3, "output"); }
};
using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
using Step = training::StepOf<Model, nn::cross_entropy, optim::Sgd, Labels>;

#ifdef MISUSE
static_assert(peak_bytes<Step> <= 80_GB);
#else
static_assert(peak_bytes<Step, nn::Size<"batch", 64>> <= 80_GB);
#endif
