// SPDX-License-Identifier: Apache-2.0
#include <twill/core/half.hpp>

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

using twill::bfloat16;
using twill::half;

namespace {

// The value of a 16-bit pattern by its definition: (-1)^sign * 1.mantissa * 2^(exponent - bias).
double value_by_definition(std::uint16_t bits, int mantissa_bits, int bias) {
  const int exponent_bits = 15 - mantissa_bits;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1)
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

template <class T> constexpr int mantissa_bits_of = std::numeric_limits<T>::digits - 1;
template <class T> constexpr int bias_of = std::numeric_limits<T>::max_exponent - 1;

// Rounds to nearest, ties to even, by comparing with both neighbours in double arithmetic, which is exact here.
template <class T> std::uint16_t round_by_definition(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  const auto infinity = std::numeric_limits<T>::infinity().bits;
  std::uint16_t below = 0;
  for (int bit = 14; bit >= 0; --bit) { // the largest pattern whose value is not above
    const auto candidate = static_cast<std::uint16_t>(below | (1 << bit));
    if (candidate < infinity && value_by_definition(candidate, mantissa_bits_of<T>, bias_of<T>) <= magnitude)
      below = candidate;
  }
  const auto above = static_cast<std::uint16_t>(below + 1);
  const double low = value_by_definition(below, mantissa_bits_of<T>, bias_of<T>);
  const double high = above == infinity ? std::ldexp(1.0, std::numeric_limits<T>::max_exponent)
                                        : value_by_definition(above, mantissa_bits_of<T>, bias_of<T>);
  const double down = magnitude - low;
  const double up = high - magnitude;
  const std::uint16_t chosen = down < up ? below : up < down ? above : (below & 1) == 0 ? below : above;
  return static_cast<std::uint16_t>(sign | chosen);
}

template <class T> constexpr bool is_nan_pattern(std::uint16_t bits) {
  return (bits & 0x7fff) > std::numeric_limits<T>::infinity().bits;
}

} // namespace

TEMPLATE_TEST_CASE("every 16-bit pattern widens to the value that the format defines", "[core]", half, bfloat16) {
  for (int pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const float widened = TestType::from_bits(bits);
    const double expected = value_by_definition(bits, mantissa_bits_of<TestType>, bias_of<TestType>);
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(widened));
    } else {
      REQUIRE(static_cast<double>(widened) == expected);
      REQUIRE(std::signbit(widened) == std::signbit(expected));
    }
  }
}

TEMPLATE_TEST_CASE("every 16-bit pattern survives the way to float and double and back", "[core]", half, bfloat16) {
  for (int pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const TestType value = TestType::from_bits(bits);
    const TestType by_float{static_cast<float>(value)};
    const TestType by_double{static_cast<double>(static_cast<float>(value))};
    if (is_nan_pattern<TestType>(bits)) {
      REQUIRE(is_nan_pattern<TestType>(by_float.bits));
      REQUIRE(is_nan_pattern<TestType>(by_double.bits));
    } else {
      REQUIRE(by_float.bits == bits);
      REQUIRE(by_double.bits == bits);
    }
  }
}

TEMPLATE_TEST_CASE("values between two neighbours round to the nearer one, ties to even", "[core]", half, bfloat16) {
  const int largest = std::numeric_limits<TestType>::max().bits;
  for (int pattern = 0; pattern <= largest; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const auto next = static_cast<std::uint16_t>(pattern + 1);
    const double low = value_by_definition(bits, mantissa_bits_of<TestType>, bias_of<TestType>);
    const double high = pattern == largest ? std::ldexp(1.0, std::numeric_limits<TestType>::max_exponent)
                                           : value_by_definition(next, mantissa_bits_of<TestType>, bias_of<TestType>);
    const double tie = low + (high - low) / 2;
    const auto even = (bits & 1) == 0 ? bits : next;
    const float tie_as_float = static_cast<float>(tie);
    if (static_cast<double>(tie_as_float) == tie) { // below the smallest subnormal of float it is not
      REQUIRE(TestType{tie_as_float}.bits == even);
      REQUIRE(TestType{-tie_as_float}.bits == (even | 0x8000));
      REQUIRE(TestType{std::nextafter(tie_as_float, 0.0F)}.bits == bits);
      REQUIRE(TestType{std::nextafter(tie_as_float, std::numeric_limits<float>::infinity())}.bits == next);
    }
    REQUIRE(TestType{tie}.bits == even);
    REQUIRE(TestType{std::nextafter(tie, 0.0)}.bits == bits);
    REQUIRE(TestType{std::nextafter(tie, 1e300)}.bits == next);
  }
}

