// SPDX-License-Identifier: Apache-2.0
//
// Bits: logic, shifts, fields, permutations of bytes, counts.

#include "ptxrun/instructions/families.hpp"
#include "ptxrun/instructions/handlers.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace ptxrun {
namespace {

template <class T> inline constexpr std::uint32_t width_of = 8 * sizeof(T);

// Shifts by the width and more empty a value, or fill it with its sign.
template <class T> T shift_left(T a, std::uint32_t by) {
  return by >= width_of<T> ? T{0} : static_cast<T>(Wrapping<T>(a) << by);
}
template <class T> T shift_right(T a, std::uint32_t by) {
  if (by < width_of<T>) return static_cast<T>(a >> by);
  return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
}

std::uint64_t joined(std::uint32_t low, std::uint32_t high) { return std::uint64_t{high} << 32 | low; }
std::uint32_t funnel_left(std::uint32_t low, std::uint32_t high, std::uint32_t by) { // by at most 32
  return by == 32 ? low : static_cast<std::uint32_t>(joined(low, high) << by >> 32);
}
std::uint32_t funnel_right(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
  return static_cast<std::uint32_t>(joined(low, high) >> by);
}
template <auto Shift> std::uint32_t wrapped(std::uint32_t a, std::uint32_t b, std::uint32_t by) {
  return Shift(a, b, by % 32);
}
template <auto Shift> std::uint32_t clamped(std::uint32_t a, std::uint32_t b, std::uint32_t by) {
  return Shift(a, b, std::min(by, 32U));
}

/// A field from `at` on; beyond the value's end, and of signed values beyond the field, stands its highest bit.
template <class T> T extract_field(T a, std::uint32_t at, std::uint32_t length) {
  using U = std::make_unsigned_t<T>;
  at &= 255;
  length &= 255;
  if (length == 0) return T{0};
  constexpr std::uint32_t width = width_of<T>;
  const bool is_filled = std::is_signed_v<T> && ((static_cast<U>(a) >> std::min(at + length - 1, width - 1)) & 1) != 0;
  const U fill = is_filled ? static_cast<U>(~U{0}) : U{0};
  const std::uint32_t real = at >= width ? 0 : std::min(length, width - at);
  const U keep = real == width ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << real) - 1);
  const U field = at >= width ? U{0} : static_cast<U>(static_cast<U>(a) >> at);
  return static_cast<T>((field & keep) | (fill & static_cast<U>(~keep)));
}

template <class T> T insert_field(T field, T into, std::uint32_t at, std::uint32_t length) {
  at &= 255;
  length &= 255;
  if (at >= width_of<T> || length == 0) return into;
  const T ones = length >= width_of<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  const T mask = static_cast<T>(ones << at);
  return static_cast<T>((into & ~mask) | ((field << at) & mask));
}

std::uint32_t mask_clamped(std::uint32_t at, std::uint32_t length) {
  if (at >= 32) return 0;
  return static_cast<std::uint32_t>(((std::uint64_t{1} << std::min(length, 32U)) - 1) << at);
}
std::uint32_t mask_wrapped(std::uint32_t at, std::uint32_t length) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << (length % 32)) - 1) << (at % 32));
}

/// The table's bit for each triple of bits.
std::uint32_t look_up(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t result = 0;
  for (std::uint32_t n = 0; n < 8; ++n)
    if (((table >> n) & 1) != 0) result |= ((n & 4) != 0 ? a : ~a) & ((n & 2) != 0 ? b : ~b) & ((n & 1) != 0 ? c : ~c);
  return result;
}

enum Permutation : std::uint8_t {
  by_selector,
  forward_4,
  backward_4,
  replicate_8,
  edge_left,
  edge_right,
  replicate_16
};

