#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Shape inference at compile time: broadcasting, permuting, dropping and inserting axes on `Shape` types. Each rule is
// an ordinary constexpr function over `Dims` in which `dyn` stands for an unknown extent; `shape_t` turns its value
// back into a type. A mistake between known extents does not compile, and the error shows the values.

#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 {

namespace detail {
// A struct and not only an alias: g++ 12 crashes on an alias that looks into a dependent class-type argument.
template <Dims Value> struct ShapeFrom {
  template <std::size_t... Axes> static Shape<Value.extents[Axes]...> make(std::index_sequence<Axes...>);
  using type = decltype(make(std::make_index_sequence<static_cast<std::size_t>(Value.rank)>{}));
};

template <int Axis, int Rank> consteval int normalized_axis() {
  if constexpr (Axis < -Rank || Axis >= Rank)
    return static_cast<int>(
        sizeof(Mistake<refused<Problem::axis_is_outside_the_rank, with::axis<Axis>, with::rank<Rank>>>));
  else
    return Axis < 0 ? Axis + Rank : Axis;
}
} // namespace detail

/// The extents of a shape as a value, `dyn` where unknown.
template <AnyShape S>
inline constexpr Dims dims_of = [] {
  Dims dims{};
  dims.rank = S::rank;
  for (int axis = 0; axis < S::rank; ++axis) dims[axis] = S::extent(axis);
  return dims;
}();

/// The shape type of such a value.
template <Dims Value> using shape_t = typename detail::ShapeFrom<Value>::type;

/// An axis counted from the front; one outside the rank does not compile.
template <int Axis, int Rank> inline constexpr int axis_of = detail::normalized_axis<Axis, Rank>();

