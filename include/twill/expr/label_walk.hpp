#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Strides by label instead of by axis: the step of a view when a label's index grows by one. Here the labels of two
// factors are sorted into those of a matrix product (batch, rows, columns, inner), and merged into one axis where
// memory allows. No element types and no templates. Read next: expr/contraction.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/pattern.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

using LabelStrides = std::array<std::int64_t, max_labels>;

[[nodiscard]] std::int64_t at(const LabelStrides& strides, int label);

/// Labels in an order.
struct LabelList {
  int count = 0;
  std::array<std::int8_t, max_labels> labels{};

  [[nodiscard]] int operator[](int place) const { return labels[static_cast<std::size_t>(place)]; }
  void append(int label) { labels[static_cast<std::size_t>(count++)] = static_cast<std::int8_t>(label); }
  void append(const LabelList& more);
  [[nodiscard]] Dims extents_of(const LabelExtents& extents) const;
  [[nodiscard]] Dims strides_of(const LabelStrides& strides) const;
};

/// The strides of a tensor's axes added up by label: extent 1 has stride 0, a label on two axes is a diagonal.
[[nodiscard]] LabelStrides strides_by_label(const AxisLabels& axes, const Dims& shape, const Dims& strides);

/// The labels of a set from the longest stride to the shortest; those of extent 1 have no effect and are left out.
[[nodiscard]] LabelList sorted(LabelSet set, const LabelStrides& strides, const LabelExtents& extents);

/// Several labels walked as one axis.
struct Walk {
  bool is_one = true;
  std::int64_t extent = 1;
  std::int64_t stride = 1;
};

[[nodiscard]] Walk walk_of(const LabelList& list, const LabelStrides& strides, const LabelExtents& extents);

/// The last labels of a list that walk memory as one; those before them join the batch.
[[nodiscard]] LabelList innermost_walk(const LabelList& list, const LabelStrides& strides, const LabelExtents& extents,
                                       LabelList& batch);

/// Row-major strides of labels in an order.
[[nodiscard]] LabelStrides packed_strides(const LabelList& list, const LabelExtents& extents);

/// The meaning of each label of two factors for their product.
struct ProductLabels {
  LabelSet batch = 0;
  LabelSet rows = 0;
  LabelSet columns = 0;
  LabelSet inner = 0;

  constexpr ProductLabels(LabelSet left, LabelSet right, LabelSet result)
      : batch{left & right & result},
        rows{left & result & ~right},
        columns{right & result & ~left},
        inner{left & right & ~result} {}
};

/// Whether rows and columns with these walks are a matrix that a product takes, row-major or transposed.
[[nodiscard]] bool is_matrix(const Walk& rows, const Walk& columns);

/// Whether a product can write its rows along these walks.
[[nodiscard]] bool is_row_major(const Walk& rows, const Walk& columns);

}}}} // namespace twill::v0::expr::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/label_walk.ipp>
#endif
