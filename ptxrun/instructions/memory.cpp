// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores, alone and as vectors.

#include "ptxrun/access.hpp"
#include "ptxrun/global_races.hpp"
#include "ptxrun/instructions/families.hpp"
#include "ptxrun/instructions/handlers.hpp"
#include "ptxrun/instructions/ordering.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace ptxrun {
namespace {

/// The value of a load that failed: it should show in results.
template <class T> constexpr T unknown_value = static_cast<T>(0xA5A5A5A5A5A5A5A5);

template <class T, Space S> void load(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::size_t count = instruction.vector;
  const Access access{AccessKind::read, sizeof(T) * count};
  for_lanes_in_order(mask, [&](int lane) {
    const std::byte* const from = locate<S>(warp, instruction, lane, access);
    for (std::size_t n = 0; n < count; ++n) {
      T value = unknown_value<T>;
      if (from != nullptr) std::memcpy(&value, from + n * sizeof(T), sizeof(T));
      if (!instruction.destinations[n].is_ignored) set_bits(warp, instruction.destinations[n], lane, extended(value));
    }
  });
}

/// A parameter at a fixed place is one value for all lanes.
template <class T> void load_parameter(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  if (instruction.has_address_register) return load<T, Space::parameter>(warp, instruction, mask);
  const Access access{AccessKind::read, sizeof(T) * instruction.vector};
  const std::byte* const from = locate<Space::parameter>(warp, instruction, std::countr_zero(mask), access);
  for (std::size_t n = 0; n < instruction.vector; ++n) {
    T value = unknown_value<T>;
    if (from != nullptr) std::memcpy(&value, from + n * sizeof(T), sizeof(T));
    const Operand& to = instruction.destinations[n];
    if (to.is_ignored) continue;
    const std::uint64_t bits = extended(value);
    if (to.shift == 3)
      for_lanes(mask, [&, all = values<std::uint64_t>(warp, to)](int lane) { all[lane] = bits; });
    else
      for_lanes(mask,
                [&, all = values<std::uint32_t>(warp, to)](int lane) { all[lane] = static_cast<std::uint32_t>(bits); });
  }
}

template <class T, Space S> void store(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::size_t count = instruction.vector;
  if constexpr (S != Space::local) ++warp.block->grid.changes;
  for_lanes_in_order(mask, [&](int lane) {
    std::array<T, 8> value;
    for (std::size_t n = 0; n < count; ++n) value[n] = static_cast<T>(bits_of(warp, instruction.sources[1 + n], lane));
    const Access access{AccessKind::write, sizeof(T) * count, reinterpret_cast<const std::byte*>(value.data())};
    if (std::byte* const to = locate<S>(warp, instruction, lane, access); to != nullptr)
      std::memcpy(to, value.data(), access.bytes);
  });
}

template <class T> void load_in_order(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  poll(warp);
  load<T, Space::generic>(warp, instruction, mask);
  acquire(warp, instruction, mask);
}

template <class T> void store_in_order(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  release(warp, instruction, mask);
  store<T, Space::generic>(warp, instruction, mask);
}

template <class T> void load_shared_in_order(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  poll(warp);
  load<T, Space::shared>(warp, instruction, mask);
}

template <class T> Handler load_handler(const Instruction& instruction) {
  if (instruction.ordering != Ordering::weak) {
    if (instruction.space == Space::shared) return &load_shared_in_order<T>;
    if (instruction.space != Space::local) return &load_in_order<T>;
  }
  switch (instruction.space) {
  case Space::shared:
    return &load<T, Space::shared>;
  case Space::local:
    return &load<T, Space::local>;
  case Space::parameter:
    return &load<T, Space::parameter>;
  default:
    return &load<T, Space::generic>;
  }
}

template <class T> Handler store_handler(const Instruction& instruction) {
  switch (instruction.space) {
  case Space::shared:
    return &store<T, Space::shared>;
  case Space::local:
    return &store<T, Space::local>;
  case Space::parameter:
    return nullptr;
  default:
    return instruction.ordering == Ordering::weak ? &store<T, Space::generic> : &store_in_order<T>;
  }
}

std::uint8_t vector_of(const Statement& statement) {
  return statement.has("v8") ? 8 : statement.has("v4") ? 4 : statement.has("v2") ? 2 : 1;
}

/// Floating-point values move as bits.
Type as_bits(Type type) {
  if (is_half(type) || is_single_or_double(type))
    return size_of(type) == 2 ? Type::b16 : size_of(type) == 4 ? Type::b32 : Type::b64;
  return type;
}

} // namespace

void decode_load(Statement& statement) {
  Instruction& instruction = statement.instruction;
  const Type type = statement.type();
  instruction.space = space_of(statement);
  instruction.ordering = ordering_of(statement);
  instruction.vector = vector_of(statement);
  statement.address(statement.argument(1));
  const std::vector<std::string_view> destinations = elements(statement.argument(0));
  if (destinations.size() != instruction.vector) statement.reject("a vector of another length");
  for (std::size_t n = 0; n < destinations.size(); ++n) statement.destination_of_any_width(n, destinations[n], type);
  instruction.handler = for_integers(as_bits(type), [&]<class T>() -> Handler { return load_handler<T>(instruction); });
}

void decode_store(Statement& statement) {
  Instruction& instruction = statement.instruction;
  const Type type = statement.type();
  instruction.space = space_of(statement);
  instruction.ordering = ordering_of(statement);
  instruction.vector = vector_of(statement);
  statement.address(statement.argument(0));
  const std::vector<std::string_view> sources = elements(statement.argument(1));
  if (sources.size() != instruction.vector) statement.reject("a vector of another length");
  for (std::size_t n = 0; n < sources.size(); ++n) statement.source_of_any_width(n + 1, sources[n], type);
  instruction.handler = for_bits(type, [&]<class T>() -> Handler { return store_handler<T>(instruction); });
}

void decode_fence(Statement& statement) {
  statement.instruction.handler = [](Warp& warp, const Instruction&, std::uint32_t mask) {
    if (warp.block->grid.global_races) warp.block->grid.global_races->fence(warp, mask);
  };
}

} // namespace ptxrun