namespace detail {

/// The extent of the axis `distance` places from the right, 1 beyond the left end.
[[nodiscard]] constexpr std::int64_t from_right(const Dims& dims, int distance) {
  return distance < dims.rank ? dims[dims.rank - 1 - distance] : 1;
}

/// The axis in which two shapes cannot broadcast, counted from the right; -1 for none as far as is known.
[[nodiscard]] constexpr int broadcast_conflict(const Dims& left, const Dims& right) {
  for (int distance = 0; distance < left.rank && distance < right.rank; ++distance) {
    const std::int64_t a = from_right(left, distance);
    const std::int64_t b = from_right(right, distance);
    if (a != b && a != 1 && b != 1 && a != dyn && b != dyn) return distance;
  }
  return -1;
}

/// NumPy's rule; an unknown extent beside a known one other than 1 is assumed to equal it, and is checked at run time.
[[nodiscard]] constexpr Dims broadcast_dims(const Dims& left, const Dims& right) {
  Dims result{};
  result.rank = left.rank > right.rank ? left.rank : right.rank;
  for (int distance = 0; distance < result.rank; ++distance) {
    const std::int64_t a = from_right(left, distance);
    const std::int64_t b = from_right(right, distance);
    std::int64_t extent = a;
    if (a == 1 || (a == dyn && b != 1)) extent = b;
    result[result.rank - 1 - distance] = extent;
  }
  return result;
}

template <AnyShape A, AnyShape B> consteval Dims checked_broadcast() {
  constexpr int conflict = broadcast_conflict(dims_of<A>, dims_of<B>);
  if constexpr (conflict >= 0)
    static_cast<void>(
        sizeof(Mistake<refused<Problem::broadcast_extents_differ, with::left<from_right(dims_of<A>, conflict)>,
                               with::right<from_right(dims_of<B>, conflict)>>>));
  return broadcast_dims(dims_of<A>, dims_of<B>);
}

template <AnyShape A, AnyShape B> struct Broadcast { using type = shape_t<checked_broadcast<A, B>()>; };
template <AnyShape A> struct Broadcast<A, A> { using type = A; };

template <int... Order> consteval Dims order_of() {
  constexpr int rank = static_cast<int>(sizeof...(Order));
  Dims order{};
  order.rank = rank;
  int place = 0;
  ((order[place++] = axis_of<Order, rank>), ...);
  return order;
}

[[nodiscard]] constexpr bool is_permutation(const Dims& order) {
  unsigned seen = 0;
  for (int axis = 0; axis < order.rank; ++axis) seen |= 1U << order[axis];
  return seen + 1 == 1U << order.rank;
}

template <AnyShape S, int... Order> consteval Dims permuted_dims() {
  if constexpr (sizeof...(Order) != S::rank || !is_permutation(order_of<Order...>()))
    static_cast<void>(
        sizeof(Mistake<refused<Problem::permutation_must_name_each_axis_once,
                               with::count<static_cast<std::int64_t>(sizeof...(Order))>, with::rank<S::rank>>>));
  constexpr Dims order = order_of<Order...>();
  Dims result{};
  result.rank = S::rank;
  for (int axis = 0; axis < S::rank; ++axis) result[axis] = S::extent(static_cast<int>(order[axis]));
  return result;
}

/// 0, 1, ... with two axes exchanged.
template <int Rank, int A, int B>
inline constexpr Dims exchanged = [] {
  Dims order{};
  order.rank = Rank;
  for (int axis = 0; axis < Rank; ++axis) order[axis] = axis;
  order[axis_of<A, Rank>] = axis_of<B, Rank>;
  order[axis_of<B, Rank>] = axis_of<A, Rank>;
  return order;
}();

[[nodiscard]] constexpr Dims reordered(const Dims& dims, const Dims& order) {
  Dims result{};
  result.rank = order.rank;
  for (int axis = 0; axis < order.rank; ++axis) result[axis] = dims[static_cast<int>(order[axis])];
  return result;
}

[[nodiscard]] constexpr Dims reversed_order(int rank) {
  Dims order{};
  order.rank = rank;
  for (int axis = 0; axis < rank; ++axis) order[axis] = rank - 1 - axis;
  return order;
}

[[nodiscard]] constexpr Dims without_axis(const Dims& dims, int dropped) {
  Dims result{};
  for (int axis = 0; axis < dims.rank; ++axis)
    if (axis != dropped) result[result.rank++] = dims[axis];
  return result;
}

[[nodiscard]] constexpr Dims with_axis(const Dims& dims, int place, std::int64_t extent) {
  Dims result{};
  result.rank = dims.rank + 1;
  for (int axis = 0; axis < result.rank; ++axis)
    result[axis] = axis < place ? dims[axis] : axis == place ? extent : dims[axis - 1];
  return result;
}

/// Merges the axes first to last (both included) into one.
[[nodiscard]] constexpr Dims merged_axes(const Dims& dims, int first, int last) {
  Dims result{};
  for (int axis = 0; axis < dims.rank; ++axis) {
    if (axis <= first || axis > last)
      result[result.rank++] = dims[axis];
    else if (dims[axis] == dyn || result[result.rank - 1] == dyn)
      result[result.rank - 1] = dyn;
    else
      result[result.rank - 1] *= dims[axis];
  }
  return result;
}

/// Whether extents known on both sides agree, where the ranks are equal.
[[nodiscard]] constexpr bool compatible(const Dims& left, const Dims& right) {
  if (left.rank != right.rank) return false;
  for (int axis = 0; axis < left.rank; ++axis)
    if (left[axis] != right[axis] && left[axis] != dyn && right[axis] != dyn) return false;
  return true;
}

[[nodiscard]] constexpr Dims unknown_extents(int rank) {
  Dims dims{};
  dims.rank = rank;
  for (int axis = 0; axis < rank; ++axis) dims[axis] = dyn;
  return dims;
}

/// Reports the first axis in which two shapes differ, or their ranks.
template <AnyShape A, AnyShape B> consteval void refuse_shapes() {
  if constexpr (A::rank != B::rank) {
    static_cast<void>(
        sizeof(Mistake<refused<Problem::ranks_differ, with::left_rank<A::rank>, with::right_rank<B::rank>>>));
  } else {
    constexpr int axis = [] {
      int first = 0;
      while (A::extent(first) == B::extent(first) || A::extent(first) == dyn || B::extent(first) == dyn) ++first;
      return first;
    }();
    static_cast<void>(sizeof(Mistake<refused<Problem::shapes_differ, with::axis<axis>, with::left<A::extent(axis)>,
                                             with::right<B::extent(axis)>>>));
  }
}
} // namespace detail

/// The shape of an elementwise operation on two operands.
template <AnyShape A, AnyShape B> using broadcast_t = typename detail::Broadcast<A, B>::type;

/// A shape of unknown extents.
template <int Rank> using dynamic_shape_t = shape_t<detail::unknown_extents(Rank)>;

/// True when a tensor of shape From can be a tensor of shape To, as far as the types tell.
template <class From, class To>
concept FitsShape = AnyShape<From> && AnyShape<To> && detail::compatible(dims_of<From>, dims_of<To>);

/// True when the type From already proves all extents of To.
template <class From, class To>
concept ProvesShape = FitsShape<From, To> && [] {
  for (int axis = 0; axis < To::rank; ++axis)
    if (To::extent(axis) != dyn && From::extent(axis) != To::extent(axis)) return false;
  return true;
}();

}} // namespace twill::v0
