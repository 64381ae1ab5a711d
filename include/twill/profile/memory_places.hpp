#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory by place: the allocations of a snapshot added up for each place in the program that made them, and the
// difference of two snapshots, in which a leak is what grows from step to step. Read next: memory/recording.hpp,
// profile/memory_page.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/core/text.hpp>
#include <twill/memory/recording.hpp>
#include <twill/profile/format.hpp>
#include <twill/profile/source_places.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// A place in a program that allocates.
struct MemoryPlace {
  std::string name{};      ///< of the scopes around it, "encoder/attention (model.cpp:12)"; empty without any
  std::string statement{}; ///< of the user's that led to it, "train.cpp:42 (main)"; empty where it is not known
  [[nodiscard]] friend auto operator<=>(const MemoryPlace&, const MemoryPlace&) = default;
};

/// Both in one line.
[[nodiscard]] std::string to_string(const MemoryPlace& place);

/// The places of allocations, each with a number from 0 on. Names and calls are looked up once, however many
/// allocations have them in common.
class MemoryPlaces {
public:
  /// Takes up the calls of these allocations, or events, which is much faster than one by one.
  template <class Range> void prepare(const Range& allocations) {
    std::vector<const memory::CallStack*> stacks;
    for (const auto& allocation : allocations) stacks.push_back(allocation.calls);
    source_.prepare(stacks);
  }

  /// The number of a place, from its names and calls.
  [[nodiscard]] std::size_t number_of(const char* name, const memory::CallStack* calls);
  /// The number of an allocation's place; what is older than the recording and has no name gets one.
  [[nodiscard]] std::size_t number_of(const memory::Allocation& allocation);

  /// The place with each number.
  [[nodiscard]] const std::vector<MemoryPlace>& all() const { return places_; }

private:
  SourcePlaces source_{};
  std::map<std::pair<const void*, const void*>, std::size_t> known_{}; ///< by name and calls
  std::map<std::string, std::size_t> numbers_{};                       ///< by the text of a place
  std::vector<MemoryPlace> places_{};
};

/// The memory that a place holds, or by how much that has changed.
struct PlaceUse {
  MemoryPlace place{};    ///< where the program asked
  std::int64_t count = 0; ///< allocations
  std::int64_t bytes = 0; ///< in all
};

/// The memory that each place holds, the most bytes first.
[[nodiscard]] std::vector<PlaceUse> by_place(const memory::MemorySnapshot& snapshot);

/// The memory that each place holds more in the later snapshot than in the earlier one, the most bytes first; places
/// where nothing has changed are left out. Places that hold less are negative, and last.
[[nodiscard]] std::vector<PlaceUse> difference(const memory::MemorySnapshot& earlier,
                                               const memory::MemorySnapshot& later);

/// A table of the places with the most bytes.
[[nodiscard]] Table places_table(const memory::MemorySnapshot& snapshot, std::size_t most = 20);

/// A table of the places that have grown and shrunk; without changes it has only its last line.
[[nodiscard]] Table difference_table(const memory::MemorySnapshot& earlier, const memory::MemorySnapshot& later,
                                     std::size_t most = 20);

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/memory_places.ipp>
#endif
