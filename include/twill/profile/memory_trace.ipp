#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/memory_trace.hpp.

#include <twill/profile/memory_trace.hpp>

namespace twill::inline v0::profile {
namespace detail {

TWILL_BODY void MemoryTraceText::add(const memory::MemoryTimeline& line, std::size_t process, double begin_seconds) {
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

TWILL_BODY void MemoryTraceText::add_slices(const MemoryLives& all_lives) {
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

TWILL_BODY void MemoryTraceText::count(double seconds, std::int64_t allocated, std::int64_t reserved) {
  events_.count("allocated", process_, microseconds(seconds), "bytes", allocated);
  if (reserved != std::exchange(reserved_, reserved))
    events_.count("reserved", process_, microseconds(seconds), "bytes", reserved);
}

TWILL_BODY void MemoryTraceText::mark(const memory::TimedEvent& timed) {
  events_.mark(memory::name(timed.event.kind), "pool", process_, 0, microseconds(timed.seconds),
               join_text({"\"bytes\": ", timed.event.bytes}));
}

} // namespace detail

TWILL_BODY std::string memory_trace(const std::vector<memory::MemoryTimeline>& lines,
                                    const MemoryTraceOptions& options) {
  detail::MemoryTraceText trace{options};
  double begin = lines.empty() ? 0 : lines.front().begin_seconds;
  for (const memory::MemoryTimeline& line : lines) begin = std::min(begin, line.begin_seconds);
  for (std::size_t process = 0; process < lines.size(); ++process) trace.add(lines[process], process, begin);
  return trace.finish();
}

TWILL_BODY std::string memory_trace(const memory::MemoryTimeline& line, const MemoryTraceOptions& options) {
  return memory_trace(std::vector{line}, options);
}

TWILL_BODY void save_memory_trace(const std::string& path, const std::vector<memory::MemoryTimeline>& lines,
                                  const MemoryTraceOptions& options) {
  detail::write_text(path, memory_trace(lines, options), "memory trace");
}

TWILL_BODY void save_memory_trace(const std::string& path, const memory::MemoryTimeline& line,
                                  const MemoryTraceOptions& options) {
  detail::write_text(path, memory_trace(line, options), "memory trace");
}

} // namespace twill::inline v0::profile
