// SPDX-License-Identifier: Apache-2.0
//
// Moves between registers, packing and unpacking of vectors, addresses of variables, and conversions between address spaces.

#include "ptxrun/instructions/families.hpp"
#include "ptxrun/instructions/handlers.hpp"
#include "ptxrun/text.hpp"

#include <type_traits>

namespace ptxrun {
namespace {

void move_predicate(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  set_predicate(warp, instruction.destinations[0], predicate_source(warp, instruction, 0), mask);
}

template <class Whole, class Part> void pack(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto result = values<Whole>(warp, instruction.destinations[0]);
  for_lanes(mask, [&](int lane) {
    Whole whole = 0;
    for (std::size_t n = 0; n < sizeof(Whole) / sizeof(Part); ++n)
      whole = static_cast<Whole>(whole | static_cast<Whole>(values<Part>(warp, instruction.sources[n])[lane])
                                             << (8 * sizeof(Part) * n));
    result[lane] = whole;
  });
}

template <class Whole, class Part> void unpack(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto source = values<Whole>(warp, instruction.sources[0]);
  for_lanes(mask, [&](int lane) {
    const Whole whole = source[lane];
    for (std::size_t n = 0; n < sizeof(Whole) / sizeof(Part); ++n)
      if (!instruction.destinations[n].is_ignored)
        values<Part>(warp, instruction.destinations[n])[lane] = static_cast<Part>(whole >> (8 * sizeof(Part) * n));
  });
}

/// make.operator()<Whole, Part>()
template <class Make> Handler for_parts(std::size_t whole, std::size_t part, Make make) {
  if (whole == 8 && part == 4) return make.template operator()<std::uint64_t, std::uint32_t>();
  if (whole == 8 && part == 2) return make.template operator()<std::uint64_t, std::uint16_t>();
  if (whole == 8 && part == 1) return make.template operator()<std::uint64_t, std::uint8_t>();
  if (whole == 4 && part == 2) return make.template operator()<std::uint32_t, std::uint16_t>();
  if (whole == 4 && part == 1) return make.template operator()<std::uint32_t, std::uint8_t>();
  if (whole == 2 && part == 1) return make.template operator()<std::uint16_t, std::uint8_t>();
  return nullptr;
}

/// The address of a kernel's parameter, in the host's memory.
void move_parameter_address(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto begin = reinterpret_cast<std::uintptr_t>(warp.block->grid.launch.parameters);
  for_lanes(mask, [&](int lane) {
    set_bits(warp, instruction.destinations[0], lane, begin + static_cast<std::uint64_t>(instruction.immediate));
  });
}

void move_clock(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  // A loop that waits for a time to pass is not endless: reading the clock is a change.
  Grid& grid = warp.block->grid;
  ++grid.changes;
  const std::uint64_t time = ++grid.clock;
  for_lanes(mask, [&](int lane) { set_bits(warp, instruction.destinations[0], lane, time); });
}

std::uint64_t window(Warp& warp, Space space, int lane) {
  const Block& block = *warp.block;
  if (space == Space::shared) return reinterpret_cast<std::uintptr_t>(block.shared.get());
  if (space == Space::local)
    return reinterpret_cast<std::uintptr_t>(block.local.get()) +
           std::uint64_t{warp.thread(lane)} * block.grid.kernel.traits.local_bytes;
  return 0;
}

template <bool FromGeneric> void convert_address(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  for_lanes_in_order(mask, [&](int lane) {
    const std::uint64_t address = bits_of(warp, instruction.sources[0], lane),
                        begin = window(warp, instruction.space, lane);
    set_bits(warp, instruction.destinations[0], lane, FromGeneric ? address - begin : address + begin);
  });
}

void test_space(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const Grid& grid = warp.block->grid;
  std::uint32_t result = 0;
  for_lanes_in_order(mask, [&](int lane) {
    const std::uint64_t address = bits_of(warp, instruction.sources[0], lane);
    const bool is_shared = address - reinterpret_cast<std::uintptr_t>(warp.block->shared.get()) < grid.shared_bytes;
    const bool is_local = warp.block->local && address - reinterpret_cast<std::uintptr_t>(warp.block->local.get()) <
                                                   std::uint64_t{grid.kernel.traits.local_bytes} * grid.threads;
    const bool is_in_it = instruction.space == Space::shared   ? is_shared
                          : instruction.space == Space::local  ? is_local
                          : instruction.space == Space::global ? !is_shared && !is_local
                                                               : false;
    result |= static_cast<std::uint32_t>(is_in_it) << lane;
  });
  set_predicate(warp, instruction.destinations[0], result, mask);
}

} // namespace

Space space_of(const Statement& statement) {
  if (statement.has("global")) return Space::global;
  if (statement.has("shared") || statement.has("shared::cta")) return Space::shared;
  if (statement.has("local")) return Space::local;
  if (statement.has("param") || statement.has("param::entry") || statement.has("param::func")) return Space::parameter;
  if (statement.has("const")) return Space::constant;
  return Space::generic;
}

void decode_move(Statement& statement) {
  Instruction& instruction = statement.instruction;
  const Type type = statement.type();
  const std::string_view to = statement.argument(0), from = statement.argument(1);
  if (type == Type::predicate) {
    statement.predicate_destination(0, to);
    statement.predicate_source(0, from);
    instruction.handler = &move_predicate;
    return;
  }
  if (to.starts_with('{') || from.starts_with('{')) {
    const bool unpacks = to.starts_with('{');
    const std::vector<std::string_view> parts = elements(unpacks ? to : from);
    const std::size_t part_bytes = size_of(type) / parts.size();
    const Type part_type = part_bytes == 8 ? Type::b64 : Type::b32; // registers of 4 bytes hold narrow parts
    for (std::size_t n = 0; n < parts.size(); ++n) {
      if (unpacks)
        statement.destination(n, parts[n], part_type);
      else
        statement.source(n, parts[n], part_type);
    }
    if (unpacks)
      statement.source(0, from, type);
    else
      statement.destination(0, to, type);
    instruction.handler = for_parts(size_of(type), part_bytes, [&]<class Whole, class Part>() -> Handler {
      return unpacks ? &unpack<Whole, Part> : &pack<Whole, Part>;
    });
    return;
  }
  statement.destination(0, to, type);
  if (from == "%clock" || from == "%clock_hi" || from == "%clock64" || from == "%globaltimer" ||
      from == "%globaltimer_lo") {
    instruction.handler = &move_clock;
    return;
  }
  if (!statement.names.find_register(from) && !from.starts_with('%')) {
    if (const auto place = statement.names.find_place(from); place && place->space == Space::parameter) {
      instruction.immediate = static_cast<std::int64_t>(place->address);
      instruction.handler = &move_parameter_address;
      return;
    }
  }
  statement.source(0, from, type);
  instruction.handler = for_bits(type, []<class T>() -> Handler { return &unary<T, T, [](T a) { return a; }>; });
}

void decode_address_conversion(Statement& statement) {
  statement.destination(0, statement.argument(0), statement.type());
  statement.source(0, statement.argument(1), statement.type());
  statement.instruction.space = space_of(statement);
  statement.instruction.handler = statement.has("to") ? &convert_address<true> : &convert_address<false>;
}

void decode_space_test(Statement& statement) {
  statement.predicate_destination(0, statement.argument(0));
  statement.source_of_any_width(0, statement.argument(1), Type::b64);
  statement.instruction.space = space_of(statement);
  statement.instruction.handler = &test_space;
}

} // namespace ptxrun
