#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The lives of the allocations in a recorded time line: from when to when each was held, and by whom. Pictures are drawn of
// these. Read next: profile/memory_trace.hpp, profile/memory_page.hpp.

#include <twill/core/config.hpp>
#include <twill/memory/recording.hpp>
#include <twill/profile/detail/numbers.hpp>
#include <twill/profile/memory_places.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::profile {

/// What an event outside of the time line has instead of a number.
inline constexpr std::size_t no_event = static_cast<std::size_t>(-1);

/// An allocation from its beginning to its end. Both are events of the time line, or lie outside of it.
struct MemoryLife {
  std::int64_t bytes = 0;             ///< that it occupies
  std::int64_t requested = 0;         ///< that were asked for
  std::size_t place = 0;              ///< among those of all lives
  double begin_seconds = 0;           ///< since the recording began
  double end_seconds = 0;             ///< since the recording began
  std::size_t begin_event = no_event; ///< its number in the recording
  std::size_t end_event = no_event;   ///< its number in the recording

  /// Whether it was there before the recording began.
  [[nodiscard]] bool begins_before() const { return begin_event == no_event; }
  /// Whether it was there when the recording ended.
  [[nodiscard]] bool ends_after() const { return end_event == no_event; }
};

/// Those of one time line, in the order in which they begin, and the names of their places.
struct MemoryLives {
  std::vector<MemoryLife> lives{};   ///< in the order in which they begin
  std::vector<std::string> places{}; ///< that allocations name by their number
};

/// What lived from when to when, of a recording.
[[nodiscard]] MemoryLives lives_of(const memory::MemoryTimeline& line);

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/memory_lives.ipp>
#endif
