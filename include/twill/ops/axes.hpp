#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Axes in angle brackets for functions of traced values that move or select elements, `concat<0>(a, b)`, `flip<1>(x)`,
// as tensors take them: one function template serves both. Forms with axes as arguments are for code that computes
// axes.
// Read next: graph/reductions.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/slice.hpp>

#include <concepts>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// The first operand of many, and the site of the call.
struct FirstValue {
  Value value{};
  CallSite site{};
  constexpr FirstValue(Value first, CallSite caller = CallSite::here()) : value{first}, site{caller} {}
};

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Inserts an axis of extent 1 that becomes axis Axis of the result.
template <int Axis> [[nodiscard]] constexpr Value expand_dims(Value x, CallSite site = CallSite::here()) {
  return unsqueeze(x, Axis, site);
}
/// Inserts an axis of extent 1 that becomes axis Axis of the result.
template <int Axis> [[nodiscard]] constexpr Value unsqueeze(Value x, CallSite site = CallSite::here()) {
  return unsqueeze(x, Axis, site);
}
/// Drops an axis of extent 1.
template <int Axis> [[nodiscard]] constexpr Value squeeze(Value x, CallSite site = CallSite::here()) {
  return squeeze(x, Axis, site);
}
/// All elements in one axis, row-major.
[[nodiscard]] constexpr Value ravel(Value x, CallSite site = CallSite::here()) { return x.flatten(site); }
/// Rows upside down.
[[nodiscard]] constexpr Value flipud(Value x, CallSite site = CallSite::here()) { return flip(x, {0}, site); }
/// Columns from right to left.
[[nodiscard]] constexpr Value fliplr(Value x, CallSite site = CallSite::here()) { return flip(x, {1}, site); }
/// Exchanges two axes.
template <int A, int B> [[nodiscard]] constexpr Value swapaxes(Value x, CallSite site = CallSite::here()) {
  return x.template transpose<A, B>(site);
}
/// The axis From as axis To; the others keep their order.
template <int From, int To> [[nodiscard]] constexpr Value moveaxis(Value x, CallSite site = CallSite::here()) {
  const int from = checked_axis(x, From, site);
  const int to = checked_axis(x, To, site);
  if (x.graph().fault.any()) return x;
  return detail::reordered(x, [&](int axis) {
    if (axis == to) return from;
    const int others = axis < to ? axis : axis - 1; // place among the axes that stay in order
    return others < from ? others : others + 1;
  });
}
/// The elements in reverse order along axes, all of them where none are given.
template <int... Axes> [[nodiscard]] constexpr Value flip(Value x, CallSite site = CallSite::here()) {
  if constexpr (sizeof...(Axes) == 0) {
    const int rank = x.rank();
    for (int axis = 0; axis < rank; ++axis) x = slice_axis(x, axis, {.step = -1}, site);
    return x;
  } else {
    return flip(x, {Axes...}, site);
  }
}
/// The elements moved by `shift` places along an axis; elements that leave at the end enter at the front.
template <int Axis> [[nodiscard]] constexpr Value roll(Value x, std::int64_t shift, CallSite site = CallSite::here()) {
  return roll(x, shift, Axis, site);
}
/// `length` elements of an axis from `start` on.
template <int Axis>
[[nodiscard]] constexpr Value narrow(Value x, std::int64_t start, std::int64_t length,
                                     CallSite site = CallSite::here()) {
  return narrow(x, Axis, start, length, site);
}
/// The sum of the elements up to and including each one along an axis.
template <int Axis> [[nodiscard]] constexpr Value cumsum(Value x, CallSite site = CallSite::here()) {
  return cumsum(x, Axis, site);
}
/// Elements at the places that `index` holds along an axis.
template <int Axis> [[nodiscard]] constexpr Value take(Value x, Value index, CallSite site = CallSite::here()) {
  return take(x, index, Axis, site);
}
/// For each place of `index` the element of x at that place of the axis.
template <int Axis>
[[nodiscard]] constexpr Value take_along_axis(Value x, Value index, CallSite site = CallSite::here()) {
  return take_along_axis(x, index, Axis, site);
}
/// The values joined in order along an axis, the first unless told otherwise; element types are promoted.
template <int Axis = 0, std::convertible_to<Value>... Rest>
[[nodiscard]] constexpr Value concat(detail::FirstValue first, Rest... rest) {
  return concatenate({first.value, rest...}, Axis, first.site);
}
/// NumPy's name of `concat`.
template <int Axis = 0, std::convertible_to<Value>... Rest>
[[nodiscard]] constexpr Value concatenate(detail::FirstValue first, Rest... rest) {
  return concatenate({first.value, rest...}, Axis, first.site);
}
/// PyTorch's name of `concat`.
template <int Axis = 0, std::convertible_to<Value>... Rest>
[[nodiscard]] constexpr Value cat(detail::FirstValue first, Rest... rest) {
  return concatenate({first.value, rest...}, Axis, first.site);
}
/// Values of one shape along a new axis, which becomes axis Axis.
template <int Axis = 0, std::convertible_to<Value>... Rest>
[[nodiscard]] constexpr Value stack(detail::FirstValue first, Rest... rest) {
  return stack({first.value, rest...}, Axis, first.site);
}

/// Joins side by side: along the second axis, vectors along their only one.
template <std::convertible_to<Value>... Rest>
[[nodiscard]] constexpr Value hstack(detail::FirstValue first, Rest... rest) {
  const int rank = first.value.rank();
  if (rank == 0) return stack({first.value, rest...}, 0, first.site);
  return concatenate({first.value, rest...}, rank == 1 ? 0 : 1, first.site);
}
/// Joins one above another: along the first axis; vectors become rows.
template <std::convertible_to<Value>... Rest>
[[nodiscard]] constexpr Value vstack(detail::FirstValue first, Rest... rest) {
  const int rank = first.value.rank();
  if (rank > 1) return concatenate({first.value, rest...}, 0, first.site);
  const Value rows = stack({first.value, rest...}, 0, first.site);
  return rank == 1 ? rows : unsqueeze(rows, 1, first.site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {
using graph::concatenate; // a list in braces has no namespace to look in
using graph::stack;

}}} // namespace twill::v0::TWILL_ISA
