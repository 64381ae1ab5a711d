#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/places.hpp.

#include <twill/kernel/places.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

[[gnu::noinline]] TWILL_BODY void order_first(std::span<PlacedKey> keys, std::int64_t count) {
  if (count < static_cast<std::int64_t>(keys.size()))
    std::partial_sort(keys.begin(), keys.begin() + count, keys.end());
  else
    std::sort(keys.begin(), keys.end());
}

TWILL_COLD TWILL_BODY void reserve_places(const Team& team, const PlaceRows& rows) {
  const std::int64_t lines = rows.outer * rows.inner;
  if (lines * rows.count == 0) return;
  share_out(team, lines, lines * rows.length * 16, [&](std::int64_t begin, std::int64_t end) {
    if (begin < end) Scratch::reserve<PlacedKey>(rows.length);
  });
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
