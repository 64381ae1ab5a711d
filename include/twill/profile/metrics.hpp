#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Streaming metrics of classifiers, which are added batch by batch and read at any time: the share of labels among the
// k best classes, and the area below the receiver operating characteristic. Definitions are scikit-learn's. Metrics of
// counts by class, such as F1: profile/confusion.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// The share of samples whose label is among the k classes with the greatest scores.
class TopKAccuracy {
public:
  /// throws: ValueError for a k below one
  explicit TopKAccuracy(std::int64_t k) : k_{k} {
    if (k < 1) throw ValueError(join_text({"top k accuracy: k is ", k, "; at least 1"}));
  }

  /// Counts samples by their scores, rows of `classes` numbers, and labels. Among equal scores the lower classes come
  /// first. throws: IndexError for a label that is no class
  template <class Score, std::integral Label>
  void add(const Score* scores, const Label* labels, std::int64_t samples, std::int64_t classes) {
    for (std::int64_t i = 0; i < samples; ++i) {
      const auto label = static_cast<std::int64_t>(labels[i]);
      if (label < 0 || label >= classes)
        throw IndexError(join_text({"top k accuracy: there are ", classes, " classes, got class ", label}));
      const Score* const row = scores + i * classes;
      std::int64_t better = 0;
      for (std::int64_t c = 0; c < classes; ++c) better += row[c] > row[label] || (c < label && row[c] == row[label]);
      right_ += better < k_ ? 1 : 0;
    }
    total_ += samples;
  }
  /// Counts samples by tensors of scores (samples, classes) and labels.
  /// throws: ShapeError for other numbers of them, IndexError for a label that is no class
  template <AnyTensor X, AnyTensor L>
  requires(X::rank == 2 && std::integral<typename L::value_type>) void add(const X& scores, const L& labels) {
    const Dims shape = scores.shape();
    if (labels.elements() != shape[0])
      throw ShapeError(join_text(
          {"top k accuracy: ", shape[0], " rows of scores and ", labels.elements(), " labels; as many of both"}));
    add(to_vector(scores).data(), to_vector(labels).data(), shape[0], shape[1]);
  }

  /// The share; 0 without samples.
  [[nodiscard]] double value() const {
    return total_ == 0 ? 0 : static_cast<double>(right_) / static_cast<double>(total_);
  }
  /// How many samples have been counted.
  [[nodiscard]] std::int64_t total() const { return total_; }

private:
  std::int64_t k_;
  std::int64_t right_ = 0;
  std::int64_t total_ = 0;
};

/// The area below the receiver operating characteristic: the probability that a positive sample has a greater score
/// than a negative one, equal scores counting half. Keeps all scores: 16 bytes a sample.
class RocAuc {
public:
  /// Adds a sample.
  void add(double score, bool is_positive) { samples_.emplace_back(score, is_positive); }
  /// Adds samples by their scores and labels, which are positive where they differ from 0.
  template <class Score, class Label> void add(const Score* scores, const Label* labels, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) add(static_cast<double>(scores[i]), labels[i] != 0);
  }
  /// Adds samples by tensors of their scores and labels. throws: ShapeError for other numbers of them
  template <AnyTensor X, AnyTensor L> void add(const X& scores, const L& labels) {
    if (labels.elements() != scores.elements())
      throw ShapeError(
          join_text({"roc auc: ", scores.elements(), " scores and ", labels.elements(), " labels; as many of both"}));
    add(to_vector(scores).data(), to_vector(labels).data(), scores.elements());
  }

  /// The area, exact; NaN unless there are positive and negative samples.
  /// throws: ValueError for a score that is NaN    cost: a sort of the samples
  [[nodiscard]] double value() const;
  /// How many samples have been added.
  [[nodiscard]] std::int64_t total() const { return static_cast<std::int64_t>(samples_.size()); }

private:
  std::vector<std::pair<double, bool>> samples_{};
};

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/metrics.ipp>
#endif
