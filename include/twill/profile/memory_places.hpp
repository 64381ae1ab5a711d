#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Who holds memory: the allocations of a snapshot by the place that made them, and how that differs between two snapshots, in
// which a leak is what grows from step to step. Read next: memory/recording.hpp, profile/memory_page.hpp.

#include <twill/core/config.hpp>
#include <twill/core/stable_order.hpp>
#include <twill/memory/out_of_memory.hpp>
#include <twill/memory/recording.hpp>
#include <twill/profile/detail/numbers.hpp>
#include <twill/profile/source_places.hpp>
#include <twill/profile/table.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::profile {

/// A place in a program that allocates.
struct MemoryPlace {
  std::string name{};      ///< of the scopes around it, "encoder/attention (model.cpp:12)"; empty without any
  std::string statement{}; ///< of the user's that led to it, "train.cpp:42 (main)"; empty where nobody knows
  [[nodiscard]] friend auto operator<=>(const MemoryPlace&, const MemoryPlace&) = default;
};

/// Both in one line.
[[nodiscard]] std::string to_string(const MemoryPlace& place);

/// What a place holds, or by how much that has changed.
struct PlaceUse {
  MemoryPlace place{};    ///< where the program asked
  std::int64_t count = 0; ///< allocations
  std::int64_t bytes = 0; ///< in all
};

namespace detail {

/// The name of an allocation's place. What is older than the recording and has none gets one.
[[nodiscard]] const char* name_of(const memory::Allocation& allocation);

[[nodiscard]] MemoryPlace place_of(const char* name, const memory::CallStack* calls, SourcePlaces& source);

/// What places hold, by a number for each.
struct UseByPlace {
  TextNumbers numbers{}; ///< of name and statement
  std::vector<PlaceUse> uses{};

  /// That of a place, new or not.
  [[nodiscard]] PlaceUse& of(const MemoryPlace& place);
};

/// Adds the allocations of a snapshot, or takes them off.
void count_places(UseByPlace& uses, const memory::MemorySnapshot& snapshot, std::int64_t sign, SourcePlaces& source);

/// The most bytes first, then the most allocations.
[[nodiscard]] std::vector<PlaceUse> sorted(const UseByPlace& by_place);

[[nodiscard]] std::string signed_count(std::int64_t count);
[[nodiscard]] std::string signed_bytes(std::int64_t bytes);

} // namespace detail

/// What each place holds, the most bytes first.
[[nodiscard]] std::vector<PlaceUse> by_place(const memory::MemorySnapshot& snapshot);

/// What each place holds more in the later snapshot than in the earlier one, the most bytes first; places where nothing has
/// changed are left out. What holds less is negative, and last.
[[nodiscard]] std::vector<PlaceUse> difference(const memory::MemorySnapshot& earlier,
                                               const memory::MemorySnapshot& later);

/// Who holds what, as a table of the places with the most bytes.
[[nodiscard]] Table places_table(const memory::MemorySnapshot& snapshot, std::size_t most = 20);

/// What has grown and shrunk, as a table; without changes it has only its last line.
[[nodiscard]] Table difference_table(const memory::MemorySnapshot& earlier, const memory::MemorySnapshot& later,
                                     std::size_t most = 20);

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/memory_places.ipp>
#endif
