#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a statement loads and stores, in elements, for files that define TWILL_COUNT_ACCESS before their first include.

#include <twill/kernel/count.hpp>

#include <cstdint>

namespace twill::test {

struct Traffic {
  std::int64_t loads = 0;
  std::int64_t stores = 0;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// All loads and stores of a statement.
template <class F> Traffic traffic(F statement) {
  kernel::access_counts().clear();
  statement();
  Traffic total;
  for (const auto& count : kernel::access_counts().loads) total.loads += count;
  for (const auto& count : kernel::access_counts().stores) total.stores += count;
  return total;
}

/// The loads and stores that go to memory: what a row's later stages look at again is in the cache.
template <class F> Traffic memory_traffic(F statement) {
  Traffic total = traffic(statement);
  for (const auto& count : kernel::access_counts().reloads) total.loads -= count;
  return total;
}

} // namespace twill::test
