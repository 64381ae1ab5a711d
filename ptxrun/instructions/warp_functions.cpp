// SPDX-License-Identifier: Apache-2.0
//
// Lanes of a warp tell each other: shuffles, votes, matches, reductions. All named lanes are in `mask` (warp_wide.hpp).

#include "ptxrun/findings.hpp"
#include "ptxrun/instructions/families.hpp"
#include "ptxrun/instructions/handlers.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace ptxrun {
namespace {

enum Shuffle : std::uint8_t { up, down, butterfly, indexed };

/// What a lane reads from one that is not there.
constexpr std::uint32_t unknown_lane_value = 0x7fc0dead;

void shuffle(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto value = values<std::uint32_t>(warp, instruction.sources[0]);
  const auto distance = values<std::uint32_t>(warp, instruction.sources[1]);
  const auto bounds = values<std::uint32_t>(warp, instruction.sources[2]);
  std::array<std::uint32_t, 32> result{};
  std::uint32_t in_range = 0;
  for_lanes_in_order(mask, [&](int lane) {
    const int by = static_cast<int>(distance[lane] & 31);
    const int clamp = static_cast<int>(bounds[lane] & 31), segment = static_cast<int>((bounds[lane] >> 8) & 31);
    const int lowest = lane & segment, last = lowest | (clamp & ~segment);
    int from = 0;
    bool is_in_range = false;
    switch (instruction.mode) {
    case up:
      from = lane - by;
      is_in_range = from >= last;
      break;
    case down:
      from = lane + by;
      is_in_range = from <= last;
      break;
    case butterfly:
      from = lane ^ by;
      is_in_range = from <= last;
      break;
    default:
      from = lowest | (by & ~segment);
      is_in_range = from <= last;
      break;
    }
    if (!is_in_range) from = lane;
    in_range |= static_cast<std::uint32_t>(is_in_range) << lane;
    if (has_lane(mask, from)) {
      result[static_cast<std::size_t>(lane)] = value[from];
      return;
    }
    report_finding(
        has_lane(warp.exists, from) ? "shuffle reads an inactive lane" : "shuffle reads a lane that does not exist",
        &warp.block->grid.kernel, &instruction, describe_thread(warp, lane) + " reads lane " + std::to_string(from));
    result[static_cast<std::size_t>(lane)] = unknown_lane_value;
  });
  if (!instruction.destinations[0].is_ignored) {
    const auto destination = values<std::uint32_t>(warp, instruction.destinations[0]);
    for_lanes(mask, [&](int lane) { destination[lane] = result[static_cast<std::size_t>(lane)]; });
  }
  if (instruction.destination_count > 1) set_predicate(warp, instruction.destinations[1], in_range, mask);
}

enum Vote : std::uint8_t { all, any, uniform, ballot };

void vote(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t votes = predicate_source(warp, instruction, 0) & mask;
  if (instruction.mode == ballot) {
    if (instruction.destinations[0].is_ignored) return;
    const auto result = values<std::uint32_t>(warp, instruction.destinations[0]);
    for_lanes(mask, [&](int lane) { result[lane] = votes; });
    return;
  }
  const bool is_all = votes == mask, is_any = votes != 0;
  const bool result = instruction.mode == all ? is_all : instruction.mode == any ? is_any : is_all || !is_any;
  set_predicate(warp, instruction.destinations[0], result ? ~std::uint32_t{0} : 0, mask);
}

template <class T, bool IsAll> void match(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto value = values<T>(warp, instruction.sources[0]);
  std::array<std::uint32_t, 32> equal{};
  bool are_all_equal = true;
  for_lanes_in_order(mask, [&](int lane) {
    std::uint32_t& lanes = equal[static_cast<std::size_t>(lane)];
    for_lanes_in_order(mask,
                       [&](int other) { lanes |= static_cast<std::uint32_t>(value[other] == value[lane]) << other; });
    are_all_equal = are_all_equal && lanes == mask;
  });
  const auto result = values<std::uint32_t>(warp, instruction.destinations[0]);
  for_lanes(mask, [&](int lane) {
    result[lane] = IsAll ? (are_all_equal ? mask : 0) : equal[static_cast<std::size_t>(lane)];
  });
  if (instruction.destination_count > 1)
    set_predicate(warp, instruction.destinations[1], are_all_equal ? ~std::uint32_t{0} : 0, mask);
}

template <class T> void reduce(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto value = values<T>(warp, instruction.sources[0]);
  T total = value[std::countr_zero(mask)];
  for_lanes_in_order(mask & (mask - 1), [&](int lane) {
    const T x = value[lane];
    switch (instruction.operation) {
    case AtomicOperation::add:
      total = static_cast<T>(static_cast<std::uint32_t>(total) + static_cast<std::uint32_t>(x));
      break;
    case AtomicOperation::min:
      total = std::min(total, x);
      break;
    case AtomicOperation::max:
      total = std::max(total, x);
      break;
    case AtomicOperation::conjunction:
      total &= x;
      break;
    case AtomicOperation::disjunction:
      total |= x;
      break;
    default:
      total ^= x;
      break;
    }
  });
  const auto result = values<T>(warp, instruction.destinations[0]);
  for_lanes(mask, [&](int lane) { result[lane] = total; });
}

void elect(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const int leader = std::countr_zero(mask);
  if (!instruction.destinations[0].is_ignored) {
    const auto result = values<std::uint32_t>(warp, instruction.destinations[0]);
    for_lanes(mask, [&](int lane) { result[lane] = static_cast<std::uint32_t>(leader); });
  }
  set_predicate(warp, instruction.destinations[1], std::uint32_t{1} << leader, mask);
}

void set_active_mask(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto result = values<std::uint32_t>(warp, instruction.destinations[0]);
  for_lanes(mask, [&](int lane) { result[lane] = mask; });
}

/// The last operand names the lanes.
void take_members(Statement& statement, std::size_t source) {
  statement.source(source, statement.arguments.back(), Type::u32);
  statement.instruction.member_source = static_cast<std::uint8_t>(source);
  statement.instruction.flow = Flow::warp_wide;
}

} // namespace

