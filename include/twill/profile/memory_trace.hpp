#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Lives of allocations in a recorded time line, from when to when each was held and by which place, and trace documents
// of them: a process for each pool, with counters of the bytes in use and reserved, the largest allocations as slices,
// each named after its place, and marks where the pool asked the device for memory or had none. chrome://tracing and
// Perfetto open them. Read next: profile/memory_page.hpp, which shows a recording in a browser, and
// profile/trace_events.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/core/text.hpp>
#include <twill/memory/recording.hpp>
#include <twill/profile/format.hpp>
#include <twill/profile/memory_places.hpp>
#include <twill/profile/trace_events.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// The number of an event outside of the time line.
inline constexpr std::size_t no_event = static_cast<std::size_t>(-1);

/// An allocation from its beginning to its end. Both are events of the time line, or outside of it.
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

/// The lives of one time line, and the names of their places.
struct MemoryLives {
  std::vector<MemoryLife> lives{};   ///< in the order in which they begin
  std::vector<std::string> places{}; ///< that allocations name by their number
};

/// The lives of a recording's allocations.
[[nodiscard]] MemoryLives lives_of(const memory::MemoryTimeline& line);

/// How much of a recording is written into a trace.
struct MemoryTraceOptions {
  std::size_t most_slices = 2000; ///< of the allocations, the largest; all count in the counters
};

/// Recordings of several pools in the Trace Event Format, on one clock that begins with the first.
[[nodiscard]] std::string memory_trace(const std::vector<memory::MemoryTimeline>& lines,
                                       const MemoryTraceOptions& options = {});
/// The recording of one pool in the Trace Event Format.
[[nodiscard]] inline std::string memory_trace(const memory::MemoryTimeline& line,
                                              const MemoryTraceOptions& options = {}) {
  return memory_trace(std::vector{line}, options);
}

/// Writes the trace of a recording, or of several, to a file.    throws: SystemError
template <class Lines = std::vector<memory::MemoryTimeline>>
void save_memory_trace(const std::string& path, const Lines& lines, const MemoryTraceOptions& options = {}) {
  save_text("memory trace", path, memory_trace(lines, options));
}

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/memory_trace.ipp>
#endif
