// SPDX-License-Identifier: Apache-2.0
//
// Atomic updates: atom, which returns the value before, and red, which does not.

#include "ptxrun/instructions/families.hpp"
#include "ptxrun/instructions/floats.hpp"
#include "ptxrun/instructions/half_formats.hpp"
#include "ptxrun/instructions/handlers.hpp"
#include "ptxrun/instructions/ordering.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace ptxrun {
namespace {

template <class T> T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T> T updated_integer(AtomicOperation operation, T old, T operand, T replacement) {
  using enum AtomicOperation;
  switch (operation) {
  case add:
    return static_cast<T>(Wrapping<T>(old) + Wrapping<T>(operand));
  case min:
    return std::min(old, operand);
  case max:
    return std::max(old, operand);
  case conjunction:
    return old & operand;
  case disjunction:
    return old | operand;
  case exclusive:
    return old ^ operand;
  case exchange:
    return operand;
  case compare_exchange:
    return old == operand ? replacement : old;
  case increment:
    return old >= operand ? T{0} : static_cast<T>(old + 1);
  case decrement:
    return old == 0 || old > operand ? operand : static_cast<T>(old - 1);
  }
  return old;
}

template <class T> T updated_float(AtomicOperation operation, T old, T operand) {
  switch (operation) {
  case AtomicOperation::add:
    return old + operand;
  case AtomicOperation::min:
    return minimum_number(old, operand);
  case AtomicOperation::max:
    return maximum_number(old, operand);
  default:
    return operand; // exchange
  }
}

template <class T> T updated(AtomicOperation operation, T old, T operand, T replacement) {
  if constexpr (std::is_floating_point_v<T>)
    return updated_float(operation, old, operand);
  else
    return updated_integer(operation, old, operand, replacement);
}

/// The memory of all elements at `address` is updated by `update(old, n)`, which returns the new value of element n.
template <class T, class Update>
void update_memory(Warp& warp, const Instruction& instruction, int lane, Update&& update) {
  const std::size_t count = instruction.vector;
  const Access access{AccessKind::atomic, sizeof(T) * count};
  std::byte* const place = instruction.space == Space::shared ? locate<Space::shared>(warp, instruction, lane, access)
                                                              : locate<Space::generic>(warp, instruction, lane, access);
  if (place == nullptr) return;
  bool changes = false;
  for (std::size_t n = 0; n < count; ++n) {
    T old;
    std::memcpy(&old, place + n * sizeof(T), sizeof(T));
    const T now = update(old, n);
    changes = changes || std::memcmp(&old, &now, sizeof(T)) != 0;
    std::memcpy(place + n * sizeof(T), &now, sizeof(T));
    if (n < instruction.destination_count && !instruction.destinations[n].is_ignored) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &old, sizeof(T));
      set_bits(warp, instruction.destinations[n], lane, bits);
    }
  }
  if (changes)
    ++warp.block->grid.changes;
  else
    poll(warp);
}

template <class F> void in_order(Warp& warp, const Instruction& instruction, std::uint32_t mask, F&& f) {
  GlobalRaces* const races = instruction.space == Space::shared ? nullptr : warp.block->grid.global_races.get();
  for_lanes_in_order(mask, [&](int lane) {
    const std::uint64_t address = races == nullptr ? 0 : address_of(warp, instruction, lane);
    if (races != nullptr) races->acquire(warp, address);
    if (races != nullptr) races->release(warp, lane, address, instruction.ordering);
    f(lane);
  });
}

template <class T> void atomic(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  in_order(warp, instruction, mask, [&](int lane) {
    const T replacement =
        instruction.source_count > 2 ? from_bits<T>(bits_of(warp, instruction.sources[2], lane)) : T{};
    update_memory<T>(warp, instruction, lane, [&](T old, std::size_t n) {
      const T operand = from_bits<T>(bits_of(warp, instruction.sources[1 + n], lane));
      return updated<T>(instruction.operation, old, operand, replacement);
    });
  });
}

template <class Format>
std::uint16_t updated_half(AtomicOperation operation, std::uint16_t old, std::uint16_t operand) {
  const double a = widen<Format>(old), b = widen<Format>(operand);
  return operation == AtomicOperation::add ? narrow<Format>(add_to_odd(a, b))
                                           : narrow<Format>(updated_float(operation, a, b));
}

/// T holds one number or two.
template <class Format, class T> void atomic_half(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  in_order(warp, instruction, mask, [&](int lane) {
    update_memory<T>(warp, instruction, lane, [&](T old, std::size_t n) {
      const auto operand = static_cast<std::uint32_t>(bits_of(warp, instruction.sources[1 + n], lane));
      std::uint32_t result = 0;
      for (std::size_t shift = 0; shift < 8 * sizeof(T); shift += 16)
        result |= std::uint32_t{updated_half<Format>(instruction.operation,
                                                     static_cast<std::uint16_t>(std::uint32_t{old} >> shift),
                                                     static_cast<std::uint16_t>(operand >> shift))}
                  << shift;
      return static_cast<T>(result);
    });
  });
}

} // namespace

std::optional<AtomicOperation> atomic_operation_of(const Statement& statement) {
  using enum AtomicOperation;
  static constexpr std::array<std::pair<std::string_view, AtomicOperation>, 10> names{{{"add", add},
                                                                                       {"min", min},
                                                                                       {"max", max},
                                                                                       {"and", conjunction},
                                                                                       {"or", disjunction},
                                                                                       {"xor", exclusive},
                                                                                       {"exch", exchange},
                                                                                       {"cas", compare_exchange},
                                                                                       {"inc", increment},
                                                                                       {"dec", decrement}}};
  for (const auto& [name, operation] : names)
    if (statement.has(name)) return operation;
  return std::nullopt;
}

void decode_atomic(Statement& statement) {
  Instruction& instruction = statement.instruction;
  const bool returns = statement.opcode == "atom";
  const Type type = statement.types.back();
  const auto operation = atomic_operation_of(statement);
  if (!operation) statement.reject("unknown operation");
  instruction.type = type;
  instruction.space = space_of(statement);
  instruction.operation = *operation;
  instruction.ordering = ordering_of(statement);
  if (instruction.ordering == Ordering::weak) instruction.ordering = Ordering::relaxed;
  const std::size_t first = returns ? 1 : 0;
  statement.address(statement.argument(first));
  const std::vector<std::string_view> operands = elements(statement.argument(first + 1));
  instruction.vector = static_cast<std::uint8_t>(operands.size());
  if (returns) {
    const std::vector<std::string_view> results = elements(statement.argument(0));
    for (std::size_t n = 0; n < results.size(); ++n) statement.destination(n, results[n], type);
  }
  for (std::size_t n = 0; n < operands.size(); ++n) statement.source(1 + n, operands[n], type);
  if (*operation == AtomicOperation::compare_exchange) statement.source(2, statement.argument(first + 2), type);
  switch (type) {
  case Type::f16:
    instruction.handler = &atomic_half<Half, std::uint16_t>;
    break;
  case Type::f16x2:
    instruction.handler = &atomic_half<Half, std::uint32_t>;
    break;
  case Type::bf16:
    instruction.handler = &atomic_half<Bfloat16, std::uint16_t>;
    break;
  case Type::bf16x2:
    instruction.handler = &atomic_half<Bfloat16, std::uint32_t>;
    break;
  default:
    instruction.handler = for_numbers(type, []<class T>() -> Handler { return &atomic<T>; });
    break;
  }
}

} // namespace ptxrun
