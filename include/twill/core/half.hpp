#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Two 16-bit floating types: `half` (IEEE binary16) and `bfloat16` (the upper half of a float). They are storage: every
// operation widens to float, computes there and rounds once, to nearest with ties to even. Conversions work in constant
// expressions and give equal bits there, in software and in hardware; a NaN stays a NaN and becomes quiet.
// Read next: core/dtype.hpp.

#include <twill/core/config.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace twill { inline namespace v0 {

/// The bits of a double that a rounding to 16 bits does not need. When they are cut off and their union is set as the
/// next bit, the value is a float or too small or large for 16 bits, and rounds as it would with all of its bits.
/// Source: Boldo and Melquiond, "When double rounding is odd" (2005).
inline constexpr std::uint64_t rest_of_double = (std::uint64_t{1} << 40) - 1;

namespace detail {

[[nodiscard]] constexpr std::uint64_t rounded_to_odd(std::uint64_t bits) {
  return (bits & ~rest_of_double) | (((bits & rest_of_double) + rest_of_double) & (rest_of_double + 1));
}
[[nodiscard]] constexpr float round_to_odd(double value) {
  if (value > std::numeric_limits<float>::max()) return std::numeric_limits<float>::infinity();
  if (value < std::numeric_limits<float>::lowest()) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(std::bit_cast<double>(rounded_to_odd(std::bit_cast<std::uint64_t>(value))));
}

[[nodiscard]] constexpr std::uint16_t half_bits_in_software(float value) {
  const auto input = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((input >> 16) & 0x8000U);
  std::uint32_t magnitude = input & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U | ((magnitude >> 13) & 0x3ffU));
  if (magnitude >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7c00U); // at least 2^16
  if (magnitude < 0x38800000U) {                                                   // below 2^-14: subnormal
    // adding 0.5 lines the bits up, so that the addition itself rounds
    const auto aligned = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F);
    return static_cast<std::uint16_t>(sign | (aligned - 0x3f000000U));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  magnitude -= 112U << 23; // exponent bias 127 becomes 15
  magnitude += 0xfffU + odd;
  return static_cast<std::uint16_t>(sign | (magnitude >> 13));
}

[[nodiscard]] constexpr float half_value_in_software(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = bits & 0x7c00U;
  const std::uint32_t shifted = (bits & 0x7fffU) << 13;
  if (exponent == 0x7c00U) {
    const std::uint32_t quiet = (bits & 0x3ffU) != 0 ? 0x400000U : 0U;
    return std::bit_cast<float>(sign | 0x7f800000U | shifted | quiet);
  }
  if (exponent == 0) {
    // the mantissa as a float of exponent 2^-14, minus the implicit one
    const float value = std::bit_cast<float>(shifted + (113U << 23)) - std::bit_cast<float>(113U << 23);
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  return std::bit_cast<float>(sign | (shifted + (112U << 23)));
}

} // namespace detail

/// IEEE binary16: 11 significant bits, largest value 65504.
struct half {
  std::uint16_t bits = 0; ///< sign, 5 of the exponent, 10 of the fraction

  constexpr half() = default;
  /// Rounds to nearest, ties to even; values that are too large become infinite.
  TWILL_INLINE constexpr explicit half(float value) : bits{round(value)} {}
  /// Rounds once, without a float in between.
  constexpr explicit half(double value) : half{detail::round_to_odd(value)} {}
  /// Rounds once; integers beyond 65504 become infinite.
  template <std::integral T> constexpr explicit half(T value) : half{static_cast<double>(value)} {}

  /// The number that has these bits.
  [[nodiscard]] static constexpr half from_bits(std::uint16_t bits) {
    half result;
    result.bits = bits;
    return result;
  }

  // always inlined: files that are compiled for different instruction sets must not share the body
  /// Exact: every half is a float.
  TWILL_INLINE constexpr operator float() const {
#if TWILL_HARDWARE_HALF
    if (!std::is_constant_evaluated()) return static_cast<float>(std::bit_cast<_Float16>(bits));
#elif TWILL_DEVICE_CODE
    if (!std::is_constant_evaluated()) {
      float value;
      asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
      return value;
    }
#endif
    return detail::half_value_in_software(bits);
  }

private:
  [[nodiscard]] static TWILL_INLINE constexpr std::uint16_t round(float value) {
#if TWILL_HARDWARE_HALF
    if (!std::is_constant_evaluated()) return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
#elif TWILL_DEVICE_CODE
    if (!std::is_constant_evaluated()) {
      std::uint16_t rounded;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
      return rounded;
    }
#endif
    return detail::half_bits_in_software(value);
  }
};

/// The upper 16 bits of a float: its range, with 8 significant bits.
struct bfloat16 {
  std::uint16_t bits = 0; ///< the upper half of a float's

