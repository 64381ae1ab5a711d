#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Recorded memory in the Trace Event Format, which chrome://tracing and Perfetto open: a process for each pool, with counters
// of the bytes in use and reserved, the largest allocations as slices in lanes, each named after its place, and marks where
// the pool asked the device for memory or had none. The same as a page: profile/memory_page.hpp.

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

  void add(const memory::MemoryTimeline& line, std::size_t process, double begin_seconds) {
    process_ = process;
    begin_seconds_ = begin_seconds;
    reserved_ = -1;
    events_.name_process(process_, join_text({"memory of ", line.pool}));
    events_.name_thread(process_, 0, "pool");
    count(line.begin_seconds, line.allocated_before, line.reserved_before);
    for (const memory::TimedEvent& timed : line.events) {
      using enum memory::MemoryEventKind;
      if (timed.event.kind == allocate || timed.event.kind == release || timed.event.kind == reserve_segment ||
          timed.event.kind == return_segment)
        count(timed.seconds, timed.allocated, timed.reserved);
      if (timed.event.kind != allocate && timed.event.kind != release) mark(timed);
    }
    if (!line.events.empty()) count(line.end_seconds, line.events.back().allocated, line.events.back().reserved);
    add_slices(lives_of(line));
  }

  [[nodiscard]] std::string finish() const { return events_.text(); }

private:
  void add_slices(const MemoryLives& all_lives) {
    std::vector<const MemoryLife*> chosen;
    for (const MemoryLife& life : all_lives.lives) chosen.push_back(&life);
    if (chosen.size() > options_.most_slices) {
      sort_stably(chosen, [](const MemoryLife* left, const MemoryLife* right) { return left->bytes > right->bytes; });
      chosen.resize(options_.most_slices);
    }
    sort_stably(chosen, [](const MemoryLife* left, const MemoryLife* right) {
      return left->begin_seconds < right->begin_seconds;
    });
    std::vector<double> ends; // of each lane
    for (const MemoryLife* life : chosen) {
      std::size_t lane = 0;
      while (lane < ends.size() && ends[lane] > life->begin_seconds) ++lane;
      if (lane == ends.size()) {
        ends.push_back(0);
        events_.name_thread(process_, lane + 1, join_text({"allocations, lane ", lane + 1}));
      }
      ends[lane] = life->end_seconds;
      const std::string& place = all_lives.places[life->place]; // in the name, by which viewers choose colours
      events_.complete(
          join_text({memory::format_bytes(life->bytes), ", ", place}), "allocation", process_, lane + 1,
          microseconds(life->begin_seconds), microseconds(life->end_seconds),
          join_text({"\"place\": ", TraceEvents::quoted(place), ", \"bytes\": ", life->bytes,
                     ", \"requested\": ", life->requested, ", \"older\": ", life->begins_before() ? "true" : "false",
                     ", \"held\": ", life->ends_after() ? "true" : "false"}));
    }
  }

  [[nodiscard]] double microseconds(double seconds) const { return 1e6 * (seconds - begin_seconds_); }
  void count(double seconds, std::int64_t allocated, std::int64_t reserved) {
    events_.count("allocated", process_, microseconds(seconds), "bytes", allocated);
    if (reserved != std::exchange(reserved_, reserved))
      events_.count("reserved", process_, microseconds(seconds), "bytes", reserved);
  }
  void mark(const memory::TimedEvent& timed) {
    events_.mark(memory::name(timed.event.kind), "pool", process_, 0, microseconds(timed.seconds),
                 join_text({"\"bytes\": ", timed.event.bytes}));
  }

  const MemoryTraceOptions& options_;
  std::size_t process_ = 0;
  double begin_seconds_ = 0;
  std::int64_t reserved_ = -1;
  TraceEvents events_{};
};

} // namespace detail

/// What was recorded of several pools, on one clock that begins with the first.
[[nodiscard]] inline std::string memory_trace(const std::vector<memory::MemoryTimeline>& lines,
                                              const MemoryTraceOptions& options = {}) {
  detail::MemoryTraceText trace{options};
  double begin = lines.empty() ? 0 : lines.front().begin_seconds;
  for (const memory::MemoryTimeline& line : lines) begin = std::min(begin, line.begin_seconds);
  for (std::size_t process = 0; process < lines.size(); ++process) trace.add(lines[process], process, begin);
  return trace.finish();
}
/// Of one.
[[nodiscard]] inline std::string memory_trace(const memory::MemoryTimeline& line,
                                              const MemoryTraceOptions& options = {}) {
  return memory_trace(std::vector{line}, options);
}

/// Writes the trace to a file.    throws: SystemError
inline void save_memory_trace(const std::string& path, const std::vector<memory::MemoryTimeline>& lines,
                              const MemoryTraceOptions& options = {}) {
  detail::write_text(path, memory_trace(lines, options), "memory trace");
}
inline void save_memory_trace(const std::string& path, const memory::MemoryTimeline& line,
                              const MemoryTraceOptions& options = {}) {
  detail::write_text(path, memory_trace(line, options), "memory trace");
}

} // namespace twill::inline v0::profile