TEMPLATE_TEST_CASE("random floats round as the definition says", "[core]", half, bfloat16) {
  std::mt19937 engine{20240607};
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
    if (std::isnan(value)) {
      REQUIRE(is_nan_pattern<TestType>(TestType{value}.bits));
      continue;
    }
    const double magnitude = std::fabs(static_cast<double>(value));
    const bool beyond = magnitude >= std::ldexp(1.0, std::numeric_limits<TestType>::max_exponent);
    const auto expected =
        beyond ? static_cast<std::uint16_t>((value < 0 ? 0x8000 : 0) | std::numeric_limits<TestType>::infinity().bits)
               : round_by_definition<TestType>(value);
    REQUIRE(TestType{value}.bits == expected);
  }
}

TEST_CASE("hardware and software convert half alike", "[core]") {
  for (int pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const float run_time = half::from_bits(bits);
    const float software = twill::detail::half_value_in_software(bits);
    REQUIRE(std::bit_cast<std::uint32_t>(run_time) == std::bit_cast<std::uint32_t>(software));
  }
  std::mt19937 engine{7};
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
    REQUIRE(half{value}.bits == twill::detail::half_bits_in_software(value));
  }
}

TEST_CASE("a double is rounded once, not twice", "[core]") {
  // one part in 2^40 above a tie: a float cannot tell it from the tie
  REQUIRE(half{1.0 + 0x1p-11}.bits == half{1.0}.bits);
  REQUIRE(half{1.0 + 0x1p-11 + 0x1p-40}.bits == half{1.0}.bits + 1);
  REQUIRE(bfloat16{1.0 + 0x1p-8 + 0x1p-40}.bits == bfloat16{1.0}.bits + 1);
  REQUIRE(half{1e300}.bits == 0x7c00);
  REQUIRE(half{-1e300}.bits == 0xfc00);
  REQUIRE(half{-1e-300}.bits == 0x8000);
  REQUIRE(half{65519.999}.bits == 0x7bff);
  REQUIRE(half{65520.0}.bits == 0x7c00);
}

TEMPLATE_TEST_CASE("arithmetic gives the type itself, rounded once; mixed with wider numbers it gives float", "[core]",
                   half, bfloat16) {
  STATIC_REQUIRE(sizeof(TestType) == 2);
  STATIC_REQUIRE(std::is_trivially_copyable_v<TestType>);
  STATIC_REQUIRE(std::is_same_v<decltype(TestType{} + TestType{}), TestType>);
  STATIC_REQUIRE(std::is_same_v<decltype(-TestType{}), TestType>);
  STATIC_REQUIRE(std::is_same_v<decltype(TestType{} * 2), float>);
  STATIC_REQUIRE(std::is_same_v<decltype(TestType{} * 2.0F), float>);
  STATIC_REQUIRE(std::is_same_v<decltype(2.0 * TestType{}), double>);
  STATIC_REQUIRE(std::is_convertible_v<TestType, float>);
  STATIC_REQUIRE(!std::is_convertible_v<float, TestType>);
  STATIC_REQUIRE(float{TestType{1.5F} + TestType{2}} == 3.5F);
  STATIC_REQUIRE(TestType{3} / TestType{2} == TestType{1.5});
  STATIC_REQUIRE(TestType{1} < TestType{2});
  STATIC_REQUIRE(TestType{true} == TestType{1.0});
  STATIC_REQUIRE((-TestType{0.0F}).bits == 0x8000);
  STATIC_REQUIRE(std::numeric_limits<TestType>::quiet_NaN() != std::numeric_limits<TestType>::quiet_NaN());
  STATIC_REQUIRE(TestType{1.0F} + std::numeric_limits<TestType>::epsilon() != TestType{1.0F});
  STATIC_REQUIRE(TestType{1.0F} + std::numeric_limits<TestType>::epsilon() / TestType{2} == TestType{1.0F});
  STATIC_REQUIRE(std::numeric_limits<TestType>::denorm_min() > TestType{0});
  STATIC_REQUIRE(std::numeric_limits<TestType>::lowest() == -std::numeric_limits<TestType>::max());
  TestType sum{1};
  sum += TestType{2};
  sum *= TestType{4};
  sum -= TestType{2};
  sum /= TestType{5};
  REQUIRE(sum == 2.0F);
}

TEST_CASE("half and bfloat16 convert into each other through float", "[core]") {
  STATIC_REQUIRE(float{bfloat16{half{3.0F}}} == 3.0F);
  STATIC_REQUIRE(half{bfloat16{0x1p20F}}.bits == 0x7c00);
}
