#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The same training step in a file that is header-only and in one that uses the compiled library. Read next: mixed.cpp.

#include <twill/twill.hpp>

struct Classifier {
  static constexpr auto forward(twill::Input<twill::Dim<"batch">, 5> x) {
    return twill::nn::linear(relu(twill::nn::linear(x, 7, "hidden")), 3, "output");
  }
};

using Losses = twill::Tensor<float, twill::Cpu, twill::Shape<4>>;

/// The losses of four steps.
inline Losses train(const twill::Tensor<float, twill::Cpu, twill::Shape<twill::dyn, 5>>& x) {
  twill::manual_seed(twill::Cpu{0}, 7);
  twill::nn::Network<Classifier, twill::Cpu> model{twill::Cpu{0}};
  auto step = twill::train_step(model, twill::nn::cross_entropy, twill::optim::Adam{{.rate = 0.1}});
  const auto label = twill::zeros<std::int64_t, twill::Shape<twill::dyn>>(twill::Dims(8));
  Losses losses = twill::zeros<float, twill::Shape<4>>();
  for (int i = 0; i < 4; ++i) losses.data()[i] = step(x, label).item();
  return losses;
}

Losses train_header_only(const twill::Tensor<float, twill::Cpu, twill::Shape<twill::dyn, 5>>& x);