  constexpr bfloat16() = default;
  /// Rounds to nearest, ties to even; values that are too large become infinite.
  constexpr explicit bfloat16(float value) : bits{round(value)} {}
  /// Rounds once, without a float in between.
  constexpr explicit bfloat16(double value) : bfloat16{detail::round_to_odd(value)} {}
  /// Rounds once, from any integer.
  template <std::integral T> constexpr explicit bfloat16(T value) : bfloat16{static_cast<double>(value)} {}

  /// The number that has these bits.
  [[nodiscard]] static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 result;
    result.bits = bits;
    return result;
  }

  /// Exact: every bfloat16 is a float.
  constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

private:
  [[nodiscard]] static constexpr std::uint16_t round(float value) {
#if TWILL_DEVICE_CODE >= 800
    if (!std::is_constant_evaluated()) {
      std::uint16_t rounded;
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
      return rounded;
    }
#endif
    const auto input = std::bit_cast<std::uint32_t>(value);
    if ((input & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((input >> 16) | 0x40U);
    return static_cast<std::uint16_t>((input + 0x7fffU + ((input >> 16) & 1U)) >> 16);
  }
};

/// One of the two 16-bit floating types.
template <class T>
concept NarrowFloat = std::same_as<T, half> || std::same_as<T, bfloat16>;

// Comparisons need no code: both sides widen to float. A narrow operand with a float or an integer gives a float.
/// Computes in float and rounds the result once.
template <NarrowFloat T> [[nodiscard]] constexpr T operator+(T left, T right) { return T{float{left} + float{right}}; }
template <NarrowFloat T> [[nodiscard]] constexpr T operator-(T left, T right) { return T{float{left} - float{right}}; }
template <NarrowFloat T> [[nodiscard]] constexpr T operator*(T left, T right) { return T{float{left} * float{right}}; }
template <NarrowFloat T> [[nodiscard]] constexpr T operator/(T left, T right) { return T{float{left} / float{right}}; }
/// Flips the sign, also of NaN.
template <NarrowFloat T> [[nodiscard]] constexpr T operator-(T value) {
  return T::from_bits(static_cast<std::uint16_t>(value.bits ^ 0x8000U));
}
/// Computes in float and rounds the result once.
template <NarrowFloat T> constexpr T& operator+=(T& left, T right) { return left = left + right; }
template <NarrowFloat T> constexpr T& operator-=(T& left, T right) { return left = left - right; }
template <NarrowFloat T> constexpr T& operator*=(T& left, T right) { return left = left * right; }
template <NarrowFloat T> constexpr T& operator/=(T& left, T right) { return left = left / right; }

}} // namespace twill::v0

namespace std {

template <> class numeric_limits<twill::half> : public numeric_limits<float> {
public:
  static constexpr int digits = 11;
  static constexpr int digits10 = 3;
  static constexpr int max_digits10 = 5;
  static constexpr int min_exponent = -13;
  static constexpr int min_exponent10 = -4;
  static constexpr int max_exponent = 16;
  static constexpr int max_exponent10 = 4;
  static constexpr twill::half min() noexcept { return twill::half::from_bits(0x0400); }
  static constexpr twill::half max() noexcept { return twill::half::from_bits(0x7bff); }
  static constexpr twill::half lowest() noexcept { return twill::half::from_bits(0xfbff); }
  static constexpr twill::half epsilon() noexcept { return twill::half::from_bits(0x1400); }
  static constexpr twill::half round_error() noexcept { return twill::half::from_bits(0x3800); }
  static constexpr twill::half infinity() noexcept { return twill::half::from_bits(0x7c00); }
  static constexpr twill::half quiet_NaN() noexcept { return twill::half::from_bits(0x7e00); }
  static constexpr twill::half signaling_NaN() noexcept { return twill::half::from_bits(0x7d00); }
  static constexpr twill::half denorm_min() noexcept { return twill::half::from_bits(0x0001); }
};

template <> class numeric_limits<twill::bfloat16> : public numeric_limits<float> {
public:
  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
  static constexpr twill::bfloat16 min() noexcept { return twill::bfloat16::from_bits(0x0080); }
  static constexpr twill::bfloat16 max() noexcept { return twill::bfloat16::from_bits(0x7f7f); }
  static constexpr twill::bfloat16 lowest() noexcept { return twill::bfloat16::from_bits(0xff7f); }
  static constexpr twill::bfloat16 epsilon() noexcept { return twill::bfloat16::from_bits(0x3c00); }
  static constexpr twill::bfloat16 round_error() noexcept { return twill::bfloat16::from_bits(0x3f00); }
  static constexpr twill::bfloat16 infinity() noexcept { return twill::bfloat16::from_bits(0x7f80); }
  static constexpr twill::bfloat16 quiet_NaN() noexcept { return twill::bfloat16::from_bits(0x7fc0); }
  static constexpr twill::bfloat16 signaling_NaN() noexcept { return twill::bfloat16::from_bits(0x7fa0); }
  static constexpr twill::bfloat16 denorm_min() noexcept { return twill::bfloat16::from_bits(0x0001); }
};

} // namespace std
