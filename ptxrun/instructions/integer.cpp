// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic: add, sub, mul, mad, div, rem, min, max, abs, neg, and the chains with a carry.

#include "ptxrun/instructions/families.hpp"
#include "ptxrun/instructions/handlers.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>

namespace ptxrun {
namespace {

template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128_t, __uint128_t>,
                                std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

template <class T> T add(T a, T b) { return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b)); }
template <class T> T subtract(T a, T b) { return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b)); }
template <class T> T multiply(T a, T b) { return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b)); }
template <class T> T multiply_add(T a, T b, T c) {
  return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b) + Wrapping<T>(c));
}
template <class T> T multiply_high(T a, T b) { return static_cast<T>((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T))); }
template <class T> T multiply_high_add(T a, T b, T c) { return add<T>(multiply_high<T>(a, b), c); }
template <class T> T minimum(T a, T b) { return b < a ? b : a; }
template <class T> T maximum(T a, T b) { return a < b ? b : a; }

// Division by zero is unspecified in PTX; devices give all ones and the dividend.
template <class T> T divide(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return subtract<T>(0, a);
  return static_cast<T>(a / b);
}
template <class T> T remainder(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return 0;
  return static_cast<T>(a % b);
}

std::int32_t clamp(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, std::numeric_limits<std::int32_t>::min(),
                                                            std::numeric_limits<std::int32_t>::max()));
}
std::int32_t add_saturated(std::int32_t a, std::int32_t b) { return clamp(std::int64_t{a} + b); }
std::int32_t subtract_saturated(std::int32_t a, std::int32_t b) { return clamp(std::int64_t{a} - b); }

std::int32_t low_24(std::int32_t a) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << 8) >> 8; }
std::uint32_t low_24(std::uint32_t a) { return a & 0xffffff; }
template <class T> T multiply_24(T a, T b) { return static_cast<T>(Wide<T>(low_24(a)) * low_24(b)); }
template <class T> T multiply_24_high(T a, T b) { return static_cast<T>((Wide<T>(low_24(a)) * low_24(b)) >> 16); }
template <class T> T multiply_24_add(T a, T b, T c) { return add<T>(multiply_24<T>(a, b), c); }

/// The product of 16 or 32 bits in 32 or 64, and its sum with a third.
template <class D, class T> D product(T a, T b) { return static_cast<D>(D(a) * D(b)); }
template <class D, class T> D product_sum(T a, T b, D c) { return add<D>(product<D, T>(a, b), c); }

template <bool Subtracts, bool TakesCarry, bool SetsCarry, class T>
void chained_sum(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto result = values<T>(warp, instruction.destinations[0]);
  const auto a = values<T>(warp, instruction.sources[0]);
  const auto b = values<T>(warp, instruction.sources[1]);
  for_lanes_in_order(mask, [&](int lane) {
    using Exact = __uint128_t;
    const Exact carry = TakesCarry ? (warp.carry >> lane) & 1 : 0;
    const Exact sum = Subtracts ? Exact{a[lane]} - b[lane] - carry : Exact{a[lane]} + b[lane] + carry;
    result[lane] = static_cast<T>(sum);
    if (SetsCarry)
      warp.carry = (warp.carry & ~(std::uint32_t{1} << lane)) | (static_cast<std::uint32_t>(sum >> (8 * sizeof(T))) & 1)
                                                                    << lane;
  });
}

template <bool High, bool TakesCarry, bool SetsCarry, class T>
void chained_product_sum(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto result = values<T>(warp, instruction.destinations[0]);
  const auto a = values<T>(warp, instruction.sources[0]);
  const auto b = values<T>(warp, instruction.sources[1]);
  const auto c = values<T>(warp, instruction.sources[2]);
  for_lanes_in_order(mask, [&](int lane) {
    using Exact = __uint128_t;
    const Exact product = Exact{a[lane]} * b[lane];
    const Exact part = High ? product >> (8 * sizeof(T)) : static_cast<T>(product);
    const Exact sum = part + c[lane] + (TakesCarry ? (warp.carry >> lane) & 1 : 0);
    result[lane] = static_cast<T>(sum);
    if (SetsCarry)
      warp.carry = (warp.carry & ~(std::uint32_t{1} << lane)) | (static_cast<std::uint32_t>(sum >> (8 * sizeof(T))) & 1)
                                                                    << lane;
  });
}

template <bool Subtracts, class T> Handler chained_sum_handler(bool takes, bool sets) {
  if (takes) return sets ? &chained_sum<Subtracts, true, true, T> : &chained_sum<Subtracts, true, false, T>;
  return &chained_sum<Subtracts, false, true, T>;
}
template <bool High, class T> Handler chained_product_handler(bool takes, bool sets) {
  if (takes) return sets ? &chained_product_sum<High, true, true, T> : &chained_product_sum<High, true, false, T>;
  return &chained_product_sum<High, false, true, T>;
}

void decode_sum(Statement& statement, bool subtracts) {
  Instruction& instruction = statement.instruction;
  const Type type = statement.type();
  statement.all(type);
  const bool takes = statement.opcode == "addc" || statement.opcode == "subc", sets = statement.has("cc");
  if (takes || sets) {
    const bool is_wide = size_of(type) == 8;
    if (subtracts)
      instruction.handler = is_wide ? chained_sum_handler<true, std::uint64_t>(takes, sets)
                                    : chained_sum_handler<true, std::uint32_t>(takes, sets);
    else
      instruction.handler = is_wide ? chained_sum_handler<false, std::uint64_t>(takes, sets)
                                    : chained_sum_handler<false, std::uint32_t>(takes, sets);
  } else if (statement.has("sat")) {
    if (type != Type::s32) statement.reject("saturation of this type");
    using S = std::int32_t;
    instruction.handler = subtracts ? &binary<S, S, S, &subtract_saturated> : &binary<S, S, S, &add_saturated>;
  } else if (subtracts) {
    instruction.handler = for_bits(type, []<class T>() -> Handler { return &binary<T, T, T, &subtract<T>>; });
  } else {
    instruction.handler = for_bits(type, []<class T>() -> Handler { return &binary<T, T, T, &add<T>>; });
  }
}

