// SPDX-License-Identifier: Apache-2.0
//
// Conversions between numbers: sign extension, rounding, saturation.

#include "ptxrun/instructions/families.hpp"
#include "ptxrun/instructions/floats.hpp"
#include "ptxrun/instructions/half_formats.hpp"
#include "ptxrun/instructions/handlers.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace ptxrun {
namespace {

/// Integers: the result's bits, extended to the register by the sign of its type.
template <class D, class S> void convert_integer(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const Operand &to = instruction.destinations[0], &from = instruction.sources[0];
  if (instruction.saturates) {
    using Exact = __int128_t;
    for_lanes_in_order(mask, [&](int lane) {
      const auto value = static_cast<Exact>(static_cast<S>(bits_of(warp, from, lane)));
      const auto low = static_cast<Exact>(std::numeric_limits<D>::min()),
                 high = static_cast<Exact>(std::numeric_limits<D>::max());
      set_bits(warp, to, lane, extended(static_cast<D>(std::clamp(value, low, high))));
    });
  } else if (from.shift == 3 && to.shift == 2) { // one loop for each pair of widths
    const auto source = values<std::uint64_t>(warp, from);
    const auto result = values<std::uint32_t>(warp, to);
    for_lanes(mask, [&](int lane) {
      result[lane] = static_cast<std::uint32_t>(extended(static_cast<D>(static_cast<S>(source[lane]))));
    });
  } else if (from.shift == 2 && to.shift == 3) {
    const auto source = values<std::uint32_t>(warp, from);
    const auto result = values<std::uint64_t>(warp, to);
    for_lanes(mask, [&](int lane) { result[lane] = extended(static_cast<D>(static_cast<S>(source[lane]))); });
  } else if (from.shift == 2) {
    const auto source = values<std::uint32_t>(warp, from);
    const auto result = values<std::uint32_t>(warp, to);
    for_lanes(mask, [&](int lane) {
      result[lane] = static_cast<std::uint32_t>(extended(static_cast<D>(static_cast<S>(source[lane]))));
    });
  } else {
    const auto source = values<std::uint64_t>(warp, from);
    const auto result = values<std::uint64_t>(warp, to);
    for_lanes(mask, [&](int lane) { result[lane] = extended(static_cast<D>(static_cast<S>(source[lane]))); });
  }
}

double read_float(Type type, std::uint64_t bits, bool flushes) {
  switch (type) {
  case Type::f16:
    return widen<Half>(static_cast<std::uint16_t>(bits));
  case Type::bf16:
    return widen<Bfloat16>(static_cast<std::uint16_t>(bits));
  case Type::f32: {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return flushes ? flush(value) : value;
  }
  default:
    return std::bit_cast<double>(bits);
  }
}

/// Rounds to `type`. The host's rounding mode is set by the caller, which halves do not heed.
std::uint64_t write_float(const Instruction& instruction, double value) {
  if (instruction.saturates) value = saturate(value);
  if (instruction.is_relu && value < 0) value = 0;
  switch (instruction.type) {
  case Type::f16:
    return narrow<Half>(value, instruction.rounding);
  case Type::bf16:
    return narrow<Bfloat16>(value, instruction.rounding);
  case Type::f32: {
    const volatile double exact = value; // so that the conversion is not moved to where another rounding mode is set
    const auto rounded = static_cast<float>(exact);
    return std::bit_cast<std::uint32_t>(canonical(instruction.flushes ? flush(rounded) : rounded));
  }
  default:
    return std::bit_cast<std::uint64_t>(value);
  }
}

void convert_float(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const RoundingScope scope{instruction.rounding};
  for_lanes_in_order(mask, [&](int lane) {
    const double value =
        read_float(instruction.source_type, bits_of(warp, instruction.sources[0], lane), instruction.flushes);
    set_bits(warp, instruction.destinations[0], lane,
             write_float(instruction, to_integral(value, instruction.rounding)));
  });
}

template <class S> void convert_integer_to_float(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const RoundingScope scope{instruction.rounding};
  for_lanes_in_order(mask, [&](int lane) {
    const volatile S value = static_cast<S>(bits_of(warp, instruction.sources[0], lane));
    std::uint64_t bits = 0;
    if (instruction.type == Type::f32) { // straight from 64 bits, rounded once
      const auto rounded = static_cast<float>(value);
      bits = std::bit_cast<std::uint32_t>(instruction.saturates ? saturate(rounded) : rounded);
    } else {
      bits = write_float(instruction, static_cast<double>(value));
    }
    set_bits(warp, instruction.destinations[0], lane, bits);
  });
}

/// Values out of range give the nearest one; NaN gives zero, but 2^31 and 2^63 from double and to 64 bits (as measured on devices).
template <class D> void convert_float_to_integer(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const double low = static_cast<double>(std::numeric_limits<D>::min()),
               above = std::ldexp(1.0, std::numeric_limits<D>::digits);
  const bool is_double = instruction.source_type == Type::f64;
  const std::uint64_t of_nan = sizeof(D) == 8 ? std::uint64_t{1} << 63 : sizeof(D) == 4 && is_double ? 0x80000000U : 0;
  for_lanes_in_order(mask, [&](int lane) {
    const double value = to_integral(
        read_float(instruction.source_type, bits_of(warp, instruction.sources[0], lane), instruction.flushes),
        instruction.rounding);
    std::uint64_t bits = of_nan;
    if (value < low)
      bits = extended(std::numeric_limits<D>::min());
    else if (value >= above)
      bits = extended(std::numeric_limits<D>::max());
    else if (value == value)
      bits = extended(static_cast<D>(value));
    set_bits(warp, instruction.destinations[0], lane, bits);
  });
}

/// Two floats become a pair, the first in the upper half.
template <class Format> void convert_to_pair(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const auto result = values<std::uint32_t>(warp, instruction.destinations[0]);
  const auto upper = values<float>(warp, instruction.sources[0]), lower = values<float>(warp, instruction.sources[1]);
  const auto half = [&](float x) {
    return std::uint32_t{narrow<Format>(instruction.is_relu && x < 0 ? 0.0F : x, instruction.rounding)};
  };
  for_lanes_in_order(mask, [&](int lane) { result[lane] = half(upper[lane]) << 16 | half(lower[lane]); });
}

} // namespace

