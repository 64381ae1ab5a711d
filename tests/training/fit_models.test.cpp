// SPDX-License-Identifier: Apache-2.0
//
// A convolutional net and a transformer within less memory than they take by themselves: the bits of the model without a budget, and the
// predicted peak.

#include "tests/training/fitted.hpp"

#include <twill/nn/attention.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/norm_layers.hpp>
#include <twill/optim/sgd.hpp>

#include <catch2/catch.hpp>

#include <cstdint>

using namespace twill;
using namespace twill::test;

namespace {

using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
constexpr std::int64_t rows = 12;

/// Residual convolutions with norms.
struct Convolutional {
  static constexpr auto forward(Input<Dim<"batch">, 3, 10, 10> image) {
    nn::Value x = nn::conv2d(image, 8, "stem", {.kernel = 3, .padding = 1});
    for (int i = 0; i < 3; ++i) {
      const nn::Scope scope{x.graph(), "block", i};
      x = x + relu(nn::batch_norm(nn::conv2d(x, 8, "convolution", {.kernel = 3, .padding = 1}), "norm"));
    }
    return nn::linear(mean(x, {2, 3}), 3, "output");
  }
};

/// Blocks of attention and two products, with the norm in front of each part and dropout behind.
struct Transformer {
  static constexpr auto forward(Input<Dim<"batch">, 8, 16> tokens) {
    nn::Value x = tokens;
    for (int i = 0; i < 2; ++i) {
      const nn::Scope scope{x.graph(), "block", i};
      const nn::Value a = nn::layer_norm(x, "norm1");
      x = x + nn::dropout(nn::multi_head_attention(a, a, a, 2, "heads"), 0.1);
      x = x + nn::dropout(nn::linear(gelu(nn::linear(nn::layer_norm(x, "norm2"), 32, "wide")), 16, "narrow"), 0.1);
    }
    return nn::linear(mean(x, {1}), 3, "output");
  }
};

template <class Model, std::int64_t Bytes> using Fitted = nn::Fit<Model, Bytes, nn::Size<"batch", rows>>;
template <class Model, std::int64_t Bytes>
constexpr compile::FitReport report_for = fit_report<Fitted<Model, Bytes>, nn::cross_entropy, optim::Sgd, Labels>();

/// On a budget of so many hundredths of what the model takes without one.
template <class Model, std::int64_t Percent> void check_bits_and_peak(const auto& x) {
  constexpr std::int64_t budget = report_for<Model, 1_GiB>.without.total() * Percent / 100;
  constexpr compile::FitReport report = report_for<Model, budget>;
  STATIC_REQUIRE(report.parts.count > 0);
  CAPTURE(to_string(report));
  const auto label = random_labels(Cpu{0}, rows, 3);
  const optim::Sgd rule{{.rate = 0.1}};
  const Trained plain = trained<Model>(rule, x, label);
  const Trained own = trained<Fitted<Model, budget>>(rule, x, label);
  CHECK(plain.peak == report.without.total());
  CHECK(own.peak == report.with.total());
  CHECK(own.peak <= budget);
  CHECK(differing(own.numbers, plain.numbers) == 0);
}

} // namespace

TEST_CASE("a convolutional net within nine tenths of its memory has the bits of one without a budget",
          "[training][TRAIN-5]") {
  check_bits_and_peak<Convolutional, 90>(
      from_values<Shape<dyn, 3, 10, 10>>(random_values<float>(rows * 300), Dims(rows, 3, 10, 10), Cpu{0}));
}

TEST_CASE("a transformer within two thirds of its memory has the bits of one without a budget", "[training][TRAIN-5]") {
  check_bits_and_peak<Transformer, 66>(
      from_values<Shape<dyn, 8, 16>>(random_values<float>(rows * 128), Dims(rows, 8, 16), Cpu{0}));
}
