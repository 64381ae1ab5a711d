#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Strides by label instead of by axis: how a view moves when a label's index grows by one. Here the labels of two factors
// are sorted into those of a matrix product (batch, rows, columns, inner), and found to walk memory as one axis or not.
// No element types and no templates. Read next: expr/contraction.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/pattern.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill::inline v0::expr::inline TWILL_ISA {

using LabelStrides = std::array<std::int64_t, max_labels>;

[[nodiscard]] inline std::int64_t at(const LabelStrides& strides, int label) {
  return strides[static_cast<std::size_t>(label)];
}

/// Labels in an order.
struct LabelList {
  int count = 0;
  std::array<std::int8_t, max_labels> labels{};

  [[nodiscard]] int operator[](int place) const { return labels[static_cast<std::size_t>(place)]; }
  void append(int label) { labels[static_cast<std::size_t>(count++)] = static_cast<std::int8_t>(label); }
  void append(const LabelList& more) {
    for (int place = 0; place < more.count; ++place) append(more[place]);
  }
  [[nodiscard]] Dims extents_of(const LabelExtents& extents) const {
    Dims result{};
    for (int place = 0; place < count; ++place) result[result.rank++] = extents[(*this)[place]];
    return result;
  }
  [[nodiscard]] Dims strides_of(const LabelStrides& strides) const {
    Dims result{};
    for (int place = 0; place < count; ++place) result[result.rank++] = at(strides, (*this)[place]);
    return result;
  }
};

/// The strides of a tensor's axes added up by label: an axis of extent 1 stands still, a label on two axes is their diagonal.
[[nodiscard, gnu::noinline]] inline LabelStrides strides_by_label(const AxisLabels& axes, const Dims& shape,
                                                                  const Dims& strides) {
  LabelStrides result{};
  for (int axis = 0; axis < axes.rank; ++axis)
    if (shape[axis] != 1) result[static_cast<std::size_t>(axes[axis])] += strides[axis];
  return result;
}

/// The labels of a set from the longest stride to the shortest; those of extent 1 matter to nobody and are left out.
[[nodiscard, gnu::noinline]] inline LabelList sorted(LabelSet set, const LabelStrides& strides,
                                                     const LabelExtents& extents) {
  LabelList list{};
  for (int label = 0; label < max_labels; ++label) {
    if ((set >> label & 1U) == 0 || extents[label] == 1) continue;
    list.append(label);
    for (int place = list.count - 1; place > 0 && at(strides, list[place]) > at(strides, list[place - 1]); --place) {
      const std::int8_t moved = list.labels[static_cast<std::size_t>(place)];
      list.labels[static_cast<std::size_t>(place)] = list.labels[static_cast<std::size_t>(place - 1)];
      list.labels[static_cast<std::size_t>(place - 1)] = moved;
    }
  }
  return list;
}

/// Several labels walked as one axis.
struct Walk {
  bool is_one = true;
  std::int64_t extent = 1;
  std::int64_t stride = 1;
};

[[nodiscard, gnu::noinline]] inline Walk walk_of(const LabelList& list, const LabelStrides& strides,
                                                 const LabelExtents& extents) {
  Walk walk{};
  for (int place = list.count - 1; place >= 0; --place) {
    const int label = list[place];
    if (place == list.count - 1)
      walk.stride = at(strides, label);
    else
      walk.is_one = walk.is_one && at(strides, label) == at(strides, list[place + 1]) * extents[list[place + 1]];
    walk.extent *= extents[label];
  }
  return walk;
}

/// The last labels of a list that walk memory as one; those before them join the batch.
[[nodiscard]] inline LabelList innermost_walk(const LabelList& list, const LabelStrides& strides,
                                              const LabelExtents& extents, LabelList& batch) {
  int first = list.count - 1;
  while (first > 0 && at(strides, list[first - 1]) == at(strides, list[first]) * extents[list[first]]) --first;
  LabelList walk{};
  for (int place = 0; place < list.count; ++place) (place < first ? batch : walk).append(list[place]);
  return walk;
}

/// Row-major strides of labels in an order.
[[nodiscard, gnu::noinline]] inline LabelStrides packed_strides(const LabelList& list, const LabelExtents& extents) {
  LabelStrides strides{};
  std::int64_t stride = 1;
  for (int place = list.count - 1; place >= 0; --place) {
    strides[static_cast<std::size_t>(list[place])] = stride;
    stride *= extents[list[place]];
  }
  return strides;
}

/// What each label of two factors means to their product.
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
[[nodiscard]] inline bool is_matrix(const Walk& rows, const Walk& columns) {
  const bool row_major =
      (columns.stride == 1 || columns.extent == 1) && (rows.stride >= columns.extent || rows.extent == 1);
  const bool transposed =
      (rows.stride == 1 || rows.extent == 1) && (columns.stride >= rows.extent || columns.extent == 1);
  return rows.is_one && columns.is_one && (row_major || transposed);
}

/// Whether a product can write its rows where these walks lead.
[[nodiscard]] inline bool is_row_major(const Walk& rows, const Walk& columns) {
  return rows.is_one && columns.is_one && (columns.stride == 1 || columns.extent == 1) &&
         (rows.stride >= columns.extent || rows.extent == 1);
}

} // namespace twill::inline v0::expr::inline TWILL_ISA
