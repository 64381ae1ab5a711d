#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of traced samples with NumPy's and PyTorch's names, as those of tensors: numbers in place of NaN and of
// masked elements, running log-sum-exp, the trapezoidal rule, lines between points, products of vectors, and grids.
// Not in twill.hpp. Read next: ops/cumsum.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/samples.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/grids.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/slice.hpp>
#include <twill/ops/value_search.hpp>
#include <twill/ops/value_statistics.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// All elements of an axis but the first, and all but the last.
struct Neighbours {
  Value after{};
  Value before{};
};

[[nodiscard]] TWILL_CONSTEXPR Neighbours neighbours(Value x, int axis, CallSite site) {
  const std::int64_t extent = x.rank() == 0 ? 0 : x.size(axis, site);
  if (x.graph().fault.any()) return {x, x};
  const std::int64_t count = extent > 0 ? extent - 1 : 0;
  const Value real = cast(x, floating_type(x.dtype()));
  return {narrow(real, axis, extent - count, count, site), narrow(real, axis, 0, count, site)};
}

[[nodiscard]] TWILL_CONSTEXPR Value integral_at(Value y, Value x, int axis, CallSite site) {
  const Neighbours heights = neighbours(y, axis, site);
  const Neighbours places = neighbours(x, x.rank() == 1 ? 0 : axis, site);
  if (y.graph().fault.any()) return y;
  const Value steps = along_axes(subtract(places.after, places.before, site), y.rank(), 1U << axis);
  return sum(multiply(heights.after + heights.before, steps, site) * 0.5, {axis}, KeepDims::no, site);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Numbers in place of NaN and infinities, in the type of x; no gradient flows to those elements.
[[nodiscard]] TWILL_CONSTEXPR Value nan_to_num(Value x, NanToNum options = {}) {
  if (!is_floating(x.dtype())) return x;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double largest = expr::largest_finite(x.dtype());
  const double high = options.posinf == options.posinf ? options.posinf : largest;
  const double low = options.neginf == options.neginf ? options.neginf : -largest;
  const Value number = where(isnan(x), options.nan, x);
  return where(equal(x, infinity), high, where(equal(x, -infinity), low, number));
}

/// x with one value, a number or of rank 0, where the mask holds, in the type of x.
/// errors: a mask that is no truth value
[[nodiscard]] TWILL_CONSTEXPR Value masked_fill(Value x, Value mask, const Term& value) {
  return where(mask, detail::materialise(x.graph(), value, x.dtype()), x);
}

/// log(sum(exp)) of all elements up to each one along an axis, without overflow, by doubling (Hillis and Steele, "Data
/// parallel algorithms", 1986). errors: an axis unknown until run time
/// cost: log2 of the extent passes over x
[[nodiscard]] TWILL_CONSTEXPR Value logcumsumexp(Value x, int axis, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (x.rank() == 0) return cast(x, floating_type(x.dtype()));
  const std::int64_t extent = x.size(position, site);
  if (x.graph().fault.any()) return x;
  Value y = cast(x, floating_type(x.dtype()));
  for (std::int64_t step = 1; step < extent; step *= 2)
    y = concatenate({narrow(y, position, 0, step, site), logaddexp(narrow(y, position, step, extent - step, site),
                                                                   narrow(y, position, 0, extent - step, site))},
                    position, site);
  return y;
}
/// log(sum(exp)) of all elements up to each one along an axis.
template <int Axis> [[nodiscard]] constexpr Value logcumsumexp(Value x, CallSite site = CallSite::here()) {
  return logcumsumexp(x, Axis, site);
}

/// The integral along an axis by the trapezoidal rule, with samples `step` apart.
/// errors: an axis unknown until run time
template <int Axis = -1>
[[nodiscard]] constexpr Value trapezoid(Value y, double step = 1, CallSite site = CallSite::here()) {
  const detail::Neighbours of = detail::neighbours(y, checked_axis(y, Axis, site), site);
  return y.graph().fault.any() ? y : sum((of.after + of.before) * (0.5 * step), {Axis}, KeepDims::no, site);
}
/// The integral of samples at places x: one for each sample of the axis, or for each element of y.
template <int Axis = -1> [[nodiscard]] constexpr Value trapezoid(Value y, Value x, CallSite site = CallSite::here()) {
  return detail::integral_at(y, x, checked_axis(y, Axis, site), site);
}

/// The line through points (places, values) at x: between neighbouring points, and beyond them as the options say.
/// Places ascend. errors: other numbers of places and values, or none, or one unknown until run time
/// cost: a comparison of each element with each place
[[nodiscard]] TWILL_CONSTEXPR Value interp(Value x, Value places, Value values, const InterpOptions& options = {},
                                           CallSite site = CallSite::here()) {
  Graph& graph = x.graph();
  const bool are_vectors = places.rank() == 1 && values.rank() == 1;
  const std::int64_t count = are_vectors ? places.size(0, site) : 0, heights = are_vectors ? values.size(0, site) : 0;
  if (count == 0 || count != heights)
    graph.refuse(Problem::interp_needs_as_many_places_as_values_at_least_one, count, heights, site);
  if (graph.fault.any()) return x;
  const DType dtype = floating_type(promote(promote(x.dtype(), places.dtype()), values.dtype()));
  const Value at = cast(x, dtype), known = cast(places, dtype), height = cast(values, dtype);
  const Value passed = searchsorted(known, at, side_right);
  const Value end = maximum(minimum(passed, count - 1), count > 1 ? 1 : 0);
  const Value begin = maximum(end - 1, 0);
  const Value x0 = take(known, begin), y0 = take(height, begin);
  const Value width = take(known, end) - x0;
  const Value slope = (take(height, end) - y0) / where(equal(width, 0), 1, width); // 0 / 0 has no gradient
  const Value first = select(known, 0, 0), last = select(known, 0, -1);
  const Value inside = where(equal(at, last), select(height, 0, -1), slope * (at - x0) + y0);
  const Term below = options.left ? Term{*options.left} : Term{select(height, 0, 0)};
  const Term above = options.right ? Term{*options.right} : Term{select(height, 0, -1)};
  return where(at < first, below, where(at > last, above, inside));
}

/// The sum of all products of two equally shaped operands. errors: other numbers of elements
[[nodiscard]] TWILL_CONSTEXPR Value vdot(Value a, Value b, CallSite site = CallSite::here()) {
  const Extent left = a.shape().elements(), right = b.shape().elements();
  if (!unify(a.graph(), left, right))
    a.graph().refuse(Problem::broadcast_extents_differ, left.factor, right.factor, site);
  if (a.graph().fault.any()) return a;
  return sum(multiply(a.flatten(site), b.flatten(site), site), {0}, KeepDims::no, site);
}

/// Each vector over the grid of all of them: `auto [x, y] = meshgrid(columns, rows)`. errors: another rank than one
template <Indexing Order = Indexing::xy, std::same_as<Value>... X>
requires(sizeof...(X) > 0) [[nodiscard]] constexpr std::array<Value, sizeof...(X)> meshgrid(X... vectors) {
  constexpr int count = static_cast<int>(sizeof...(X));
  std::array<Value, sizeof...(X)> all{vectors...};
  Extents shape{};
  for (int axis = 0; axis < count; ++axis) {
    const Value& vector = all[static_cast<std::size_t>(expr::grid_axis(Order, axis, count))];
    if (vector.rank() != 1)
      vector.graph().refuse(Problem::index_has_another_rank, vector.rank(), 1, CallSite::here());
    else
      shape.append(vector.shape()[0]);
  }
  for (int k = 0; k < count && !all[0].graph().fault.any(); ++k) {
    Value& vector = all[static_cast<std::size_t>(k)];
    const int axis = expr::grid_axis(Order, k, count);
    vector = broadcast_to(detail::along_axes(vector, count, 1U << axis), shape);
  }
  return all;
}

/// The index of each axis of a shape for places in row-major order, int64: one value for each axis. Places outside are
/// not checked. errors: another number of extents, an extent below 1, places that are no integers
template <int Rank>
[[nodiscard]] constexpr std::array<Value, Rank> unravel_index(Value places, const Dims& extents,
                                                              CallSite site = CallSite::here()) {
  Graph& graph = places.graph();
  if (extents.rank != Rank) graph.refuse(Problem::index_has_another_rank, extents.rank, Rank, site);
  if (is_floating(places.dtype()))
    graph.refuse(Problem::indices_are_not_integers, static_cast<int>(places.dtype()), 0, site);
  for (int axis = 0; axis < extents.rank; ++axis)
    if (extents[axis] < 1) graph.refuse(Problem::index_has_another_extent, extents[axis], 1, site);
  std::array<Value, Rank> indices{};
  indices.fill(places);
  if (graph.fault.any()) return indices;
  Value rest = cast(places, DType::int64);
  for (int axis = Rank - 1; axis >= 0; --axis) {
    indices[static_cast<std::size_t>(axis)] = remainder(rest, extents[axis]);
    rest = floor_divide(rest, extents[axis]);
  }
  return indices;
}
/// The place in row-major order, int64, of indices of each axis of a shape, which broadcast. Indices outside are not
/// checked. errors: another number of extents, indices that are no integers
template <std::same_as<Value>... I>
requires(sizeof...(I) > 0) [[nodiscard]] constexpr Value ravel_multi_index(const Dims& extents, I... indices) {
  const std::array<Value, sizeof...(I)> all{indices...};
  Graph& graph = all[0].graph();
  if (extents.rank != static_cast<int>(sizeof...(I)))
    graph.refuse(Problem::index_has_another_rank, extents.rank, static_cast<int>(sizeof...(I)), CallSite::here());
  for (const Value& index : all)
    if (is_floating(index.dtype()))
      graph.refuse(Problem::indices_are_not_integers, static_cast<int>(index.dtype()), 0, CallSite::here());
  if (graph.fault.any()) return all[0];
  Value place = cast(all[0], DType::int64);
  for (int axis = 1; axis < extents.rank; ++axis)
    place = place * extents[axis] + cast(all[static_cast<std::size_t>(axis)], DType::int64);
  return place;
}

/// At least one axis: a number becomes a vector.
[[nodiscard]] TWILL_CONSTEXPR Value atleast_1d(Value x, CallSite site = CallSite::here()) {
  return x.rank() == 0 ? unsqueeze(x, 0, site) : x;
}
/// At least two axes: a vector becomes a row.
[[nodiscard]] TWILL_CONSTEXPR Value atleast_2d(Value x, CallSite site = CallSite::here()) {
  const Value row = atleast_1d(x, site);
  return row.rank() == 1 ? unsqueeze(row, 0, site) : row;
}
/// At least three axes: a matrix becomes a stack of height one along the last axis, as in NumPy.
[[nodiscard]] TWILL_CONSTEXPR Value atleast_3d(Value x, CallSite site = CallSite::here()) {
  const Value matrix = atleast_2d(x, site);
  return matrix.rank() == 2 ? unsqueeze(matrix, 2, site) : matrix;
}

}}}} // namespace twill::v0::graph::TWILL_ISA
