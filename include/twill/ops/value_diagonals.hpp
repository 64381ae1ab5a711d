#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Diagonals of traced values and turns of their planes, under the names of those of tensors: a diagonal is a slice with
// a step of the matrix as one axis, and a vector becomes one by a comparison of positions, which fuses. Gradients
// return to the diagonal. Not in twill.hpp. Read next: ops/triangles.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/slice.hpp>

#include <algorithm>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// The diagonal of two axes of known extents, as the last axis.
[[nodiscard]] TWILL_CONSTEXPR Value diagonal_of_axes(Value x, int first, int second, std::int64_t offset,
                                                     CallSite site) {
  const int row = checked_axis(x, first, site), column = checked_axis(x, second, site);
  if (row == column) x.graph().refuse(Problem::axis_is_named_twice, second, x.rank(), site);
  if (x.graph().fault.any()) return x;
  const std::int64_t rows = x.size(row, site), columns = x.size(column, site);
  if (x.graph().fault.any()) return x;
  const std::int64_t down = offset < 0 ? -offset : 0, across = offset < 0 ? 0 : offset;
  const std::int64_t length = std::max<std::int64_t>(std::min(rows - down, columns - across), 0);
  Few<int, max_rank> order{};
  Extents shape{};
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis == row || axis == column) continue;
    order[static_cast<std::size_t>(shape.rank)] = axis;
    shape.append(x.shape()[axis]);
  }
  order[static_cast<std::size_t>(shape.rank)] = row;
  order[static_cast<std::size_t>(shape.rank + 1)] = column;
  shape.append({rows * columns, 0});
  const Value matrices = reordered(x, [&](int axis) { return order[static_cast<std::size_t>(axis)]; });
  const std::int64_t begin = length > 0 ? down * columns + across : 0;
  const std::int64_t end = length > 0 ? begin + (length - 1) * (columns + 1) + 1 : 0;
  return slice_axis(reshape(matrices, shape, site), shape.rank - 1, {.begin = begin, .end = end, .step = columns + 1},
                    site);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The elements x(i, i + offset) of two axes, which become one axis at the end. A positive offset is to the right.
/// errors: an axis named twice, or unknown until run time
template <int A = 0, int B = 1>
[[nodiscard]] constexpr Value diagonal(Value x, std::int64_t offset = 0, CallSite site = CallSite::here()) {
  return detail::diagonal_of_axes(x, A, B, offset, site);
}

/// The sum of a diagonal; integers and truth values become int64.
template <int A = 0, int B = 1>
[[nodiscard]] constexpr Value trace(Value x, std::int64_t offset = 0, CallSite site = CallSite::here()) {
  const Value elements = detail::diagonal_of_axes(x, A, B, offset, site);
  return x.graph().fault.any() ? elements : sum(elements, {-1}, KeepDims::no, site);
}

/// Vectors (..., n) as diagonals of matrices of zeros (..., n + |offset|, n + |offset|), with PyTorch's name.
/// errors: an extent unknown until run time, unless the offset is 0
[[nodiscard]] TWILL_CONSTEXPR Value diag_embed(Value x, std::int64_t offset = 0, CallSite site = CallSite::here()) {
  const int last = checked_axis(x, -1, site);
  if (x.graph().fault.any()) return x;
  const std::int64_t down = offset < 0 ? -offset : 0, across = offset < 0 ? 0 : offset;
  const Value row = offset == 0 ? x : pad(x, last, {across, down}, 0, site);
  if (x.graph().fault.any()) return x;
  Extents side{};
  side.append(row.shape()[last]);
  const Value place = iota(x.graph(), side);
  return where(equal(place, unsqueeze(place, -1) + offset), unsqueeze(row, -2), 0);
}

/// A vector as a diagonal of a matrix of zeros; of a matrix, that diagonal.
/// errors: another rank, an extent unknown until run time
[[nodiscard]] TWILL_CONSTEXPR Value diag(Value x, std::int64_t offset = 0, CallSite site = CallSite::here()) {
  if (x.rank() == 1) return diag_embed(x, offset, site);
  if (x.rank() != 2) x.graph().refuse(Problem::matrix_needs_two_axes, x.rank(), 2, site);
  return x.graph().fault.any() ? x : detail::diagonal_of_axes(x, 0, 1, offset, site);
}

/// Turns the plane of two axes by K quarter turns, from the first axis towards the second.
template <int K = 1, int A = 0, int B = 1>
[[nodiscard]] constexpr Value rot90(Value x, CallSite site = CallSite::here()) {
  constexpr int turns = ((K % 4) + 4) % 4;
  if (checked_axis(x, A, site) == checked_axis(x, B, site))
    x.graph().refuse(Problem::axis_is_named_twice, B, x.rank(), site);
  if (turns == 0 || x.graph().fault.any()) return x;
  if (turns == 2) return flip(x, {A, B}, site);
  return turns == 1 ? flip(x.template transpose<A, B>(site), {A}, site)
                    : flip(x, {A}, site).template transpose<A, B>(site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
