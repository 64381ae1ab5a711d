#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/label_walk.hpp.

#include <twill/expr/label_walk.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

TWILL_BODY std::int64_t at(const LabelStrides& strides, int label) { return strides[static_cast<std::size_t>(label)]; }

TWILL_BODY void LabelList::append(const LabelList& more) {
  for (int place = 0; place < more.count; ++place) append(more[place]);
}

TWILL_BODY Dims LabelList::extents_of(const LabelExtents& extents) const {
  Dims result{};
  for (int place = 0; place < count; ++place) result[result.rank++] = extents[(*this)[place]];
  return result;
}

TWILL_BODY Dims LabelList::strides_of(const LabelStrides& strides) const {
  Dims result{};
  for (int place = 0; place < count; ++place) result[result.rank++] = at(strides, (*this)[place]);
  return result;
}

[[gnu::noinline]] TWILL_BODY LabelStrides strides_by_label(const AxisLabels& axes, const Dims& shape,
                                                           const Dims& strides) {
  LabelStrides result{};
  for (int axis = 0; axis < axes.rank; ++axis)
    if (shape[axis] != 1) result[static_cast<std::size_t>(axes[axis])] += strides[axis];
  return result;
}

[[gnu::noinline]] TWILL_BODY LabelList sorted(LabelSet set, const LabelStrides& strides, const LabelExtents& extents) {
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

[[gnu::noinline]] TWILL_BODY Walk walk_of(const LabelList& list, const LabelStrides& strides,
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

TWILL_BODY LabelList innermost_walk(const LabelList& list, const LabelStrides& strides, const LabelExtents& extents,
                                    LabelList& batch) {
  int first = list.count - 1;
  while (first > 0 && at(strides, list[first - 1]) == at(strides, list[first]) * extents[list[first]]) --first;
  LabelList walk{};
  for (int place = 0; place < list.count; ++place) (place < first ? batch : walk).append(list[place]);
  return walk;
}

[[gnu::noinline]] TWILL_BODY LabelStrides packed_strides(const LabelList& list, const LabelExtents& extents) {
  LabelStrides strides{};
  std::int64_t stride = 1;
  for (int place = list.count - 1; place >= 0; --place) {
    strides[static_cast<std::size_t>(list[place])] = stride;
    stride *= extents[list[place]];
  }
  return strides;
}

TWILL_BODY bool is_matrix(const Walk& rows, const Walk& columns) {
  const bool row_major =
      (columns.stride == 1 || columns.extent == 1) && (rows.stride >= columns.extent || rows.extent == 1);
  const bool transposed =
      (rows.stride == 1 || rows.extent == 1) && (columns.stride >= rows.extent || columns.extent == 1);
  return rows.is_one && columns.is_one && (row_major || transposed);
}

TWILL_BODY bool is_row_major(const Walk& rows, const Walk& columns) {
  return rows.is_one && columns.is_one && (columns.stride == 1 || columns.extent == 1) &&
         (rows.stride >= columns.extent || rows.extent == 1);
}

}}}} // namespace twill::v0::expr::TWILL_ISA
