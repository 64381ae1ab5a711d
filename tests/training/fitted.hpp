#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A deep model for tests of budgets, and what its training leaves behind: numbers to compare bit by bit, and the peak.

#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/fit.hpp>
#include <twill/training/fit_report.hpp>
#include <twill/training/train_step.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace twill::test {

/// Four layers with dropout.
struct Deep {
  static constexpr std::int64_t width = 32;
  static constexpr std::int64_t rows = 256;
  static constexpr auto forward(Input<Dim<"batch">, width> x) {
    nn::Value y = x;
    for (int i = 0; i < 4; ++i) {
      const nn::Scope scope{y.graph(), "layer", i};
      y = nn::dropout(tanh(nn::linear(y, width, "product")), 0.25);
    }
    return nn::linear(y, 3, "output");
  }
};

template <std::int64_t Bytes> using FittedDeep = nn::Fit<Deep, Bytes, nn::Size<"batch", Deep::rows>>;

/// How many numbers are not the same.
inline std::size_t differing(const std::vector<double>& a, const std::vector<double>& b) {
  std::size_t count = a.size() == b.size() ? 0 : 1 + a.size();
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (a[i] != b[i]) ++count;
  return count;
}

struct Trained {
  std::vector<double> numbers{};
  std::int64_t peak = 0;
  std::int64_t capture_bytes = 0; ///< of the peak, where steps are captured
};

/// Losses and weights of three steps where the batch lies, and the bytes that model and steps took at the worst moment.
template <class Model, class R> Trained trained(const R& rule, const auto& x, const auto& label) {
  const auto device = x.device();
  manual_seed_all(7);
  const std::int64_t before = memory_allocated(device);
  reset_peak_memory_stats(device);
  nn::Network<Model, std::remove_const_t<decltype(device)>, float> model{device};
  auto step = train_step(model, nn::cross_entropy, rule);
  Trained result{};
  for (int i = 0; i < 3; ++i) result.numbers.push_back(static_cast<double>(step(x, label).item()));
  result.peak = max_memory_allocated(device) - before;
  result.capture_bytes = static_cast<std::int64_t>(step.capture_bytes(x, label));
  for (const double weight : weights_of(model)) result.numbers.push_back(weight);
  return result;
}

} // namespace twill::test
