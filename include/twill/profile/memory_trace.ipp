#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/memory_trace.hpp.

#include <twill/profile/memory_trace.hpp>

namespace twill { inline namespace v0 { namespace profile {
namespace detail {

/// Writes the events of one pool after the other.
class MemoryTrace {
public:
  MemoryTrace(const MemoryTraceOptions& options, double begin_seconds)
      : options_{options}, begin_seconds_{begin_seconds} {}

  void add(const memory::MemoryTimeline& line, std::size_t process) {
    using enum memory::MemoryEventKind;
    std::int64_t last_reserved = -1;
    const auto count = [&](double seconds, std::int64_t allocated, std::int64_t reserved) {
      events_.count("allocated", process, us(seconds), "bytes", allocated);
      if (reserved != std::exchange(last_reserved, reserved))
        events_.count("reserved", process, us(seconds), "bytes", reserved);
    };
    events_.name_process(process, join_text({"memory of ", line.pool}));
    events_.name_thread(process, 0, "pool");
    count(line.begin_seconds, line.allocated_before, line.reserved_before);
    for (const memory::TimedEvent& timed : line.events) {
      const memory::MemoryEventKind kind = timed.event.kind;
      const bool is_of_program = kind == allocate || kind == release;
      if (is_of_program || kind == reserve_segment || kind == return_segment)
        count(timed.seconds, timed.allocated, timed.reserved);
      if (!is_of_program)
        events_.mark(memory::name(kind), "pool", process, 0, us(timed.seconds),
                     join_text({"\"bytes\": ", timed.event.bytes}));
    }
    if (!line.events.empty()) count(line.end_seconds, line.events.back().allocated, line.events.back().reserved);
    add_slices(lives_of(line), process);
  }

  [[nodiscard]] std::string text() const { return events_.text(); }

private:
  void add_slices(const MemoryLives& all, std::size_t process) {
    std::vector<const MemoryLife*> chosen;
    for (const MemoryLife& life : all.lives) chosen.push_back(&life);
    if (chosen.size() > options_.most_slices) {
      sort_stably(chosen, [](const MemoryLife* left, const MemoryLife* right) { return left->bytes > right->bytes; });
      chosen.resize(options_.most_slices);
    }
    sort_stably(chosen, [](const MemoryLife* left, const MemoryLife* right) {
      return left->begin_seconds < right->begin_seconds;
    });
    for (const MemoryLife* life : chosen) {
      const double start = us(life->begin_seconds), end = us(life->end_seconds);
      const std::string& place = all.places[life->place]; // in the name, by which viewers choose colours
      events_.complete(
          join_text({format_bytes(life->bytes), ", ", place}), "allocation", process,
          events_.free_thread(process, "allocations, lane", start, end), start, end,
          join_text({"\"place\": ", TraceEvents::quoted(place), ", \"bytes\": ", life->bytes,
                     ", \"requested\": ", life->requested, ", \"older\": ", life->begins_before() ? "true" : "false",
                     ", \"held\": ", life->ends_after() ? "true" : "false"}));
    }
  }

  [[nodiscard]] double us(double seconds) const { return 1e6 * (seconds - begin_seconds_); }

  const MemoryTraceOptions& options_;
  double begin_seconds_;
  TraceEvents events_{};
};

} // namespace detail

TWILL_BODY MemoryLives lives_of(const memory::MemoryTimeline& line) {
  MemoryPlaces places;
  places.prepare(line.events);
  places.prepare(line.before);
  MemoryLives all;
  std::map<const void*, std::size_t> open; // the lives that go on, by the address of their block
  const auto begin = [&](const void* address, std::size_t bytes, std::size_t requested, std::size_t place,
                         double seconds, std::size_t event) {
    open[address] = all.lives.size();
    all.lives.push_back({static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(requested), place, seconds,
                         line.end_seconds, event});
  };
  for (const memory::Allocation& old : line.before)
    begin(old.address, old.bytes, old.requested, places.number_of(old), line.begin_seconds, no_event);
  for (std::size_t number = 0; number < line.events.size(); ++number) {
    const memory::TimedEvent& timed = line.events[number];
    const memory::MemoryEvent& event = timed.event;
    if (event.kind == memory::MemoryEventKind::allocate) {
      const std::size_t place = places.number_of(event.place, timed.calls);
      begin(event.address, event.bytes, event.requested, place, timed.seconds, number);
    } else if (event.kind == memory::MemoryEventKind::release) {
      const auto found = open.find(event.address);
      if (found == open.end()) continue;
      all.lives[found->second].end_seconds = timed.seconds;
      all.lives[found->second].end_event = number;
      open.erase(found);
    }
  }
  for (const MemoryPlace& place : places.all()) all.places.push_back(to_string(place));
  return all;
}

TWILL_BODY std::string memory_trace(const std::vector<memory::MemoryTimeline>& lines,
                                    const MemoryTraceOptions& options) {
  double begin = lines.empty() ? 0 : lines.front().begin_seconds;
  for (const memory::MemoryTimeline& line : lines) begin = std::min(begin, line.begin_seconds);
  detail::MemoryTrace trace{options, begin};
  for (std::size_t process = 0; process < lines.size(); ++process) trace.add(lines[process], process);
  return trace.text();
}

}}} // namespace twill::v0::profile
