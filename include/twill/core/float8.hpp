#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Two 8-bit floating types: `float8_e4m3fn` (4 bits of exponent, 3 of the fraction, NaN and no infinities, up to 448)
// and `float8_e5m2` (5 and 2 bits, infinities, up to 57344). They are storage: tensors hold, convert and copy them, and
// compute in a wider type. Conversions round once, to nearest with ties to even, with PyTorch's bits: a number beyond
// the largest, infinity too, becomes the largest of the first and infinite in the second. Source: Micikevicius et al.,
// "FP8 formats for deep learning" (2022). Read next: core/dtype.hpp.

#include <twill/core/half.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 {

/// A float of 8 bits, FractionBits of them of the fraction; with 3 it has no infinities.
template <int FractionBits>
requires(FractionBits == 2 || FractionBits == 3) struct Float8 {
  static constexpr int bias = FractionBits == 3 ? 7 : 15; ///< of the exponent
  static constexpr bool has_infinity = FractionBits == 2; ///< else numbers that are too large become the largest

  std::uint8_t bits = 0; ///< sign, exponent, fraction

  constexpr Float8() = default;
  /// Rounds to nearest, ties to even.
  constexpr explicit Float8(float value) : bits{round(value)} {}
  /// Rounds once, without a float in between.
  constexpr explicit Float8(double value) : Float8{detail::round_to_odd(value)} {}
  /// Rounds once, from any integer.
  template <std::integral T> constexpr explicit Float8(T value) : Float8{static_cast<double>(value)} {}

  /// The number that has these bits.
  [[nodiscard]] static constexpr Float8 from_bits(std::uint8_t bits) {
    Float8 result;
    result.bits = bits;
    return result;
  }

  /// Exact: every number of 8 bits is a float.
  constexpr operator float() const { // NOLINT: implicit on purpose
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80U) << 24;
    const std::uint32_t magnitude = bits & 0x7fU;
    constexpr std::uint32_t infinity = 0x7fU & ~((1U << FractionBits) - 1U);
    if (has_infinity ? magnitude > infinity : magnitude == 0x7fU) return std::bit_cast<float>(sign | 0x7fc00000U);
    if (has_infinity && magnitude == infinity) return std::bit_cast<float>(sign | 0x7f800000U);
    if (magnitude < (1U << FractionBits)) { // subnormal: multiples of the least number, which is a power of two
      constexpr std::uint32_t least = static_cast<std::uint32_t>(127 + 1 - bias - FractionBits) << 23;
      const float value = static_cast<float>(magnitude) * std::bit_cast<float>(least);
      return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
    }
    constexpr std::uint32_t shift = static_cast<std::uint32_t>(127 - bias) << 23;
    return std::bit_cast<float>(sign | ((magnitude << (23 - FractionBits)) + shift));
  }

private:
  [[nodiscard]] static constexpr std::uint8_t round(float value) {
    constexpr int dropped = 23 - FractionBits;
    constexpr std::uint32_t shift = static_cast<std::uint32_t>(127 - bias) << 23;
    constexpr std::uint32_t greatest = has_infinity ? 0x7cU : 0x7eU; // infinity, or the largest number
    const auto input = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (input >> 24) & 0x80U;
    const std::uint32_t magnitude = input & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return static_cast<std::uint8_t>(sign | 0x7fU);
    if (magnitude < shift + (1U << 23)) { // subnormal
      // adding a power of two lines the bits up, so that the addition itself rounds
      constexpr std::uint32_t power = static_cast<std::uint32_t>(127 + 1 - bias + dropped) << 23;
      const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(power);
      return static_cast<std::uint8_t>(sign | (std::bit_cast<std::uint32_t>(sum) - power));
    }
    const std::uint32_t odd = (magnitude >> dropped) & 1U;
    const std::uint32_t rounded = (magnitude - shift + ((1U << (dropped - 1)) - 1U) + odd) >> dropped;
    return static_cast<std::uint8_t>(sign | (rounded < greatest ? rounded : greatest));
  }
};

/// One of the two 8-bit floating types.
template <class T>
concept ByteFloat = std::same_as<T, Float8<2>> || std::same_as<T, Float8<3>>;

/// A floating type of 16 or 8 bits: it is stored, and computed with as float.
template <class T>
concept ShortFloat = NarrowFloat<T> || ByteFloat<T>;

}} // namespace twill::v0

namespace std {

template <int FractionBits> class numeric_limits<twill::Float8<FractionBits>> : public numeric_limits<float> {
  using Number = twill::Float8<FractionBits>;

public:
  static constexpr bool has_infinity = Number::has_infinity;
  static constexpr int digits = FractionBits + 1;
  static constexpr int digits10 = 0;
  static constexpr int max_digits10 = FractionBits == 3 ? 3 : 2;
  static constexpr int min_exponent = 2 - Number::bias;
  static constexpr int min_exponent10 = FractionBits == 3 ? -1 : -4;
  static constexpr int max_exponent = FractionBits == 3 ? 9 : 16;
  static constexpr int max_exponent10 = FractionBits == 3 ? 2 : 4;
  static constexpr Number min() noexcept { return Number::from_bits(1 << FractionBits); }
  static constexpr Number max() noexcept { return Number::from_bits(FractionBits == 3 ? 0x7e : 0x7b); }
  static constexpr Number lowest() noexcept { return Number::from_bits(FractionBits == 3 ? 0xfe : 0xfb); }
  static constexpr Number epsilon() noexcept { return Number{FractionBits == 3 ? 0.125F : 0.25F}; }
  static constexpr Number round_error() noexcept { return Number{0.5F}; }
  static constexpr Number infinity() noexcept { return Number::from_bits(has_infinity ? 0x7c : 0x7e); }
  static constexpr Number quiet_NaN() noexcept { return Number::from_bits(0x7f); }
  static constexpr Number signaling_NaN() noexcept { return Number::from_bits(FractionBits == 3 ? 0x7f : 0x7d); }
  static constexpr Number denorm_min() noexcept { return Number::from_bits(1); }
};

} // namespace std
