#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/memory_places.hpp.

#include <twill/profile/memory_places.hpp>

namespace twill::inline v0::profile {

TWILL_BODY std::string to_string(const MemoryPlace& place) {
  if (place.name.empty()) return place.statement.empty() ? "(unknown)" : place.statement;
  return place.statement.empty() ? place.name : join_text({place.name, ", ", place.statement});
}

namespace detail {

TWILL_BODY const char* name_of(const memory::Allocation& allocation) {
  const bool is_unknown = allocation.place == nullptr && allocation.calls == nullptr;
  return is_unknown && allocation.is_older_than_recording ? "(before the recording)" : allocation.place;
}

TWILL_BODY MemoryPlace place_of(const char* name, const memory::CallStack* calls, SourcePlaces& source) {
  return {name != nullptr ? name : "", source.statement(calls)};
}

TWILL_BODY PlaceUse& UseByPlace::of(const MemoryPlace& place) {
  std::string key = place.name;
  key += '\0'; // before all that names consist of, so keys have the order of places
  key += place.statement;
  const auto [number, is_new] = number_of(numbers, key);
  if (is_new) uses.push_back({place});
  return uses[number];
}

TWILL_BODY void count_places(UseByPlace& uses, const memory::MemorySnapshot& snapshot, std::int64_t sign,
                             SourcePlaces& source) {
  std::vector<const memory::CallStack*> stacks;
  for (const memory::Allocation& allocation : snapshot.allocations) stacks.push_back(allocation.calls);
  source.prepare(stacks);
  // Few pairs of name and calls occur, however many allocations there are.
  AddressNumbers pairs;
  std::vector<PlaceUse> of_pairs;
  for (const memory::Allocation& allocation : snapshot.allocations) {
    const char* const name = name_of(allocation);
    const auto [number, is_new] = number_of(pairs, {name, allocation.calls});
    if (is_new) of_pairs.push_back({place_of(name, allocation.calls, source)});
    of_pairs[number].count += sign;
    of_pairs[number].bytes += sign * static_cast<std::int64_t>(allocation.bytes);
  }
  for (const PlaceUse& pair : of_pairs) {
    PlaceUse& use = uses.of(pair.place);
    use.count += pair.count;
    use.bytes += pair.bytes;
  }
}

TWILL_BODY std::vector<PlaceUse> sorted(const UseByPlace& by_place) {
  std::vector<PlaceUse> rows;
  for (const auto& [place, number] : by_place.numbers)
    if (const PlaceUse& use = by_place.uses[number]; use.count != 0 || use.bytes != 0) rows.push_back(use);
  sort_stably(rows, [](const PlaceUse& left, const PlaceUse& right) {
    return left.bytes != right.bytes ? left.bytes > right.bytes : left.count > right.count;
  });
  return rows;
}

TWILL_BODY std::string signed_count(std::int64_t count) { return (count > 0 ? "+" : "") + std::to_string(count); }

TWILL_BODY std::string signed_bytes(std::int64_t bytes) { return (bytes > 0 ? "+" : "") + memory::format_bytes(bytes); }

} // namespace detail

TWILL_BODY std::vector<PlaceUse> by_place(const memory::MemorySnapshot& snapshot) {
  detail::UseByPlace uses;
  SourcePlaces source;
  detail::count_places(uses, snapshot, 1, source);
  return detail::sorted(uses);
}

TWILL_BODY std::vector<PlaceUse> difference(const memory::MemorySnapshot& earlier,
                                            const memory::MemorySnapshot& later) {
  detail::UseByPlace uses;
  SourcePlaces source;
  detail::count_places(uses, earlier, -1, source);
  detail::count_places(uses, later, 1, source);
  return detail::sorted(uses);
}

TWILL_BODY Table places_table(const memory::MemorySnapshot& snapshot, std::size_t most) {
  Table table({{"bytes"}, {"share"}, {"count"}, {"place", Align::left}, {"statement", Align::left}});
  const std::vector<PlaceUse> uses = by_place(snapshot);
  std::int64_t bytes = 0, count = 0;
  for (const PlaceUse& use : uses) bytes += use.bytes, count += use.count;
  const auto row = [&](std::int64_t of_them, std::int64_t number, const MemoryPlace& place) {
    const std::int64_t permille = bytes > 0 ? (1000 * of_them + bytes / 2) / bytes : 0;
    table.row({memory::format_bytes(of_them), join_text({permille / 10, ".", permille % 10, "%"}),
               std::to_string(number), place.name, place.statement});
  };
  std::int64_t rest_bytes = bytes, rest_count = count;
  for (std::size_t i = 0; i < uses.size() && i < most; ++i) {
    row(uses[i].bytes, uses[i].count, uses[i].place);
    rest_bytes -= uses[i].bytes;
    rest_count -= uses[i].count;
  }
  if (uses.size() > most) row(rest_bytes, rest_count, {join_text({"(", uses.size() - most, " more places)"}), {}});
  table.rule();
  row(bytes, count, {join_text({"all of ", snapshot.pool}), {}});
  return table;
}

TWILL_BODY Table difference_table(const memory::MemorySnapshot& earlier, const memory::MemorySnapshot& later,
                                  std::size_t most) {
  Table table({{"bytes"}, {"count"}, {"place", Align::left}, {"statement", Align::left}});
  const std::vector<PlaceUse> uses = difference(earlier, later);
  PlaceUse total{}, rest{};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const PlaceUse& use = uses[i];
    total.bytes += use.bytes;
    total.count += use.count;
    // The first half of the table is for what has grown most, the second for what has shrunk most.
    if (uses.size() <= most || i < most - most / 2 || i >= uses.size() - most / 2) {
      table.row(
          {detail::signed_bytes(use.bytes), detail::signed_count(use.count), use.place.name, use.place.statement});
    } else {
      rest.bytes += use.bytes;
      rest.count += use.count;
      if (i + 1 == uses.size() - most / 2)
        table.row({detail::signed_bytes(rest.bytes), detail::signed_count(rest.count),
                   join_text({"(", uses.size() - most, " more places)"}), ""});
    }
  }
  if (!uses.empty()) table.rule();
  table.row(
      {detail::signed_bytes(total.bytes), detail::signed_count(total.count), join_text({"all of ", later.pool}), ""});
  return table;
}

} // namespace twill::inline v0::profile
