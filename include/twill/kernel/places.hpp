#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Places of the smallest elements of rows, in order. Elements become integers with the same order
// (kernel/gpu/order_key.hpp), so one sort of (integer, place) serves every type; places differ, so equal elements keep
// their order under any algorithm. Read next: kernel/gpu/row_orders.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/kernel/gpu/order_key.hpp>
#include <twill/kernel/scratch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace twill { inline namespace v0 { namespace kernel {

/// Rows of `length` elements, `inner` apart, of which the first `count` places are wanted.
struct PlaceRows {
  std::int64_t outer = 1;
  std::int64_t length = 0;
  std::int64_t inner = 1;
  std::int64_t count = 0;
  bool is_descending = false;
};

/// An element as a number to sort by.
struct PlacedKey {
  std::uint64_t key = 0;
  std::int64_t place = 0;

  [[nodiscard]] friend constexpr bool operator<(const PlacedKey& a, const PlacedKey& b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
  }
};

/// The integer by which an element is sorted.
template <class T> [[nodiscard]] constexpr std::uint64_t sort_key(T value, bool is_descending) {
  return is_descending ? gpu::order_key<true>(value) : gpu::order_key<false>(value);
}

inline namespace TWILL_ISA {

/// Puts the first `count` in order.
void order_first(std::span<PlacedKey> keys, std::int64_t count);

template <class T> void order_places(const Team& team, const T* from, std::int64_t* to, const PlaceRows& rows) {
  const std::int64_t lines = rows.outer * rows.inner;
  if (lines * rows.count == 0) return; // a result without elements has no memory
  share_out(team, lines, lines * rows.length * 16, [&](std::int64_t begin, std::int64_t end) {
    if (begin == end) return;
    const std::span keys(Scratch::of_thread<PlacedKey>(rows.length), static_cast<std::size_t>(rows.length));
    for (std::int64_t line = begin; line < end; ++line) {
      const T* const row = from + line / rows.inner * rows.length * rows.inner + line % rows.inner;
      for (std::int64_t j = 0; j < rows.length; ++j)
        keys[static_cast<std::size_t>(j)] = {sort_key(row[j * rows.inner], rows.is_descending), j};
      order_first(keys, rows.count);
      std::int64_t* const target = to + line / rows.inner * rows.count * rows.inner + line % rows.inner;
      for (std::int64_t j = 0; j < rows.count; ++j) target[j * rows.inner] = keys[static_cast<std::size_t>(j)].place;
    }
  });
}

/// Takes the working memory of such an order in each thread that will need it.
void reserve_places(const Team& team, const PlaceRows& rows);

} // namespace TWILL_ISA
}}} // namespace twill::v0::kernel

#if TWILL_HEADER_ONLY
#include <twill/kernel/places.ipp>
#endif
