#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Views as free functions, in addition to the members of `Tensor`: flipped, rotated, with moved axes, cut out or as
// windows, split into parts along an axis. Each shares the memory of its tensor and keeps it alive; none copies (except
// ravel, where the strides require it). Axes are template arguments: `flip<0>(x)`. Read next: expr/join.hpp, which
// joins parts.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/layout.hpp>
#include <twill/tensor/shapes.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

template <AnyShape V, class T, class D, class S>
[[nodiscard]] Tensor<T, D, V> view_of(const Tensor<T, D, S>& x, const layout::Layout& where) {
  // an empty tensor may have no memory, and then no offset into it either
  return {x.storage(), x.data() == nullptr ? nullptr : x.data() + where.offset, where.extents, where.strides};
}
template <class T, class D, class S> [[nodiscard]] layout::Layout placement_of(const Tensor<T, D, S>& x) {
  return {x.shape(), x.strides(), 0};
}

/// Reverses one axis.
void flip_axis(layout::Layout& where, int axis);

/// The order of axes that moves one of them.
[[nodiscard]] constexpr Dims moved_order(int rank, int from, int to) {
  Dims order{};
  for (int axis = 0; axis < rank; ++axis)
    if (axis != from) order[order.rank++] = axis;
  for (int place = order.rank; place > to; --place) order[place] = order[place - 1];
  order[to] = from;
  ++order.rank;
  return order;
}
template <int Rank, int From, int To> inline constexpr Dims moved_axes = moved_order(Rank, From, To);

/// Restricts an axis to `length` elements from `first` on. throws: IndexError
void cut(const char* operation, layout::Layout& where, int axis, std::int64_t first, std::int64_t length);

[[nodiscard]] constexpr Dims with_extent(Dims dims, int axis, std::int64_t extent) {
  dims[axis] = extent;
  return dims;
}

/// The extents of diagonals: two axes are removed, one is appended.
[[nodiscard]] constexpr Dims diagonal_dims(const Dims& dims, int first, int second, std::int64_t length) {
  Dims result{};
  for (int axis = 0; axis < dims.rank; ++axis)
    if (axis != first && axis != second) result[result.rank++] = dims[axis];
  result[result.rank++] = length;
  return result;
}

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The elements in reverse along some axes, or along all of them.
template <int... Axes, class T, class D, class S> [[nodiscard]] Tensor<T, D, S> flip(const Tensor<T, D, S>& x) {
  layout::Layout where = detail::placement_of(x);
  if constexpr (sizeof...(Axes) == 0)
    for (int axis = 0; axis < S::rank; ++axis) detail::flip_axis(where, axis);
  else
    (detail::flip_axis(where, axis_of<Axes, S::rank>), ...);
  return detail::view_of<S>(x, where);
}
/// Rows upside down.
template <AnyTensor X> [[nodiscard]] auto flipud(const X& x) { return flip<0>(x); }
/// Columns from right to left.
template <AnyTensor X> [[nodiscard]] auto fliplr(const X& x) { return flip<1>(x); }

/// Moves one axis to another position; the others keep their order.
template <int From, int To, class T, class D, class S> [[nodiscard]] auto moveaxis(const Tensor<T, D, S>& x) {
  constexpr int from = axis_of<From, S::rank>;
  constexpr int to = axis_of<To, S::rank>;
  constexpr Dims order = detail::moved_axes<S::rank, from, to>;
  return detail::view_of<shape_t<detail::reordered(dims_of<S>, order)>>(
      x, layout::permuted(detail::placement_of(x), order));
}
/// Exchanges two axes, as the member `transpose<A, B>()` does.
template <int A, int B, AnyTensor X> [[nodiscard]] auto swapaxes(const X& x) { return x.template transpose<A, B>(); }

/// Turns the plane of two axes by K quarter turns, from the first axis towards the second.
template <int K = 1, int A = 0, int B = 1, AnyTensor X> [[nodiscard]] auto rot90(const X& x) {
  constexpr int turns = ((K % 4) + 4) % 4;
  if constexpr (turns == 0)
    return X(x);
  else if constexpr (turns == 1)
    return flip<A>(swapaxes<A, B>(x));
  else if constexpr (turns == 2)
    return flip<A, B>(x);
  else
    return swapaxes<A, B>(flip<A>(x));
}

/// All elements in one axis, row-major: a view if the strides allow, else a copy.
template <AnyTensor X> [[nodiscard]] auto ravel(const X& x) { return x.flatten(); }

/// Repeats axes of extent 1 and adds new ones in front, as the member `expand` does. throws: ShapeError
template <AnyShape To, AnyTensor X> [[nodiscard]] auto broadcast_to(const X& x) { return x.template expand<To>(); }
template <AnyShape To, AnyTensor X> [[nodiscard]] auto broadcast_to(const X& x, const Dims& extents) {
  return x.template expand<To>(extents);
}

