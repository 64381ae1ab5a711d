#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of memory/recording.hpp.

#include <twill/memory/recording.hpp>

namespace twill { inline namespace v0 { namespace memory {

TWILL_BODY MemoryRecorder::MemoryRecorder(RecordOptions options) : options_{options} {
  if (options.most_calls > 0) static_cast<void>(current_calls(1)); // the first call may load a library
}

TWILL_BODY void MemoryRecorder::on_memory_event(const MemoryEvent& event) noexcept {
  const bool is_request = event.kind == MemoryEventKind::allocate || event.kind == MemoryEventKind::out_of_memory;
  const CallStack* const calls = is_request ? current_calls(options_.most_calls, 1) : nullptr;
  const double now = steady_seconds();
  std::lock_guard guard{mutex_};
  if (is_begun_ && event.sequence <= first_sequence_) return; // a late event: the snapshot at the beginning shows it
  enter({event, now, calls, 0, 0});
}

TWILL_BODY void MemoryRecorder::begin(const PoolSnapshot& snapshot) {
  std::lock_guard guard{mutex_};
  std::vector<TimedEvent> since;
  since.swap(events_);
  live_.clear();
  seen_ = 0;
  allocated_ = reserved_ = 0;
  begin_seconds_ = steady_seconds();
  for (const SegmentSnapshot& segment : snapshot.segments) {
    reserved_ += static_cast<std::int64_t>(segment.bytes);
    for (const BlockSnapshot& block : segment.blocks) {
      if (!block.in_use) continue;
      allocated_ += static_cast<std::int64_t>(block.rounded);
      live_[block.address] = {block.address,  block.rounded, block.requested, block.sequence,
                              begin_seconds_, block.place,   nullptr,         true};
    }
  }
  first_sequence_ = snapshot.last_event;
  is_begun_ = true;
  for (const TimedEvent& timed : since)
    if (timed.event.sequence > first_sequence_) enter(timed);
}

TWILL_BODY std::vector<Allocation> MemoryRecorder::allocations() const {
  std::vector<Allocation> all_of_them;
  {
    std::lock_guard guard{mutex_};
    all_of_them.reserve(live_.size());
    for (const auto& [address, allocation] : live_) all_of_them.push_back(allocation);
  }
  sort_by_sequence(all_of_them);
  return all_of_them;
}

TWILL_BODY MemoryTimeline MemoryRecorder::timeline() const {
  MemoryTimeline line{};
  std::map<const void*, Allocation> held;
  {
    std::lock_guard guard{mutex_};
    const std::size_t count = std::min(seen_, events_.size());
    line.events.reserve(count);
    for (std::size_t i = seen_ - count; i < seen_; ++i) line.events.push_back(events_[i % events_.size()]);
    line.overwritten = seen_ - count;
    line.lost = lost_;
    line.begin_seconds = begin_seconds_;
    line.allocated_before = allocated_;
    line.reserved_before = reserved_;
    held = live_;
  }
  line.end_seconds = steady_seconds();
  sort_stably(line.events, [](const TimedEvent& left, const TimedEvent& right) {
    return left.event.sequence < right.event.sequence;
  });
  for (std::size_t i = line.events.size(); i-- > 0;) undo(line, held, line.events[i]);
  std::int64_t allocated = line.allocated_before, reserved = line.reserved_before;
  double latest = line.overwritten == 0 || line.events.empty() ? line.begin_seconds : line.events.front().seconds;
  line.begin_seconds = latest;
  for (TimedEvent& timed : line.events) { // threads read the clock in another order than they passed through the pool
    timed.seconds = latest = std::max(latest, timed.seconds);
    timed.allocated = allocated += allocated_by(timed.event);
    timed.reserved = reserved += reserved_by(timed.event);
  }
  for (const auto& [address, allocation] : held) line.before.push_back(allocation);
  sort_by_sequence(line.before);
  return line;
}

TWILL_BODY std::int64_t MemoryRecorder::allocated_by(const MemoryEvent& event) {
  const auto bytes = static_cast<std::int64_t>(event.bytes);
  return event.kind == MemoryEventKind::allocate ? bytes : event.kind == MemoryEventKind::release ? -bytes : 0;
}

TWILL_BODY std::int64_t MemoryRecorder::reserved_by(const MemoryEvent& event) {
  const auto bytes = static_cast<std::int64_t>(event.bytes);
  if (event.kind == MemoryEventKind::reserve_segment) return bytes;
  return event.kind == MemoryEventKind::return_segment ? -bytes : 0;
}

TWILL_BODY void MemoryRecorder::sort_by_sequence(std::vector<Allocation>& allocations) {
  sort_stably(allocations,
              [](const Allocation& left, const Allocation& right) { return left.sequence < right.sequence; });
}

TWILL_BODY void MemoryRecorder::enter(TimedEvent timed) noexcept {
  const MemoryEvent& event = timed.event;
  allocated_ += allocated_by(event);
  reserved_ += reserved_by(event);
  try {
    if (event.kind == MemoryEventKind::allocate)
      live_[event.address] = {event.address, event.bytes, event.requested, event.sequence,
                              timed.seconds, event.place, timed.calls,     false};
    if (event.kind == MemoryEventKind::release) {
      // Another thread may already have reported that it allocated this memory again.
      const auto found = live_.find(event.address);
      if (found != live_.end() && found->second.sequence < event.sequence) {
        timed.event.requested = found->second.requested;
        timed.event.place = found->second.place;
        timed.calls = found->second.calls;
        live_.erase(found);
      }
    }
    if (events_.size() < options_.most_events || !is_begun_) {
      events_.push_back(timed);
    } else if (!events_.empty()) {
      events_[seen_ % events_.size()] = timed;
    }
    ++seen_;
  } catch (const std::bad_alloc&) {
    ++lost_;
  }
}

TWILL_BODY void MemoryRecorder::undo(MemoryTimeline& line, std::map<const void*, Allocation>& held,
                                     const TimedEvent& timed) {
  const MemoryEvent& event = timed.event;
  line.allocated_before -= allocated_by(event);
  line.reserved_before -= reserved_by(event);
  if (event.kind == MemoryEventKind::allocate) held.erase(event.address);
  if (event.kind == MemoryEventKind::release)
    held[event.address] = {event.address,      event.bytes, event.requested, 0,
                           line.begin_seconds, event.place, timed.calls,     true};
}

}}} // namespace twill::v0::memory
