#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/meta/meta.hpp.

#include <twill/device/meta/meta.hpp>

namespace twill { inline namespace v0 {

TWILL_BODY void* Meta::Upstream::allocate(std::size_t bytes) {
  constexpr std::uint64_t page = std::uint64_t{2} << 20;
  if (bytes > total_bytes()) throw std::bad_alloc{};
  const std::uint64_t rounded = (bytes + page) / page * page;
  return reinterpret_cast<void*>(detail::next_meta_address.fetch_add(rounded, std::memory_order_relaxed));
}

}} // namespace twill::v0