/// Inserts an axis of extent 1, as the member `unsqueeze` does.
template <int Axis, AnyTensor X> [[nodiscard]] auto expand_dims(const X& x) { return x.template unsqueeze<Axis>(); }

/// Inserts an axis of extent 1, as the member `unsqueeze` does.
template <int Axis, AnyTensor X> [[nodiscard]] auto unsqueeze(const X& x) { return x.template unsqueeze<Axis>(); }
/// Drops an axis of extent 1, as the member `squeeze` does. throws: ShapeError
template <int Axis, AnyTensor X> [[nodiscard]] auto squeeze(const X& x) { return x.template squeeze<Axis>(); }
/// The tensor itself, which has no gradient, for functions that take tensors and traced values.
template <AnyTensor X> [[nodiscard]] X stop_gradient(const X& x) { return x; }

/// At least one axis: a number becomes a vector.
template <class T, class D, class S> [[nodiscard]] auto atleast_1d(const Tensor<T, D, S>& x) {
  if constexpr (S::rank >= 1)
    return x;
  else
    return x.template unsqueeze<0>();
}
/// At least two axes: a vector becomes a row.
template <class T, class D, class S> [[nodiscard]] auto atleast_2d(const Tensor<T, D, S>& x) {
  if constexpr (S::rank >= 2)
    return x;
  else
    return atleast_1d(x).template unsqueeze<0>();
}
/// At least three axes: a matrix becomes a stack of height one along the last axis, as in NumPy.
template <class T, class D, class S> [[nodiscard]] auto atleast_3d(const Tensor<T, D, S>& x) {
  if constexpr (S::rank >= 3)
    return x;
  else
    return atleast_2d(x).template unsqueeze<2>();
}

/// `length` elements of an axis from `first` on; a negative `first` counts from the end. throws: IndexError
template <int Axis, class T, class D, class S>
[[nodiscard]] auto narrow(const Tensor<T, D, S>& x, std::int64_t first, std::int64_t length) {
  constexpr int axis = axis_of<Axis, S::rank>;
  layout::Layout where = detail::placement_of(x);
  detail::cut("narrow", where, axis, first, length);
  return detail::view_of<shape_t<detail::with_extent(dims_of<S>, axis, dyn)>>(x, where);
}
/// A range with a static length: `narrow<1, 3>(x, first)`. throws: IndexError
template <int Axis, std::int64_t Length, class T, class D, class S>
[[nodiscard]] auto narrow(const Tensor<T, D, S>& x, std::int64_t first) {
  constexpr int axis = axis_of<Axis, S::rank>;
  layout::Layout where = detail::placement_of(x);
  detail::cut("narrow", where, axis, first, Length);
  return detail::view_of<shape_t<detail::with_extent(dims_of<S>, axis, Length)>>(x, where);
}

/// The elements x(i, i + offset) of two axes, which become one axis at the end. A positive offset is to the right.
template <int A = 0, int B = 1, class T, class D, class S>
[[nodiscard]] auto diagonal(const Tensor<T, D, S>& x, std::int64_t offset = 0) {
  constexpr int first = axis_of<A, S::rank>;
  constexpr int second = axis_of<B, S::rank>;
  if constexpr (first == second)
    static_cast<void>(sizeof(Mistake<refused<Problem::axis_is_named_twice, with::axis<A>, with::axis<B>>>));
  const Dims extents = x.shape();
  const Dims strides = x.strides();
  const std::int64_t rows = extents[first] + std::min<std::int64_t>(offset, 0);
  const std::int64_t columns = extents[second] - std::max<std::int64_t>(offset, 0);
  const std::int64_t length = std::max<std::int64_t>(std::min(rows, columns), 0);
  layout::Layout where{detail::diagonal_dims(extents, first, second, length),
                       detail::diagonal_dims(strides, first, second, strides[first] + strides[second]), 0};
  if (length > 0) where.offset = offset > 0 ? offset * strides[second] : -offset * strides[first];
  return detail::view_of<shape_t<detail::diagonal_dims(dims_of<S>, first, second, dyn)>>(x, where);
}

/// Every window of `window` elements of an axis as a new last axis; the axis counts the windows. throws: ValueError
template <int Axis, class T, class D, class S>
[[nodiscard]] auto sliding_window_view(const Tensor<T, D, S>& x, std::int64_t window) {
  constexpr int axis = axis_of<Axis, S::rank>;
  layout::Layout where = detail::placement_of(x);
  if (window < 0 || window > where.extents[axis])
    throw ValueError("sliding_window_view: a window of " + std::to_string(window) + " does not fit axis " +
                     std::to_string(axis) + " of extent " + std::to_string(where.extents[axis]));
  where.extents[axis] -= window - 1;
  layout::append(where, window, where.strides[axis]);
  return detail::view_of<shape_t<detail::with_axis(detail::with_extent(dims_of<S>, axis, dyn), S::rank, dyn)>>(x,
                                                                                                               where);
}

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

