#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Models that keep within a budget, or have parts that are computed again, on a GPU: the bits are those of the model that
// keeps everything, and the pool counts what the compiler predicted. [TRAIN-5, MEM-8]

#include <tests/support/suite.hpp>
#include <tests/training/fitted.hpp>

#include <twill/graph/checkpoint.hpp>
#include <twill/nn/embedding.hpp>
#include <twill/optim/sgd.hpp>

#include <cstddef>
#include <cstdint>

namespace twill::test { namespace fitted_suite {

using D = TestedDevice;
using Labels = Tensor<std::int64_t, D, Shape<dyn>>;

/// Words, with weights that many of a batch share, then layers with dropout.
template <graph::Recompute Mode = graph::Recompute::no> struct Words {
  static constexpr std::int64_t words = 3;
  static constexpr std::int64_t count = 11;
  static constexpr std::int64_t width = 16;
  static constexpr auto forward(Input<Dim<"batch">, words> x) {
    const nn::Value index = cast(floor(abs(x) * static_cast<double>(count)), DType::int64);
    nn::Value y = graph::sum(nn::embedding(index, count, width, "words"), {1});
    for (int i = 0; i < 3; ++i)
      y = checkpoint(
          [i](nn::Value value) {
            const nn::Scope scope{value.graph(), "layer", i};
            const nn::Value hidden = tanh(nn::linear(value, 2 * width, "wide"));
            return nn::dropout(tanh(nn::linear(hidden, width, "narrow")), 0.25);
          },
          Mode)(y);
    return nn::linear(y, 3, "output");
  }
};

constexpr std::int64_t rows = 64;
template <std::int64_t Bytes> using FittedWords = nn::Fit<Words<>, Bytes, nn::Size<"batch", rows>>;
template <std::int64_t Bytes>
constexpr compile::FitReport
    report_for = fit_report<FittedWords<Bytes>, nn::cross_entropy, optim::MomentumSgd, Labels>();
constexpr std::int64_t lowest_bytes = report_for<1>.with.total(); // met by nothing
using Tightest = FittedWords<lowest_bytes>;

template <class Model> Trained train_words() {
  const optim::MomentumSgd rule{{.rate = 0.1, .momentum = 0.9}};
  const auto x = random_rows<float, Words<>::words>(D{0}, rows);
  return trained<Model>(rule, x, random_labels(D{0}, rows, 3));
}

inline void budgets_are_kept() {
  static_assert(report_for<lowest_bytes>.fits() && report_for<lowest_bytes>.parts.count > 0);
  const Trained plain = train_words<Words<>>();
  const Trained own = train_words<Tightest>();
  require_equal(differing(own.numbers, plain.numbers), std::size_t{0});
  require_equal(plain.peak, report_for<lowest_bytes>.without.total() + plain.capture_bytes);
  require_equal(own.peak, report_for<lowest_bytes>.with.total() + own.capture_bytes);
  require(own.peak < plain.peak);
}
const Case budget_case{"a model with a budget takes the predicted bytes of a GPU and gives the bits of the one without",
                       &budgets_are_kept};

inline void parts_are_computed_again() {
  const Trained plain = train_words<Words<>>();
  const Trained again = train_words<Words<graph::Recompute::yes>>();
  require_equal(differing(again.numbers, plain.numbers), std::size_t{0});
  require(again.peak < plain.peak);
}
const Case part_case{"parts that are computed again on a GPU give the bits of those that are kept",
                     &parts_are_computed_again};

}} // namespace twill::test::fitted_suite
