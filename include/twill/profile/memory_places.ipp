#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/memory_places.hpp.

#include <twill/profile/memory_places.hpp>

namespace twill { inline namespace v0 { namespace profile {

TWILL_BODY std::string to_string(const MemoryPlace& place) {
  if (place.name.empty()) return place.statement.empty() ? "(unknown)" : place.statement;
  return place.statement.empty() ? place.name : join_text({place.name, ", ", place.statement});
}

TWILL_BODY std::size_t MemoryPlaces::number_of(const char* name, const memory::CallStack* calls) {
  const auto known = known_.find({name, calls});
  if (known != known_.end()) return known->second;
  MemoryPlace place{name != nullptr ? name : "", source_.statement(calls)};
  const auto [number, is_new] = numbers_.try_emplace(to_string(place), places_.size());
  if (is_new) places_.push_back(std::move(place));
  known_[{name, calls}] = number->second;
  return number->second;
}

TWILL_BODY std::size_t MemoryPlaces::number_of(const memory::Allocation& allocation) {
  const bool is_unknown = allocation.place == nullptr && allocation.calls == nullptr;
  const bool is_old = is_unknown && allocation.is_older_than_recording;
  return number_of(is_old ? "(before the recording)" : allocation.place, allocation.calls);
}

TWILL_BODY std::vector<PlaceUse> by_place(const memory::MemorySnapshot& snapshot) { return difference({}, snapshot); }

TWILL_BODY std::vector<PlaceUse> difference(const memory::MemorySnapshot& earlier,
                                            const memory::MemorySnapshot& later) {
  MemoryPlaces places;
  std::vector<PlaceUse> uses;
  const auto count = [&](const memory::MemorySnapshot& snapshot, std::int64_t sign) {
    places.prepare(snapshot.allocations);
    for (const memory::Allocation& allocation : snapshot.allocations) {
      const std::size_t number = places.number_of(allocation);
      if (number == uses.size()) uses.push_back({places.all()[number]});
      uses[number].count += sign;
      uses[number].bytes += sign * static_cast<std::int64_t>(allocation.bytes);
    }
  };
  count(earlier, -1);
  count(later, 1);
  std::erase_if(uses, [](const PlaceUse& use) { return use.count == 0 && use.bytes == 0; });
  sort_stably(uses, [](const PlaceUse& left, const PlaceUse& right) {
    if (left.bytes != right.bytes) return left.bytes > right.bytes;
    return left.count != right.count ? left.count > right.count : left.place < right.place;
  });
  return uses;
}

TWILL_BODY Table places_table(const memory::MemorySnapshot& snapshot, std::size_t most) {
  Table table({{"bytes"}, {"share"}, {"count"}, {"place", Align::left}, {"statement", Align::left}});
  const std::vector<PlaceUse> uses = by_place(snapshot);
  PlaceUse total{{join_text({"all of ", snapshot.pool}), {}}}, rest{};
  for (const PlaceUse& use : uses) total.bytes += use.bytes, total.count += use.count;
  const auto row = [&](const PlaceUse& use) {
    const double share = static_cast<double>(use.bytes) / static_cast<double>(total.bytes);
    table.row(
        {format_bytes(use.bytes), percent(share, 1), std::to_string(use.count), use.place.name, use.place.statement});
  };
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (i < most)
      row(uses[i]);
    else
      rest.bytes += uses[i].bytes, rest.count += uses[i].count;
  rest.place.name = join_text({"(", uses.size() - std::min(most, uses.size()), " more places)"});
  if (uses.size() > most) row(rest);
  table.rule();
  row(total);
  return table;
}

TWILL_BODY Table difference_table(const memory::MemorySnapshot& earlier, const memory::MemorySnapshot& later,
                                  std::size_t most) {
  Table table({{"bytes"}, {"count"}, {"place", Align::left}, {"statement", Align::left}});
  const std::vector<PlaceUse> uses = difference(earlier, later);
  PlaceUse total{{join_text({"all of ", later.pool}), {}}}, rest{};
  const auto row = [&](const PlaceUse& use) {
    const auto plus = [](std::int64_t change) { return std::string{change > 0 ? "+" : ""}; };
    table.row({plus(use.bytes) + format_bytes(use.bytes), plus(use.count) + std::to_string(use.count), use.place.name,
               use.place.statement});
  };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    total.bytes += uses[i].bytes;
    total.count += uses[i].count;
    // The first half of the table is for what has grown most, the second for what has shrunk most.
    if (uses.size() <= most || i < most - most / 2 || i >= uses.size() - most / 2) {
      row(uses[i]);
      continue;
    }
    rest.bytes += uses[i].bytes;
    rest.count += uses[i].count;
    rest.place.name = join_text({"(", uses.size() - most, " more places)"});
    if (i + 1 == uses.size() - most / 2) row(rest);
  }
  if (!uses.empty()) table.rule();
  row(total);
  return table;
}

}}} // namespace twill::v0::profile
