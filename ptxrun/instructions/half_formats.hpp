#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of 16 bits: IEEE half and bfloat16, by their bits. Conversions round once, in any of the four directions, without help of the
// host's instructions or rounding mode.

#include "ptxrun/instruction.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace ptxrun {

struct Half {
  static constexpr int mantissa_bits = 10, largest_exponent = 15, smallest_exponent = -14;
};
struct Bfloat16 {
  static constexpr int mantissa_bits = 7, largest_exponent = 127, smallest_exponent = -126;
};

template <class Format> [[nodiscard]] inline float widen(std::uint16_t bits) {
  if constexpr (Format::mantissa_bits == 7) {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
  } else {
    const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16, magnitude = bits & 0x7fffU;
    if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    if (magnitude >= 0x400) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
}

template <class Format> [[nodiscard]] inline std::uint16_t narrow(double value, Rounding rounding = Rounding::nearest) {
  constexpr int bits = Format::mantissa_bits;
  if (std::isnan(value)) return 0x7fff;
  const bool is_negative = std::signbit(value);
  const auto sign = static_cast<std::uint16_t>(is_negative ? 0x8000 : 0);
  constexpr std::uint16_t infinity = ((Format::largest_exponent * 2 + 1) << bits) & 0x7fff;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | infinity;
  if (magnitude == 0) return sign;
  // In units of the last place, where rounding is rounding to an integer.
  const int exponent = std::max(std::ilogb(magnitude), Format::smallest_exponent);
  const double scaled = std::ldexp(magnitude, bits - exponent);
  const double below = std::floor(scaled), rest = scaled - below;
  const bool away = rounding == Rounding::up     ? !is_negative && rest > 0
                    : rounding == Rounding::down ? is_negative && rest > 0
                    : rounding == Rounding::zero ? false
                                                 : rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0);
  const auto units = static_cast<std::uint32_t>(below) + (away ? 1 : 0);
  // Units of 2^bits and above begin with the implicit one; a carry moves into the exponent by itself.
  const auto biased = static_cast<std::uint32_t>(exponent - Format::smallest_exponent);
  const std::uint32_t result = (biased << bits) + units;
  if (result >= infinity) {
    const bool stays = rounding == Rounding::zero || (rounding == Rounding::up && is_negative) ||
                       (rounding == Rounding::down && !is_negative);
    return static_cast<std::uint16_t>(sign | (stays ? infinity - 1 : infinity));
  }
  return static_cast<std::uint16_t>(sign | result);
}

/// a + b with the last bit set where the sum is not exact (rounding to odd: Boldo and Melquiond, 2008), so that rounding it again to
/// fewer bits is right.
[[nodiscard]] inline double add_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  if (error == 0 || (std::bit_cast<std::uint64_t>(sum) & 1) != 0) return sum;
  return std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

} // namespace ptxrun
