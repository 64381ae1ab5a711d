// SPDX-License-Identifier: Apache-2.0
//
// A step that takes more bytes than a device has.
//
// expect: the step fits a device

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
static_assert(peak_bytes<Step, nn::Size<"batch", 100'000'000>> <= 1_GB, "the step fits a device");
#else
static_assert(peak_bytes<Step, nn::Size<"batch", 64>> <= 1_GB, "the step fits a device");
#endif
