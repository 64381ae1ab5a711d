#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A training step whose program, made by twill_add_fit, says how many bytes and how much time it takes, on one device or
// divided among several. A program that trains includes this header, too.
// region: step
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/adam.hpp>
#include <twill/training/peak_bytes.hpp>

struct Classifier {
  static constexpr auto forward(twill::Input<twill::Dim<"batch">, 784> image) {
    const auto first = tanh(twill::nn::linear(image, 1024, "first"));
    const auto second = tanh(twill::nn::linear(first, 1024, "second"));
    return twill::nn::linear(second, 10, "output");
  }
};

using Labels = twill::Tensor<std::int64_t, twill::Cpu, twill::Shape<twill::dyn>>;
using Step = twill::training::StepOf<Classifier, twill::nn::cross_entropy, twill::optim::Adam, Labels>;
// end region

// region: constant
using namespace twill::literals;
static_assert(twill::peak_bytes<Step, twill::nn::Size<"batch", 256>> <= 80_GB);
// end region
