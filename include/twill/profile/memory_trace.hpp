#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Recorded memory in the Trace Event Format, which chrome://tracing and Perfetto open: a process for each pool, with counters
// of the bytes in use and reserved, the largest allocations as slices in lanes, each named after its place, and marks where
// the pool asked the device for memory or had none. The same as a page: profile/memory_page.hpp.

#include <twill/core/config.hpp>
#include <twill/core/stable_order.hpp>
#include <twill/core/text.hpp>
#include <twill/memory/recording.hpp>
#include <twill/profile/gantt.hpp>
#include <twill/profile/memory_lives.hpp>
#include <twill/profile/trace_events.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::profile {

/// What of a recording is written into a trace.
struct MemoryTraceOptions {
  std::size_t most_slices = 2000; ///< of the allocations, the largest; all count in the counters
};

namespace detail {

/// Writes the events of one pool after the other.
class MemoryTraceText {
public:
  explicit MemoryTraceText(const MemoryTraceOptions& options) : options_{options} {}

  void add(const memory::MemoryTimeline& line, std::size_t process, double begin_seconds);

  [[nodiscard]] std::string finish() const { return events_.text(); }

private:
  void add_slices(const MemoryLives& all_lives);

  [[nodiscard]] double microseconds(double seconds) const { return 1e6 * (seconds - begin_seconds_); }
  void count(double seconds, std::int64_t allocated, std::int64_t reserved);
  void mark(const memory::TimedEvent& timed);

  const MemoryTraceOptions& options_;
  std::size_t process_ = 0;
  double begin_seconds_ = 0;
  std::int64_t reserved_ = -1;
  TraceEvents events_{};
};

} // namespace detail

/// What was recorded of several pools, on one clock that begins with the first.
[[nodiscard]] std::string memory_trace(const std::vector<memory::MemoryTimeline>& lines,
                                       const MemoryTraceOptions& options = {});
/// Of one.
[[nodiscard]] std::string memory_trace(const memory::MemoryTimeline& line, const MemoryTraceOptions& options = {});

/// Writes the trace to a file.    throws: SystemError
void save_memory_trace(const std::string& path, const std::vector<memory::MemoryTimeline>& lines,
                       const MemoryTraceOptions& options = {});
void save_memory_trace(const std::string& path, const memory::MemoryTimeline& line,
                       const MemoryTraceOptions& options = {});

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/memory_trace.ipp>
#endif
