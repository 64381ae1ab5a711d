#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Confusion matrices of classifiers: counts of (actual, predicted) pairs, with the precision (the share of those
// predicted as a class that belong to it), the recall (the share of a class that is predicted as it), F1 and the
// intersection over union of each class. Read next: profile/metrics.hpp, profile/format.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/profile/format.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// Counts of predicted classes for each actual class.
class ConfusionMatrix {
public:
  /// One name for each class.
  explicit ConfusionMatrix(std::vector<std::string> classes)
      : classes_{std::move(classes)}, counts_(classes_.size() * classes_.size()) {}

  /// From any range of names.
  template <class Names>
  requires(!std::same_as<Names, std::vector<std::string>>) explicit ConfusionMatrix(const Names& names)
      : ConfusionMatrix(std::vector<std::string>(names.begin(), names.end())) {}

  /// How many classes there are.
  [[nodiscard]] std::int64_t classes() const { return static_cast<std::int64_t>(classes_.size()); }

  /// Counts one sample. throws: IndexError for a class that does not exist
  void add(std::int64_t actual, std::int64_t predicted) { ++counts_[place(actual, predicted)]; }

  /// Counts `count` samples.
  template <std::integral A, std::integral P> void add(const A* actual, const P* predicted, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      add(static_cast<std::int64_t>(actual[i]), static_cast<std::int64_t>(predicted[i]));
  }

  /// Counts samples by tensors of their classes and of the predicted ones, or of floating scores (samples, classes), of
  /// which the greatest is predicted. throws: ShapeError for other numbers of them, IndexError as above
  template <AnyTensor A, AnyTensor P>
  requires std::integral<typename A::value_type>
  void add(const A& actual, const P& predicted) {
    constexpr bool are_classes = std::integral<typename P::value_type>;
    const std::int64_t samples = actual.elements(), each = are_classes ? 1 : classes();
    if (predicted.elements() != samples * each)
      throw ShapeError(join_text({"confusion matrix: ", samples, " samples need ", samples * each,
                                  are_classes ? " predicted classes, got " : " scores, got ", predicted.elements()}));
    const auto labels = to_vector(actual);
    const auto values = to_vector(predicted);
    if constexpr (are_classes) {
      add(labels.data(), values.data(), samples);
    } else {
      for (std::int64_t i = 0; i < samples; ++i) {
        const auto row = values.begin() + i * each;
        add(static_cast<std::int64_t>(labels[static_cast<std::size_t>(i)]), std::max_element(row, row + each) - row);
      }
    }
  }

  /// Samples of class `actual` that were predicted as `predicted`. throws: IndexError outside the classes
  [[nodiscard]] std::int64_t count(std::int64_t actual, std::int64_t predicted) const;
  /// How many samples have been counted.
  [[nodiscard]] std::int64_t total() const;

  /// The share of samples on the diagonal; 0 without samples, as are the two below without any in their denominator.
  [[nodiscard]] double accuracy() const;
  /// The share of samples predicted as a class that belong to it; 0 where there are none.
  [[nodiscard]] double precision(std::int64_t predicted) const;
  /// The share of a class that was predicted as it; 0 where there is none.
  [[nodiscard]] double recall(std::int64_t actual) const;
  /// The harmonic mean of a class's precision and recall; 0 where the class neither is nor is predicted.
  [[nodiscard]] double f1(std::int64_t of) const;
  /// The mean of all classes' F1, scikit-learn's average="macro".
  [[nodiscard]] double macro_f1() const;
  /// The samples of a class that were predicted as it, by those that are it or were predicted as it; 0 where there are
  /// none. Of pixels, the intersection over the union of two regions.
  [[nodiscard]] double iou(std::int64_t of) const;
  /// The mean intersection over union of the classes that are there or were predicted.
  [[nodiscard]] double mean_iou() const;

  /// A row for each actual class, a column for each predicted one, named by its number.
  [[nodiscard]] friend std::string to_string(const ConfusionMatrix& matrix) {
    std::vector<TableColumn> columns{{"actual \\ predicted", Align::left}};
    for (std::int64_t c = 0; c < matrix.classes(); ++c) columns.push_back({std::to_string(c)});
    columns.push_back({"recall"});
    Table table(columns);
    std::vector<std::string> precisions{"precision"};
    for (std::int64_t actual = 0; actual < matrix.classes(); ++actual) {
      std::vector<std::string> cells{join_text({actual, " ", matrix.classes_[static_cast<std::size_t>(actual)]})};
      for (std::int64_t predicted = 0; predicted < matrix.classes(); ++predicted) {
        const std::int64_t count = matrix.count(actual, predicted);
        cells.push_back(count == 0 ? "." : std::to_string(count));
      }
      cells.push_back(percent(matrix.recall(actual), 1));
      precisions.push_back(percent(matrix.precision(actual), 1));
      table.row(std::move(cells));
    }
    precisions.push_back(percent(matrix.accuracy(), 1));
    table.rule().row(std::move(precisions));
    return to_string(table);
  }
  /// A table: a row for each actual class, a column for each predicted one.
  friend std::ostream& operator<<(std::ostream& stream, const ConfusionMatrix& matrix) {
    return stream << to_string(matrix);
  }

private:
  [[nodiscard]] std::size_t place(std::int64_t actual, std::int64_t predicted) const;
  /// Samples that are of a class, and that were predicted as it.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> present_and_called(std::int64_t of) const;
  [[nodiscard]] static double ratio(std::int64_t part, std::int64_t whole);

  std::vector<std::string> classes_;
  std::vector<std::int64_t> counts_;
};

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/confusion.ipp>
#endif
