#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sorting along an axis of a traced value: one operation finds the places of the sorted elements, and values are
// gathered from there, so that gradients flow back to the original places. Equal elements keep their order; NaN comes
// after all others, or before them in descending order. Read next: ops/gather.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/kernel/places.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/slice.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The places of the first elements in order, of rows (outer, axis, inner); attribute: 1 if the order is descending.
inline constexpr Operation argsort_operation{
    .name = "argsort", .typed_by = 0, .wants_dense = true, .batching = Batching::first_axis};

/// Direction of a sort.
enum class Order : bool { ascending, descending };

/// Sorted values and their places before the sort.
struct Sorted {
  Value values{};  ///< in order
  Value indices{}; ///< int64, their places before
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// More places than this are the first of all places: a GPU merges those in place and lacks memory for as many others.
inline constexpr std::int64_t most_places_of_many = std::int64_t{1} << 19;

[[nodiscard]] TWILL_CONSTEXPR Value first_places(Value x, int axis, Extent count, Order order) {
  const Extent all = x.shape()[axis];
  if (count.is_static() && count.factor > most_places_of_many && !(count == all))
    return slice_axis(first_places(x, axis, all, order), axis, {.begin = 0, .end = count.factor});
  const Value parts = around_axis(stop_gradient(x), axis);
  const Value places = add_operation(argsort_operation, {parts}, DType::int64, with_extent(parts.shape(), 1, count),
                                     {order == Order::descending});
  return reshape(places, with_extent(x.shape(), axis, count));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The places of the sorted elements of the axis; int64.
[[nodiscard]] TWILL_CONSTEXPR Value argsort(Value x, int axis = -1, Order order = Order::ascending,
                                            CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  return x.rank() == 0 ? x : detail::first_places(x, position, x.shape()[position], order);
}

/// The elements of an axis in order, and their places before.
[[nodiscard]] TWILL_CONSTEXPR Sorted sort(Value x, int axis = -1, Order order = Order::ascending,
                                          CallSite site = CallSite::here()) {
  const Value places = argsort(x, axis, order, site);
  return {take_along_axis(x, places, axis, site), places};
}

/// The `count` largest elements of an axis (ascending: the smallest) in order, and their places before.
/// errors: more than the axis has
[[nodiscard]] TWILL_CONSTEXPR Sorted topk(Value x, std::int64_t count, int axis = -1, Order order = Order::descending,
                                          CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  const std::int64_t extent = x.rank() == 0 ? 0 : x.size(position, site);
  if (count < 0 || count > extent) x.graph().refuse(Problem::topk_exceeds_the_axis, count, extent, site);
  if (x.graph().fault.any()) return {x, x};
  const Value places = detail::first_places(x, position, {count, 0}, order);
  return {take_along_axis(x, places, position, site), places};
}

/// The k-th least element of an axis (the least is k = 1) and its place; the axis disappears.
/// errors: k outside of 1 to the extent    cost: a sort of the axis
template <int Axis = -1>
[[nodiscard]] constexpr Sorted kthvalue(Value x, std::int64_t k, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, Axis, site);
  const std::int64_t extent = x.rank() == 0 ? 0 : x.size(position, site);
  if (k < 1 || k > extent) x.graph().refuse(Problem::topk_exceeds_the_axis, k, extent, site);
  if (x.graph().fault.any()) return {x, x};
  const Value least = detail::first_places(x, position, {k, 0}, Order::ascending);
  const Value place = slice_axis(least, position, {.begin = k - 1, .end = k}, site);
  return {squeeze(take_along_axis(x, place, position, site), position), squeeze(place, position)};
}

/// The place of the first greatest element of an axis, or of the first NaN; int64. errors: an empty axis
/// cost: a sort of the axis
template <int Axis> [[nodiscard]] constexpr Value argmax(Value x, CallSite site = CallSite::here()) {
  const Value places = topk(x, 1, Axis, Order::descending, site).indices;
  return x.graph().fault.any() ? places : squeeze(places, Axis, site);
}
/// The place of the first least element of an axis, or of the first NaN; int64. errors: an empty axis
/// cost: a sort of the axis
template <int Axis> [[nodiscard]] constexpr Value argmin(Value x, CallSite site = CallSite::here()) {
  if (is_floating(x.dtype())) return argmax<Axis>(-x, site); // ascending, NaN would come last
  const Value places = topk(x, 1, Axis, Order::ascending, site).indices;
  return x.graph().fault.any() ? places : squeeze(places, Axis, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&graph::argsort_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    order_places(team, static_cast<const T*>(launch.operands[0].data),
                 static_cast<std::int64_t*>(launch.operands[1].data), rows_of(launch));
  }

  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    kernel::reserve_places(team, rows_of(launch));
  }

private:
  [[nodiscard]] static kernel::PlaceRows rows_of(const kernel::Launch& launch) {
    const Dims& from = launch.shapes[0];
    return {.outer = from[0],
            .length = from[1],
            .inner = from[2],
            .count = launch.shapes[1][1],
            .is_descending = launch.attributes[0] != 0};
  }
};

}}} // namespace twill::v0::TWILL_ISA