Type widened(Type type) {
  switch (type) {
  case Type::u16:
    return Type::u32;
  case Type::s16:
    return Type::s32;
  case Type::u32:
    return Type::u64;
  case Type::s32:
    return Type::s64;
  default:
    return Type::none;
  }
}

void decode_wide(Statement& statement, bool adds) {
  const Type type = statement.type(), wide = widened(type);
  if (wide == Type::none) statement.reject("a wide product of this type");
  statement.destination(0, statement.argument(0), wide);
  statement.source(0, statement.argument(1), type);
  statement.source(1, statement.argument(2), type);
  if (adds) statement.source(2, statement.argument(3), wide);
  const auto handler = [&]<class D, class T>() -> Handler {
    return adds ? &ternary<D, T, T, D, &product_sum<D, T>> : &binary<D, T, T, &product<D, T>>;
  };
  statement.instruction.handler = type == Type::u16   ? handler.template operator()<std::uint32_t, std::uint16_t>()
                                  : type == Type::s16 ? handler.template operator()<std::int32_t, std::int16_t>()
                                  : type == Type::u32 ? handler.template operator()<std::uint64_t, std::uint32_t>()
                                                      : handler.template operator()<std::int64_t, std::int32_t>();
}

void decode_product(Statement& statement) {
  Instruction& instruction = statement.instruction;
  const Type type = statement.type();
  if (statement.has("wide")) return decode_wide(statement, false);
  statement.all(type);
  instruction.handler =
      statement.has("hi") ? for_integers(type, []<class T>() -> Handler { return &binary<T, T, T, &multiply_high<T>>; })
                          : for_bits(type, []<class T>() -> Handler { return &binary<T, T, T, &multiply<T>>; });
}

void decode_product_sum(Statement& statement) {
  Instruction& instruction = statement.instruction;
  const Type type = statement.type();
  if (statement.has("wide")) return decode_wide(statement, true);
  statement.all(type);
  const bool takes = statement.opcode == "madc", sets = statement.has("cc"), high = statement.has("hi");
  if (takes || sets) {
    if (is_signed(type) && high) statement.reject("a signed chain");
    const bool is_wide = size_of(type) == 8;
    if (high)
      instruction.handler = is_wide ? chained_product_handler<true, std::uint64_t>(takes, sets)
                                    : chained_product_handler<true, std::uint32_t>(takes, sets);
    else
      instruction.handler = is_wide ? chained_product_handler<false, std::uint64_t>(takes, sets)
                                    : chained_product_handler<false, std::uint32_t>(takes, sets);
    return;
  }
  instruction.handler =
      high ? for_integers(type, []<class T>() -> Handler { return &ternary<T, T, T, T, &multiply_high_add<T>>; })
           : for_bits(type, []<class T>() -> Handler { return &ternary<T, T, T, T, &multiply_add<T>>; });
}

template <class T> Handler handler_24(bool adds, bool high) {
  if (adds) return high ? nullptr : &ternary<T, T, T, T, &multiply_24_add<T>>;
  return high ? &binary<T, T, T, &multiply_24_high<T>> : &binary<T, T, T, &multiply_24<T>>;
}

void decode_24(Statement& statement) {
  const Type type = statement.type();
  statement.all(type);
  const bool adds = statement.opcode == "mad24", high = statement.has("hi");
  statement.instruction.handler =
      type == Type::u32 ? handler_24<std::uint32_t>(adds, high) : handler_24<std::int32_t>(adds, high);
}

template <auto Make> void decode_by_sign(Statement& statement) {
  statement.all(statement.type());
  statement.instruction.handler = for_integers(statement.type(), Make);
}

} // namespace

void decode_integer_sum(Statement& statement) { decode_sum(statement, statement.opcode.starts_with("sub")); }
void decode_integer_product(Statement& statement) { decode_product(statement); }
void decode_integer_product_sum(Statement& statement) { decode_product_sum(statement); }
void decode_product_of_24_bits(Statement& statement) { decode_24(statement); }
void decode_integer_quotient(Statement& statement) {
  decode_by_sign<[]<class T>() -> Handler { return &binary<T, T, T, &divide<T>>; }>(statement);
}
void decode_integer_remainder(Statement& statement) {
  decode_by_sign<[]<class T>() -> Handler { return &binary<T, T, T, &remainder<T>>; }>(statement);
}
void decode_integer_minimum(Statement& statement) {
  decode_by_sign<[]<class T>() -> Handler { return &binary<T, T, T, &minimum<T>>; }>(statement);
}
void decode_integer_maximum(Statement& statement) {
  decode_by_sign<[]<class T>() -> Handler { return &binary<T, T, T, &maximum<T>>; }>(statement);
}
void decode_integer_magnitude(Statement& statement) {
  decode_by_sign<[]<class T>() -> Handler { return &unary<T, T, [](T a) { return a < 0 ? subtract<T>(0, a) : a; }>; }>(
      statement);
}
void decode_integer_negation(Statement& statement) {
  decode_by_sign<[]<class T>() -> Handler { return &unary<T, T, [](T a) { return subtract<T>(0, a); }>; }>(statement);
}

} // namespace ptxrun