void decode_shuffle(Statement& statement) {
  if (!statement.has("sync")) statement.reject("a shuffle without its lanes");
  statement.instruction.mode = statement.has("up")     ? up
                               : statement.has("down") ? down
                               : statement.has("bfly") ? butterfly
                                                       : indexed;
  statement.destination_with_predicate(statement.argument(0), Type::b32);
  for (std::size_t n = 0; n < 3; ++n) statement.source(n, statement.argument(n + 1), Type::u32);
  take_members(statement, 3);
  statement.instruction.handler = &shuffle;
}

void decode_vote(Statement& statement) {
  if (!statement.has("sync")) statement.reject("a vote without its lanes");
  statement.instruction.mode = statement.has("all")   ? all
                               : statement.has("any") ? any
                               : statement.has("uni") ? uniform
                                                      : ballot;
  if (statement.instruction.mode == ballot)
    statement.destination(0, statement.argument(0), Type::b32);
  else
    statement.predicate_destination(0, statement.argument(0));
  statement.predicate_source(0, statement.argument(1));
  take_members(statement, 1);
  statement.instruction.handler = &vote;
}

void decode_match(Statement& statement) {
  const Type type = statement.type();
  statement.destination_with_predicate(statement.argument(0), Type::b32);
  statement.source(0, statement.argument(1), type);
  take_members(statement, 1);
  if (statement.has("all"))
    statement.instruction.handler = size_of(type) == 8 ? &match<std::uint64_t, true> : &match<std::uint32_t, true>;
  else
    statement.instruction.handler = size_of(type) == 8 ? &match<std::uint64_t, false> : &match<std::uint32_t, false>;
}

void decode_warp_reduction(Statement& statement) {
  const Type type = statement.type();
  const auto operation = atomic_operation_of(statement);
  if (!operation || is_single_or_double(type)) statement.reject("unknown reduction");
  statement.instruction.operation = *operation;
  statement.destination(0, statement.argument(0), type);
  statement.source(0, statement.argument(1), type);
  take_members(statement, 1);
  statement.instruction.handler = type == Type::s32 ? &reduce<std::int32_t> : &reduce<std::uint32_t>;
}

void decode_election(Statement& statement) {
  statement.destination_with_predicate(statement.argument(0), Type::b32);
  take_members(statement, 0);
  statement.instruction.handler = &elect;
}

void decode_active_mask(Statement& statement) {
  statement.destination(0, statement.argument(0), Type::u32);
  statement.instruction.handler = &set_active_mask;
}

} // namespace ptxrun
