#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/memory_lives.hpp.

#include <twill/profile/memory_lives.hpp>

namespace twill::inline v0::profile {

TWILL_BODY MemoryLives lives_of(const memory::MemoryTimeline& line) {
  SourcePlaces source;
  std::vector<const memory::CallStack*> stacks;
  for (const memory::TimedEvent& timed : line.events) stacks.push_back(timed.calls);
  for (const memory::Allocation& allocation : line.before) stacks.push_back(allocation.calls);
  source.prepare(stacks);

  MemoryLives all_lives;
  detail::AddressNumbers known; // of names and calls
  std::vector<std::size_t> place_of_known;
  detail::TextNumbers numbers;
  const auto place_number = [&](const char* name, const memory::CallStack* calls) {
    const auto [number, is_new] = detail::number_of(known, {name, calls});
    if (is_new) {
      const std::string words = to_string(detail::place_of(name, calls, source));
      const auto [place, is_new_name] = detail::number_of(numbers, words);
      if (is_new_name) all_lives.places.push_back(words);
      place_of_known.push_back(place);
    }
    return place_of_known[number];
  };

  detail::AddressNumbers open; // the lives that go on
  for (const memory::Allocation& allocation : line.before) {
    open[{allocation.address, nullptr}] = all_lives.lives.size();
    all_lives.lives.push_back(
        {static_cast<std::int64_t>(allocation.bytes), static_cast<std::int64_t>(allocation.requested),
         place_number(detail::name_of(allocation), allocation.calls), line.begin_seconds, line.end_seconds});
  }
  for (std::size_t number = 0; number < line.events.size(); ++number) {
    const memory::TimedEvent& timed = line.events[number];
    if (timed.event.kind == memory::MemoryEventKind::allocate) {
      open[{timed.event.address, nullptr}] = all_lives.lives.size();
      all_lives.lives.push_back(
          {static_cast<std::int64_t>(timed.event.bytes), static_cast<std::int64_t>(timed.event.requested),
           place_number(timed.event.place, timed.calls), timed.seconds, line.end_seconds, number});
    }
    if (timed.event.kind == memory::MemoryEventKind::release)
      if (const auto found = open.find({timed.event.address, nullptr}); found != open.end()) {
        all_lives.lives[found->second].end_seconds = timed.seconds;
        all_lives.lives[found->second].end_event = number;
        open.erase(found);
      }
  }
  return all_lives;
}

} // namespace twill::inline v0::profile
