#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stable sort for short or rarely sorted sequences: reports, file headers, recorded events. It works on element numbers
// and compares through a pointer, so it is compiled once; std::stable_sort is compiled for each type and each order, in
// every file that includes the function around it. Read next: core/list.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 {

namespace detail {
/// Whether the element numbered `left` comes before the element numbered `right`, decided with `context`.
using ComesBefore = bool (*)(const void* context, std::size_t left, std::size_t right);

/// The numbers of `count` elements in sorted order; equal elements keep their order. Merges runs of 1, 2, 4, … numbers.
[[nodiscard]] List<std::size_t> stable_order(std::size_t count, ComesBefore before, const void* context);
} // namespace detail

/// Sorts a contiguous sequence; equal elements keep their order. `before(left, right)` says whether one element comes
/// before another.
/// cost: n log n comparisons, n moves, memory for two numbers for each element    throws: std::bad_alloc
template <class Sequence, class Before> void sort_stably(Sequence& sequence, const Before& before) {
  auto* const elements = sequence.data();
  using Element = std::remove_pointer_t<decltype(sequence.data())>;
  struct Context {
    const Element* elements;
    const Before* before;
  };
  const Context context{elements, &before};
  List<std::size_t> from = detail::stable_order(
      sequence.size(),
      [](const void* known, std::size_t left, std::size_t right) -> bool {
        const auto& sorted = *static_cast<const Context*>(known);
        return (*sorted.before)(sorted.elements[left], sorted.elements[right]);
      },
      &context);
  // Each cycle of the permutation begins with one element put aside; an element in place refers to itself.
  for (std::size_t begin = 0; begin < from.size(); ++begin) {
    if (from[begin] == begin) continue;
    Element aside = std::move(elements[begin]);
    std::size_t to = begin;
    for (std::size_t next = from[to]; next != begin; next = from[to]) {
      elements[to] = std::move(elements[next]);
      from[to] = to;
      to = next;
    }
    elements[to] = std::move(aside);
    from[to] = to;
  }
}

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/core/stable_order.ipp>
#endif
