#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Numbers for what comes up in records: for texts and for addresses, from 0 on. Whoever counts by place, by device or by
// node looks up a number here and counts in a vector. These two maps serve them all, because each further type of std::map
// costs every file that includes the profiler. Read next: profile/memory_places.hpp, profile/node_table.hpp.

#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace twill::inline v0::profile::detail {

using TextNumbers = std::map<std::string, std::size_t>;
/// Of one address (beside a null) or two.
using AddressNumbers = std::map<std::pair<const void*, const void*>, std::size_t>;

/// A number, and whether it is the first time that somebody asks for it.
struct Numbered {
  std::size_t number = 0;
  bool is_new = false;
};

/// That of a key; a new one gets the count of those before it.
template <class Numbers> [[nodiscard]] Numbered number_of(Numbers& numbers, const typename Numbers::key_type& key) {
  const auto [found, is_new] = numbers.try_emplace(key, numbers.size());
  return {found->second, is_new};
}

} // namespace twill::inline v0::profile::detail