void decode_conversion(Statement& statement) {
  Instruction& instruction = statement.instruction;
  const Type type = statement.type();
  if (statement.types.size() != 2 || statement.has("pack")) statement.reject("unknown conversion");
  if (type == Type::f16x2 || type == Type::bf16x2) {
    statement.destination(0, statement.argument(0), Type::b32);
    statement.source(0, statement.argument(1), Type::f32);
    statement.source(1, statement.argument(2), Type::f32);
    instruction.handler = type == Type::f16x2 ? &convert_to_pair<Half> : &convert_to_pair<Bfloat16>;
    return;
  }
  instruction.source_type = statement.types[1];
  statement.destination_of_any_width(0, statement.argument(0), type);
  statement.source_of_any_width(0, statement.argument(1), instruction.source_type);
  const bool to_float = is_scalar_float(type), from_float = is_scalar_float(instruction.source_type);
  if (to_float && from_float)
    instruction.handler = &convert_float;
  else if (to_float)
    instruction.handler =
        for_integers(instruction.source_type, []<class S>() -> Handler { return &convert_integer_to_float<S>; });
  else if (from_float)
    instruction.handler = for_integers(type, []<class D>() -> Handler { return &convert_float_to_integer<D>; });
  else
    instruction.handler = for_integers(type, [&]<class D>() -> Handler {
      return for_integers(instruction.source_type, []<class S>() -> Handler { return &convert_integer<D, S>; });
    });
}

} // namespace ptxrun
