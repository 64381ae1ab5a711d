#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Strided layouts of views: extents, strides and the offset of the first element, all counted in elements. Every view
// of NumPy is arithmetic on these three, written here once, at run time, for layouts alone. Compile-time rules of
// result shapes are in tensor/shapes.hpp. Read next: tensor/index.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace twill { inline namespace v0 {

/// A range of indices as in Python, `slice{begin, end, step}`: negative bounds count from the end, missing reach it.
struct slice {
  std::optional<std::int64_t> begin{}; ///< the first index
  std::optional<std::int64_t> end{};   ///< the index after the last
  std::int64_t step = 1;               ///< from one index to the next, never 0
};

namespace layout {

struct Layout {
  Dims extents{};
  Dims strides{};
  std::int64_t offset = 0;
};

/// True when the elements are in row-major order without gaps; axes of extent 1 may have any stride.
[[nodiscard]] constexpr bool is_contiguous(const Dims& extents, const Dims& strides) {
  std::int64_t expected = 1;
  for (int axis = extents.rank - 1; axis >= 0; --axis) {
    if (extents[axis] == 0) return true;
    if (extents[axis] != 1 && strides[axis] != expected) return false;
    expected *= extents[axis];
  }
  return true;
}

/// The first and last offset that a view touches.
struct Span {
  std::int64_t first = 0;
  std::int64_t last = -1;
};

[[nodiscard]] constexpr Span touched(const Dims& extents, const Dims& strides) {
  Span span{0, 0};
  for (int axis = 0; axis < extents.rank; ++axis) {
    if (extents[axis] == 0) return Span{};
    const std::int64_t reach = (extents[axis] - 1) * strides[axis];
    (reach < 0 ? span.first : span.last) += reach;
  }
  return span;
}

/// Throws for a wrong axis. Separate from the check, which then costs nothing where the axis is known.
[[noreturn]] void throw_axis(const char* operation, int axis, int rank);

/// "axis 3 of 2": an axis counted from the front. throws: IndexError
[[nodiscard]] TWILL_INLINE int checked_axis(const char* operation, int axis, int rank) {
  if (axis < -rank || axis >= rank) [[unlikely]]
    throw_axis(operation, axis, rank);
  return axis < 0 ? axis + rank : axis;
}

/// An index counted from the front. throws: IndexError
[[nodiscard]] std::int64_t checked_index(std::int64_t index, std::int64_t extent, int axis);

/// Appends one axis.
constexpr void append(Layout& to, std::int64_t extent, std::int64_t stride) {
  ++to.extents.rank;
  ++to.strides.rank;
  to.extents[to.extents.rank - 1] = extent;
  to.strides[to.strides.rank - 1] = stride;
}

/// Appends the part of an axis that a slice selects. throws: ValueError (a step of 0)
void append_slice(Layout& to, std::int64_t extent, std::int64_t stride, const slice& range);

/// Axis `result` of the view is axis `order[result]` of the source.
[[nodiscard]] constexpr Layout permuted(const Layout& from, const Dims& order) {
  Layout result{.offset = from.offset};
  for (int axis = 0; axis < order.rank; ++axis)
    append(result, from.extents[static_cast<int>(order[axis])], from.strides[static_cast<int>(order[axis])]);
  return result;
}

/// Repeats axes of extent 1 and adds new ones in front, without a copy. throws: ShapeError
[[nodiscard]] Layout expanded(const char* operation, const Layout& from, const Dims& extents);

/// Fills in the one extent that is `dyn`. throws: ShapeError when the number of elements cannot stay the same
[[nodiscard]] Dims completed(const Dims& from, Dims to);

/// The strides of a reshaped view, or nothing when a copy is needed. Groups of source axes that are contiguous among
/// themselves are split into target axes (as NumPy's attempt_nocopy_reshape does).
[[nodiscard]] constexpr std::optional<Dims> reshaped_strides(const Layout& from, const Dims& to) {
  if (from.extents.elements() == 0 || is_contiguous(from.extents, from.strides)) return contiguous_strides(to);
  Layout source{};
  for (int axis = 0; axis < from.extents.rank; ++axis)
    if (from.extents[axis] != 1) append(source, from.extents[axis], from.strides[axis]);
  Dims strides = contiguous_strides(to);
  int begin = 0;
  int target_begin = 0;
  while (begin < source.extents.rank && target_begin < to.rank) {
    int end = begin + 1;
    int target_end = target_begin + 1;
    std::int64_t left = source.extents[begin];
    std::int64_t right = to[target_begin];
    while (left != right) {
      if (left < right)
        left *= source.extents[end++];
      else
        right *= to[target_end++];
    }
    for (int axis = begin; axis + 1 < end; ++axis)
      if (source.strides[axis] != source.extents[axis + 1] * source.strides[axis + 1]) return std::nullopt;
    std::int64_t stride = source.strides[end - 1];
    for (int axis = target_end - 1; axis >= target_begin; --axis) {
      strides[axis] = stride;
      stride *= to[axis];
    }
    begin = end;
    target_begin = target_end;
  }
  return strides;
}

} // namespace layout
}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/tensor/layout.ipp>
#endif
