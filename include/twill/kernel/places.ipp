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

}}}} // namespace twill::v0::kernel::TWILL_ISA
