#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Decoded instructions: a handler that executes an instruction for the lanes of a mask, and what that handler has to know. The parser
// fills an Instruction once; warps execute it many times, so that whatever can be decided from the text alone is decided there.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ptxrun {

struct Warp;
struct Instruction;

enum class Type : std::uint8_t {
  none,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
  predicate
};

[[nodiscard]] constexpr std::size_t size_of(Type type) {
  switch (type) {
  case Type::b8:
  case Type::u8:
  case Type::s8:
    return 1;
  case Type::b16:
  case Type::u16:
  case Type::s16:
  case Type::f16:
  case Type::bf16:
    return 2;
  case Type::b64:
  case Type::u64:
  case Type::s64:
  case Type::f64:
    return 8;
  case Type::b128:
    return 16;
  default:
    return 4;
  }
}
[[nodiscard]] constexpr bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
/// Floating-point numbers of 16 bits, alone or in pairs.
[[nodiscard]] constexpr bool is_half(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2;
}
[[nodiscard]] constexpr bool is_single_or_double(Type type) { return type == Type::f32 || type == Type::f64; }
[[nodiscard]] constexpr bool is_scalar_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || is_single_or_double(type);
}
/// `none` for an unknown name.
[[nodiscard]] Type type_of(std::string_view name);

enum class Space : std::uint8_t { generic, global, shared, local, parameter, constant };

/// How an access orders others: weak ones race; strong ones (`.volatile`, `.relaxed`, atomics) do not race with one another.
enum class Ordering : std::uint8_t { weak, relaxed, acquire, release, acquire_release };

/// What an instruction does beside its handler's work, which the warp has to see to.
enum class Flow : std::uint8_t { next, branch, indexed_branch, exit, barrier, arrive, warp_wide, fail };

enum class Rounding : std::uint8_t {
  nearest,
  zero,
  down,
  up,
  nearest_integral,
  zero_integral,
  down_integral,
  up_integral
};

enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan };

/// How a comparison's result meets a predicate, and how lanes' predicates meet each other.
enum class Combination : std::uint8_t { none, conjunction, disjunction, exclusive };

enum class AtomicOperation : std::uint8_t {
  add,
  min,
  max,
  conjunction,
  disjunction,
  exclusive,
  exchange,
  compare_exchange,
  increment,
  decrement
};

/// A register, or a constant that is stored once for each lane like a register. A predicate is one mask for all lanes.
struct Operand {
  std::uint32_t offset = 0; ///< bytes from the bank's begin; the register's number until slots are assigned
  std::uint8_t bank = 0;    ///< 0: registers; 1: constants
  std::uint8_t shift = 2;   ///< log2 of the bytes from lane to lane
  bool is_ignored = false;  ///< the destination `_`
};

using Handler = void (*)(Warp&, const Instruction&, std::uint32_t mask);

struct Instruction {
  Handler handler = nullptr;
  Flow flow = Flow::next;
  bool is_guarded = false;
  bool guard_is_negated = false;
  std::uint32_t guard = 0;      ///< like Operand::offset
  std::uint32_t target = 0;     ///< of a branch
  std::uint32_t rank = 0;       ///< of lanes that branched apart, those at the lowest go on first
  std::uint64_t executions = 0; ///< by threads

  std::array<Operand, 8> destinations{};
  std::array<Operand, 10> sources{};
  std::uint8_t destination_count = 0;
  std::uint8_t source_count = 0;
  std::uint8_t member_source = 0; ///< of a warp-wide instruction: the source that names the lanes

  std::int64_t immediate = 0; ///< an address's offset, a table, a barrier's number
  Type type = Type::none;
  Type source_type = Type::none;
  Space space = Space::generic;
  Ordering ordering = Ordering::weak;
  Rounding rounding = Rounding::nearest;
  Comparison comparison = Comparison::eq;
  Combination combination = Combination::none;
  AtomicOperation operation = AtomicOperation::add;
  std::uint8_t vector = 1; ///< elements of a memory access
  std::uint8_t mode = 0;   ///< a variant, by the handler's own numbers
  bool flushes = false;    ///< .ftz
  bool saturates = false;  ///< .sat
  bool is_relu = false;
  bool is_aligned = false;        ///< all lanes of the warp execute it together
  bool source_is_negated = false; ///< the predicate source
  bool has_address_register = false;
  bool counts = false; ///< a barrier that names the number of its threads

  std::uint32_t line = 0;     ///< of the module's text
  std::uint32_t location = 0; ///< of Kernel::locations
  std::string_view text{};
  /// Of an indexed branch; of a call: where its result and its parameters are stored in local memory.
  std::vector<std::uint32_t> targets{};
};

} // namespace ptxrun
