#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Recorded memory in the Trace Event Format, which chrome://tracing and Perfetto open: a process for each pool, with counters of
// the bytes in use and reserved, the largest allocations as slices in lanes, each with its place, and marks where the pool
// asked the device for memory or had none. The same as a page: profile/memory_page.hpp.

#include <twill/core/text.hpp>
#include <twill/io/json.hpp>
#include <twill/memory/recording.hpp>
#include <twill/profile/gantt.hpp>
#include <twill/profile/memory_lives.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
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
    name("process_name", 0, join_text({"memory of ", line.pool}));
    name("thread_name", 0, "pool");
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

  [[nodiscard]] std::string finish() const {
    return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [" + text_ + "\n]}\n";
  }

private:
  void add_slices(const MemoryLives& all_lives) {
    std::vector<const MemoryLife*> chosen;
    for (const MemoryLife& life : all_lives.lives) chosen.push_back(&life);
    if (chosen.size() > options_.most_slices) {
      std::stable_sort(chosen.begin(), chosen.end(),
                       [](const MemoryLife* left, const MemoryLife* right) { return left->bytes > right->bytes; });
      chosen.resize(options_.most_slices);
    }
    std::stable_sort(chosen.begin(), chosen.end(), [](const MemoryLife* left, const MemoryLife* right) {
      return left->begin_seconds < right->begin_seconds;
    });
    std::vector<double> ends; // of each lane
    for (const MemoryLife* life : chosen) {
      std::size_t lane = 0;
      while (lane < ends.size() && ends[lane] > life->begin_seconds) ++lane;
      if (lane == ends.size()) {
        ends.push_back(0);
        name("thread_name", lane + 1, join_text({"allocations, lane ", lane + 1}));
      }
      ends[lane] = life->end_seconds;
      begin(memory::format_bytes(life->bytes), "X", lane + 1, life->begin_seconds);
      text_ += join_text(
          {", \"cat\": \"allocation\", \"dur\": ", fixed(1e6 * (life->end_seconds - life->begin_seconds), 3),
           ", \"args\": {\"place\": ", io::json_quoted(all_lives.places[life->place]), ", \"bytes\": ", life->bytes,
           ", \"requested\": ", life->requested, ", \"older\": ", life->begins_before() ? "true" : "false",
           ", \"held\": ", life->ends_after() ? "true" : "false", "}}"});
    }
  }

  void begin(std::string_view words, std::string_view phase, std::size_t thread, double seconds) {
    text_ += join_text({text_.empty() ? "\n" : ",\n", "{\"name\": ", io::json_quoted(words), ", \"ph\": \"", phase,
                        "\", \"pid\": ", process_, ", \"tid\": ", thread,
                        ", \"ts\": ", fixed(1e6 * (seconds - begin_seconds_), 3)});
  }
  void name(std::string_view what, std::size_t thread, std::string_view words) {
    begin(what, "M", thread, begin_seconds_);
    text_ += join_text({", \"args\": {\"name\": ", io::json_quoted(words), "}}"});
  }
  void count(double seconds, std::int64_t allocated, std::int64_t reserved) {
    begin("allocated", "C", 0, seconds);
    text_ += join_text({", \"args\": {\"bytes\": ", allocated, "}}"});
    if (reserved == reserved_) return;
    reserved_ = reserved;
    begin("reserved", "C", 0, seconds);
    text_ += join_text({", \"args\": {\"bytes\": ", reserved, "}}"});
  }
  void mark(const memory::TimedEvent& timed) {
    begin(memory::name(timed.event.kind), "i", 0, timed.seconds);
    text_ += join_text({", \"cat\": \"pool\", \"s\": \"t\", \"args\": {\"bytes\": ", timed.event.bytes, "}}"});
  }

  const MemoryTraceOptions& options_;
  std::size_t process_ = 0;
  double begin_seconds_ = 0;
  std::int64_t reserved_ = -1;
  std::string text_{};
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