template <int Axis, AnyTensor X> using Part = decltype(narrow<Axis>(std::declval<const X&>(), 0, 0));

[[noreturn]] void throw_sections(const char* operation, std::int64_t sections, std::int64_t extent, int axis);

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Equal parts. throws: ValueError when they cannot be equal
template <int Axis, AnyTensor X> [[nodiscard]] auto split(const X& x, std::int64_t sections) {
  constexpr int axis = axis_of<Axis, X::rank>;
  const std::int64_t extent = x.size(axis);
  if (sections < 1 || extent % sections != 0) detail::throw_sections("split", sections, extent, axis);
  const std::int64_t length = extent / sections;
  std::vector<detail::Part<axis, X>> parts;
  for (std::int64_t part = 0; part < sections; ++part) parts.push_back(narrow<axis>(x, part * length, length));
  return parts;
}

/// Parts that begin at these indices, and one before the first; indices beyond the end reach it, as in Python's slices.
template <int Axis, AnyTensor X> [[nodiscard]] auto split(const X& x, std::initializer_list<std::int64_t> begins) {
  constexpr int axis = axis_of<Axis, X::rank>;
  const std::int64_t extent = x.size(axis);
  const auto place = [&](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + extent : index, 0, extent);
  };
  std::vector<detail::Part<axis, X>> parts;
  std::int64_t from = 0;
  for (const std::int64_t begin : begins) {
    const std::int64_t to = place(begin);
    parts.push_back(narrow<axis>(x, from, std::max<std::int64_t>(to - from, 0)));
    from = to;
  }
  parts.push_back(narrow<axis>(x, from, extent - from));
  return parts;
}

/// Equal parts whose extents the types know: `auto [a, b] = split<1, 2>(x)`.
template <int Axis, std::int64_t Sections, AnyTensor X> [[nodiscard]] auto split(const X& x) {
  constexpr int axis = axis_of<Axis, X::rank>;
  constexpr std::int64_t known = X::shape_type::extent(axis);
  static_assert(Sections > 0, "twill: split: there is at least one section");
  if constexpr (known != dyn && known % Sections != 0)
    static_cast<void>(
        sizeof(Mistake<refused<Problem::sections_do_not_divide_the_axis, with::count<Sections>, with::extent<known>>>));
  const std::int64_t extent = x.size(axis);
  if (extent % Sections != 0) detail::throw_sections("split", Sections, extent, axis);
  const std::int64_t length = extent / Sections;
  return [&]<std::size_t... Part>(std::index_sequence<Part...>) {
    if constexpr (known == dyn)
      return std::array{narrow<axis>(x, static_cast<std::int64_t>(Part) * length, length)...};
    else
      return std::array{narrow<axis, known / Sections>(x, static_cast<std::int64_t>(Part) * length)...};
  }
  (std::make_index_sequence<static_cast<std::size_t>(Sections)>{});
}

/// The given number of parts, the first ones longer by one where they cannot be equal. throws: ValueError
template <int Axis, AnyTensor X> [[nodiscard]] auto array_split(const X& x, std::int64_t sections) {
  constexpr int axis = axis_of<Axis, X::rank>;
  const std::int64_t extent = x.size(axis);
  if (sections < 1) detail::throw_sections("array_split", sections, extent, axis);
  std::vector<detail::Part<axis, X>> parts;
  std::int64_t from = 0;
  for (std::int64_t part = 0; part < sections; ++part) {
    const std::int64_t length = extent / sections + (part < extent % sections ? 1 : 0);
    parts.push_back(narrow<axis>(x, from, length));
    from += length;
  }
  return parts;
}

/// At most the given number of parts, all of one length but the last, as PyTorch's chunk. throws: ValueError
template <int Axis, AnyTensor X> [[nodiscard]] auto chunk(const X& x, std::int64_t chunks) {
  constexpr int axis = axis_of<Axis, X::rank>;
  const std::int64_t extent = x.size(axis);
  if (chunks < 1) detail::throw_sections("chunk", chunks, extent, axis);
  const std::int64_t length = (extent + chunks - 1) / chunks;
  std::vector<detail::Part<axis, X>> parts;
  for (std::int64_t from = 0; from < extent; from += length)
    parts.push_back(narrow<axis>(x, from, std::min(length, extent - from)));
  if (extent == 0)
    for (std::int64_t part = 0; part < chunks; ++part) parts.push_back(narrow<axis>(x, 0, 0));
  return parts;
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/tensor/views.ipp>
#endif