std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t selector, std::uint8_t mode) {
  std::uint32_t result = 0;
  for (std::uint32_t n = 0; n < 4; ++n) {
    const std::uint32_t s = selector & 3;
    std::uint32_t from = 0;
    switch (mode) {
    case by_selector:
      from = (selector >> (4 * n)) & 7;
      break;
    case forward_4:
      from = s + n;
      break;
    case backward_4:
      from = (s + 8 - n) % 8;
      break;
    case replicate_8:
      from = s;
      break;
    case edge_left:
      from = std::max(s, n);
      break;
    case edge_right:
      from = std::min(s, n);
      break;
    default:
      from = (s & 1) * 2 + (n & 1);
      break;
    }
    std::uint32_t byte = static_cast<std::uint32_t>(joined(a, b) >> (8 * from)) & 255;
    if (mode == by_selector && ((selector >> (4 * n)) & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0; // its sign
    result |= byte << (8 * n);
  }
  return result;
}

template <class T> T reverse(T a) {
  T result = 0;
  for (std::uint32_t n = 0; n < width_of<T>; ++n) result = static_cast<T>(result << 1 | ((a >> n) & 1));
  return result;
}

/// The place of the highest bit that differs from the sign, or its distance from the top.
template <class T, bool IsDistance> std::uint32_t find_bit(T a) {
  using U = std::make_unsigned_t<T>;
  const auto magnitude = static_cast<U>(std::is_signed_v<T> && a < 0 ? ~a : a);
  if (magnitude == 0) return ~std::uint32_t{0};
  const auto zeros = static_cast<std::uint32_t>(std::countl_zero(magnitude));
  return IsDistance ? zeros : width_of<T> - 1 - zeros;
}

using Word = std::uint32_t;

template <class F> void permuting(Warp& warp, const Instruction& instruction, std::uint32_t mask, F&& f) {
  const auto result = values<Word>(warp, instruction.destinations[0]);
  const auto a = values<Word>(warp, instruction.sources[0]), b = values<Word>(warp, instruction.sources[1]),
             c = values<Word>(warp, instruction.sources[2]);
  for_lanes(mask, [&](int lane) { result[lane] = f(a[lane], b[lane], c[lane]); });
}

template <class T> void inserting(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto result = values<T>(warp, instruction.destinations[0]);
  const auto field = values<T>(warp, instruction.sources[0]), into = values<T>(warp, instruction.sources[1]);
  const auto at = values<Word>(warp, instruction.sources[2]), length = values<Word>(warp, instruction.sources[3]);
  for_lanes(mask, [&](int lane) { result[lane] = insert_field<T>(field[lane], into[lane], at[lane], length[lane]); });
}

enum PredicateLogic : std::uint8_t { both, either, differing, opposite };

void combine_predicates(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t a = predicate(warp, instruction.sources[0]);
  const std::uint32_t b = instruction.source_count > 1 ? predicate(warp, instruction.sources[1]) : 0;
  const std::uint32_t result = instruction.mode == both        ? a & b
                               : instruction.mode == either    ? a | b
                               : instruction.mode == differing ? a ^ b
                                                               : ~a;
  set_predicate(warp, instruction.destinations[0], result, mask);
}

void decode_predicate_logic(Statement& statement) {
  statement.predicate_destination(0, statement.argument(0));
  statement.predicate_source(0, statement.argument(1));
  if (statement.opcode != "not") statement.predicate_source(1, statement.argument(2));
  statement.instruction.mode = statement.opcode == "and"   ? both
                               : statement.opcode == "or"  ? either
                               : statement.opcode == "xor" ? differing
                                                           : opposite;
  statement.instruction.handler = &combine_predicates;
}

} // namespace

void decode_logic(Statement& statement) {
  const Type type = statement.type();
  if (type == Type::predicate) return decode_predicate_logic(statement);
  statement.all(type);
  Instruction& instruction = statement.instruction;
  if (statement.opcode == "and")
    instruction.handler = for_bits(
        type, []<class T>() -> Handler { return &binary<T, T, T, [](T a, T b) { return static_cast<T>(a & b); }>; });
  else if (statement.opcode == "or")
    instruction.handler = for_bits(
        type, []<class T>() -> Handler { return &binary<T, T, T, [](T a, T b) { return static_cast<T>(a | b); }>; });
  else if (statement.opcode == "xor")
    instruction.handler = for_bits(
        type, []<class T>() -> Handler { return &binary<T, T, T, [](T a, T b) { return static_cast<T>(a ^ b); }>; });
  else if (statement.opcode == "not")
    instruction.handler =
        for_bits(type, []<class T>() -> Handler { return &unary<T, T, [](T a) { return static_cast<T>(~a); }>; });
  else
    instruction.handler = for_bits(
        type, []<class T>() -> Handler { return &unary<T, T, [](T a) { return static_cast<T>(a == 0); }>; }); // cnot
}

void decode_shift(Statement& statement) {
  const Type type = statement.type();
  statement.destination(0, statement.argument(0), type);
  statement.source(0, statement.argument(1), type);
  statement.source(1, statement.argument(2), Type::u32);
  statement.instruction.handler =
      statement.opcode == "shl"
          ? for_bits(type, []<class T>() -> Handler { return &binary<T, T, Word, &shift_left<T>>; })
          : for_integers(type, []<class T>() -> Handler { return &binary<T, T, Word, &shift_right<T>>; });
}

void decode_funnel_shift(Statement& statement) {
  statement.all(Type::b32);
  const bool wraps = statement.has("wrap");
  if (statement.has("l"))
    statement.instruction.handler = wraps ? &ternary<Word, Word, Word, Word, &wrapped<&funnel_left>>
                                          : &ternary<Word, Word, Word, Word, &clamped<&funnel_left>>;
  else
    statement.instruction.handler = wraps ? &ternary<Word, Word, Word, Word, &wrapped<&funnel_right>>
                                          : &ternary<Word, Word, Word, Word, &clamped<&funnel_right>>;
}

void decode_look_up(Statement& statement) {
  statement.destination(0, statement.argument(0), Type::b32);
  for (std::size_t n = 0; n < 3; ++n) statement.source(n, statement.argument(n + 1), Type::b32);
  statement.instruction.immediate =
      static_cast<std::int64_t>(to_constant(statement.argument(4), Type::u32).value_or(0));
  statement.instruction.handler = [](Warp& warp, const Instruction& instruction, std::uint32_t mask) {
    permuting(warp, instruction, mask, [table = static_cast<Word>(instruction.immediate)](Word a, Word b, Word c) {
      return look_up(a, b, c, table);
    });
  };
}

void decode_permutation(Statement& statement) {
  statement.all(Type::b32);
  statement.instruction.mode = statement.has("f4e")    ? forward_4
                               : statement.has("b4e")  ? backward_4
                               : statement.has("rc8")  ? replicate_8
                               : statement.has("ecl")  ? edge_left
                               : statement.has("ecr")  ? edge_right
                               : statement.has("rc16") ? replicate_16
                                                       : by_selector;
  statement.instruction.handler = [](Warp& warp, const Instruction& instruction, std::uint32_t mask) {
    permuting(warp, instruction, mask,
              [mode = instruction.mode](Word a, Word b, Word c) { return permute(a, b, c, mode); });
  };
}

void decode_field(Statement& statement) {
  const Type type = statement.type();
  if (statement.opcode == "bfe") {
    statement.destination(0, statement.argument(0), type);
    statement.source(0, statement.argument(1), type);
    statement.source(1, statement.argument(2), Type::u32);
    statement.source(2, statement.argument(3), Type::u32);
    statement.instruction.handler =
        for_integers(type, []<class T>() -> Handler { return &ternary<T, T, Word, Word, &extract_field<T>>; });
  } else if (statement.opcode == "bfi") {
    statement.destination(0, statement.argument(0), type);
    statement.source(0, statement.argument(1), type);
    statement.source(1, statement.argument(2), type);
    statement.source(2, statement.argument(3), Type::u32);
    statement.source(3, statement.argument(4), Type::u32);
    statement.instruction.handler = size_of(type) == 8 ? &inserting<std::uint64_t> : &inserting<Word>;
  } else { // bmsk
    statement.all(Type::b32);
    statement.instruction.handler =
        statement.has("wrap") ? &binary<Word, Word, Word, &mask_wrapped> : &binary<Word, Word, Word, &mask_clamped>;
  }
}

void decode_bit_count(Statement& statement) {
  const Type type = statement.type();
  const bool is_wide = size_of(type) == 8, is_reversal = statement.opcode == "brev";
  statement.destination(0, statement.argument(0), is_reversal ? type : Type::u32);
  statement.source(0, statement.argument(1), type);
  Instruction& instruction = statement.instruction;
  using Long = std::uint64_t;
  if (is_reversal)
    instruction.handler = is_wide ? &unary<Long, Long, &reverse<Long>> : &unary<Word, Word, &reverse<Word>>;
  else if (statement.opcode == "popc")
    instruction.handler = is_wide ? &unary<Word, Long, [](Long a) { return static_cast<Word>(std::popcount(a)); }>
                                  : &unary<Word, Word, [](Word a) { return static_cast<Word>(std::popcount(a)); }>;
  else if (statement.opcode == "clz")
    instruction.handler = is_wide ? &unary<Word, Long, [](Long a) { return static_cast<Word>(std::countl_zero(a)); }>
                                  : &unary<Word, Word, [](Word a) { return static_cast<Word>(std::countl_zero(a)); }>;
  else if (statement.has("shiftamt"))
    instruction.handler = for_integers(type, []<class T>() -> Handler { return &unary<Word, T, &find_bit<T, true>>; });
  else
    instruction.handler = for_integers(type, []<class T>() -> Handler { return &unary<Word, T, &find_bit<T, false>>; });
}

} // namespace ptxrun
