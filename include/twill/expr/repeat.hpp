#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Copies that repeat or move the elements of a tensor: tile repeats the whole, repeat each element along an axis, roll
// moves elements around an axis, and pad surrounds a tensor by a constant, its edge, its mirror image or its other end.
// All are copies of views: a call is one kernel for each piece. Read next: expr/triangles.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/tensor/shapes.hpp>
#include <twill/tensor/tensor.hpp>
#include <twill/tensor/views.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Extents of x repeated along each axis by these counts, aligned from the right.
[[nodiscard]] constexpr Dims tiled_dims(const Dims& x, const Dims& counts) {
  Dims result{};
  result.rank = x.rank > counts.rank ? x.rank : counts.rank;
  for (int distance = 0; distance < result.rank; ++distance) {
    const std::int64_t extent = detail::from_right(x, distance);
    const std::int64_t count = detail::from_right(counts, distance);
    result[result.rank - 1 - distance] = extent == dyn || count == dyn ? dyn : extent * count;
  }
  return result;
}

template <AnyShape S, class X> [[nodiscard]] auto tiled(const X& x, const Dims& counts) {
  for (int axis = 0; axis < counts.rank; ++axis)
    if (counts[axis] < 0)
      throw ValueError("tile: " + std::to_string(counts[axis]) + " repetitions; a count is at least 0");
  const Tensor<typename X::value_type, typename X::device_type, S> result(x.device(), tiled_dims(x.shape(), counts));
  if (result.elements() == 0) return result;
  // first one copy, then the filled part repeatedly: along each axis, from the last one on
  const Dims whole = result.shape();
  Dims filled = whole;
  for (int axis = 0; axis < S::rank; ++axis) {
    const int own = axis - (S::rank - X::rank);
    filled[axis] = own < 0 ? 1 : x.shape()[own];
  }
  const Dims strides = result.strides();
  using Box = Tensor<typename X::value_type, typename X::device_type, dynamic_shape_t<S::rank>>;
  Box(result.storage(), result.data(), filled, strides).copy_from(x);
  for (int axis = S::rank - 1; axis >= 0; --axis) {
    const std::int64_t length = filled[axis];
    for (std::int64_t done = length; done < whole[axis];) {
      const std::int64_t next = std::min(done, whole[axis] - done);
      Dims box = filled;
      box[axis] = next;
      const Box from(result.storage(), result.data(), box, strides);
      Box(result.storage(), result.data() + done * strides[axis], box, strides).copy_from(from);
      done += next;
    }
    filled[axis] = whole[axis];
  }
  return result;
}

/// `repetitions` of every element along an axis.
[[nodiscard]] constexpr Dims repeated_dims(Dims dims, int axis, std::int64_t count) {
  dims[axis] = dims[axis] == dyn || count == dyn ? dyn : dims[axis] * count;
  return dims;
}
template <int Axis, std::int64_t Known, class X> [[nodiscard]] auto repeated(const X& x, std::int64_t count) {
  if (count < 0) throw ValueError("repeat: " + std::to_string(count) + " repetitions; a count is at least 0");
  using From = typename X::shape_type;
  using S = shape_t<repeated_dims(dims_of<From>, Axis, Known)>;
  const auto wide = x.template unsqueeze<Axis + 1>();
  Dims extents = wide.shape();
  extents[Axis + 1] = count;
  using Wide = dynamic_shape_t<From::rank + 1>;
  return wide.template expand<Wide>(extents).clone().template reshape<S>(repeated_dims(x.shape(), Axis, count));
}

template <int Axis, class X> [[nodiscard]] X rolled(const X& x, std::int64_t shift) {
  const X result(x.device(), x.shape());
  const std::int64_t extent = x.size(Axis);
  if (result.elements() == 0) return result;
  const std::int64_t moved = ((shift % extent) + extent) % extent;
  narrow<Axis>(result, moved, extent - moved).copy_from(narrow<Axis>(x, 0, extent - moved));
  if (moved > 0) narrow<Axis>(result, 0, moved).copy_from(narrow<Axis>(x, extent - moved, moved));
  return result;
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Repeats the whole tensor: `tile(x, 2, 3)`; counts are aligned from the right. throws: ValueError
template <TensorOperand X, std::integral... Counts> [[nodiscard]] auto tile(X&& x, Counts... counts) {
  const auto source = expr::evaluated(std::forward<X>(x));
  constexpr int given = static_cast<int>(sizeof...(Counts));
  constexpr int rank = std::max(given, decltype(source)::rank);
  Dims times{};
  ((times[times.rank++] = static_cast<std::int64_t>(counts)), ...);
  return expr::tiled<dynamic_shape_t<rank>>(source, times);
}
/// Repeats by counts that the type of the result knows: `tile<2, 3>(x)`.
template <std::int64_t... Counts, TensorOperand X>
requires(sizeof...(Counts) > 0) [[nodiscard]] auto tile(X&& x) {
  const auto source = expr::evaluated(std::forward<X>(x));
  constexpr Dims times = dims_of<Shape<Counts...>>;
  return expr::tiled<shape_t<expr::tiled_dims(dims_of<typename decltype(source)::shape_type>, times)>>(source, times);
}

/// Repeats each element along an axis, or of the flattened tensor. throws: ValueError
template <int Axis, TensorOperand X> [[nodiscard]] auto repeat(X&& x, std::int64_t count) {
  return expr::repeated<axis_of<Axis, std::remove_cvref_t<X>::shape_type::rank>, dyn>(
      expr::evaluated(std::forward<X>(x)), count);
}
template <int Axis, std::int64_t Count, TensorOperand X> [[nodiscard]] auto repeat(X&& x) {
  return expr::repeated<axis_of<Axis, std::remove_cvref_t<X>::shape_type::rank>, Count>(
      expr::evaluated(std::forward<X>(x)), Count);
}
template <TensorOperand X> [[nodiscard]] auto repeat(X&& x, std::int64_t count) {
  return expr::repeated<0, dyn>(expr::evaluated(std::forward<X>(x)).flatten(), count);
}

/// Moves every element along one axis or several, around the end: `roll<0, 1>(x, 1, -2)`.
template <int Axis, int... Axes, TensorOperand X, std::integral... Shifts>
requires(sizeof...(Axes) == sizeof...(Shifts)) [[nodiscard]] auto roll(X&& x, std::int64_t shift, Shifts... shifts) {
  const auto source = expr::evaluated(std::forward<X>(x));
  auto once = expr::rolled<axis_of<Axis, decltype(source)::rank>>(source, shift);
  if constexpr (sizeof...(Axes) == 0)
    return once;
  else
    return roll<Axes...>(once, shifts...);
}
/// Moves every element of the flattened tensor.
template <TensorOperand X> [[nodiscard]] auto roll(X&& x, std::int64_t shift) {
  const auto source = expr::evaluated(std::forward<X>(x));
  using S = typename decltype(source)::shape_type;
  return expr::rolled<0>(source.flatten(), shift).template reshape<S>(source.shape());
}

}}} // namespace twill::v0::TWILL_ISA
