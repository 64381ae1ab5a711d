// SPDX-License-Identifier: Apache-2.0
//
// Compares values bit by bit, or in units in the last place.

#include "tests/oracle/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

namespace oracle {
namespace {

template <class T> T element(const Values& values, std::size_t index) {
  T value;
  std::memcpy(&value, values.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// The number of representable values between two, counted through zero.
template <class Bits, class T> double steps_between(T a, T b) {
  const auto ordered = [](T value) {
    const auto bits = std::bit_cast<Bits>(value);
    constexpr auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    const auto magnitude = static_cast<double>(static_cast<Bits>(bits & static_cast<Bits>(~sign)));
    return (bits & sign) != 0 ? -magnitude : magnitude;
  };
  if constexpr (sizeof(Bits) == 8) {
    // doubles cannot count their own bits exactly: subtract as integers where the signs agree
    const auto x = std::bit_cast<std::int64_t>(a);
    const auto y = std::bit_cast<std::int64_t>(b);
    if ((x < 0) == (y < 0)) return std::abs(static_cast<double>(x - y));
  }
  return std::abs(ordered(a) - ordered(b));
}

template <class T, class Bits> bool close(T found, T expected, double steps, const Tolerance& t) {
  if (std::bit_cast<Bits>(found) == std::bit_cast<Bits>(expected)) return true;
  const auto x = static_cast<double>(found);
  const auto y = static_cast<double>(expected);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (x == 0 && y == 0) return t.zeros_are_equal;
  if (std::isinf(x) || std::isinf(y)) return x == y;
  return steps_between<Bits>(found, expected) <= steps || std::abs(x - y) <= t.absolute;
}

float float8_at(const Values& values, std::size_t i) {
  return values.type == DType::float8_e5m2 ? static_cast<float>(element<twill::float8_e5m2>(values, i))
                                           : static_cast<float>(element<twill::float8_e4m3fn>(values, i));
}
bool is_nan(const Values& values, std::size_t i) { return std::isnan(float8_at(values, i)); }

/// The parts of complex numbers: units in the last place of the absolute value, which the smaller part need not have right.
template <class T>
bool close_numbers(twill::Complex<T> found, twill::Complex<T> expected, double steps, const Tolerance& t) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const double size = std::hypot(static_cast<double>(expected.real()), static_cast<double>(expected.imag()));
  Tolerance parts = t;
  if (std::isfinite(size)) parts.absolute = std::max(t.absolute, steps * size * std::numeric_limits<T>::epsilon());
  return close<T, Bits>(found.real(), expected.real(), 0, parts) &&
         close<T, Bits>(found.imag(), expected.imag(), 0, parts);
}

bool close_at(const Values& found, const Values& expected, std::size_t i, const Tolerance& t) {
  switch (found.type) {
  case DType::float16:
    return close<half, std::uint16_t>(element<half>(found, i), element<half>(expected, i), t.narrow, t);
  case DType::bfloat16:
    return close<bfloat16, std::uint16_t>(element<bfloat16>(found, i), element<bfloat16>(expected, i), t.narrow, t);
  case DType::float32:
    return close<float, std::uint32_t>(element<float>(found, i), element<float>(expected, i), t.single, t);
  case DType::float64:
    return close<double, std::uint64_t>(element<double>(found, i), element<double>(expected, i), t.wide, t);
  case DType::complex64:
    return close_numbers(element<twill::complex64>(found, i), element<twill::complex64>(expected, i), t.single, t);
  case DType::complex128:
    return close_numbers(element<twill::complex128>(found, i), element<twill::complex128>(expected, i), t.wide, t);
  case DType::float8_e4m3fn:
  case DType::float8_e5m2:
    return found.bytes[i] == expected.bytes[i] || (is_nan(found, i) && is_nan(expected, i));
  default: {
    const std::size_t size = twill::size_of(found.type);
    return std::memcmp(found.bytes.data() + i * size, expected.bytes.data() + i * size, size) == 0;
  }
  }
}

template <class T> std::string text_of_complex(twill::Complex<T> z) {
  char buffer[80];
  std::snprintf(buffer, sizeof buffer, "%.17g%+.17gi", static_cast<double>(z.real()), static_cast<double>(z.imag()));
  return buffer;
}

std::string text_at(const Values& values, std::size_t i) {
  char buffer[64];
  const auto print = [&](double value) { std::snprintf(buffer, sizeof buffer, "%.17g", value); };
  switch (values.type) {
  case DType::boolean:
  case DType::uint8:
    return std::to_string(static_cast<int>(values.bytes[i]));
  case DType::int32:
    return std::to_string(element<std::int32_t>(values, i));
  case DType::int64:
    return std::to_string(element<std::int64_t>(values, i));
  case DType::int8:
    return std::to_string(element<std::int8_t>(values, i));
  case DType::int16:
    return std::to_string(element<std::int16_t>(values, i));
  case DType::uint16:
    return std::to_string(element<std::uint16_t>(values, i));
  case DType::uint32:
    return std::to_string(element<std::uint32_t>(values, i));
  case DType::uint64:
    return std::to_string(element<std::uint64_t>(values, i));
  case DType::float16:
    print(static_cast<double>(static_cast<float>(element<half>(values, i))));
    break;
  case DType::bfloat16:
    print(static_cast<double>(static_cast<float>(element<bfloat16>(values, i))));
    break;
  case DType::float32:
    print(static_cast<double>(element<float>(values, i)));
    break;
  case DType::float64:
    print(element<double>(values, i));
    break;
  default:
    return values.type == DType::complex64    ? text_of_complex(element<twill::complex64>(values, i))
           : values.type == DType::complex128 ? text_of_complex(element<twill::complex128>(values, i))
                                              : std::to_string(float8_at(values, i));
  }
  return buffer;
}

} // namespace

std::string difference(const Values& found, const Values& expected, const Tolerance& tolerance) {
  if (found.type != expected.type)
    return "the element type is " + std::string(name(found.type)) + ", expected " + std::string(name(expected.type));
  const Dims wanted = found.extents.rank > expected.extents.rank
                          ? with_leading_ones(expected.extents, found.extents.rank)
                          : expected.extents;
  if (found.extents != wanted) return "the shape is " + to_string(found.extents) + ", expected " + to_string(wanted);
  const auto count = static_cast<std::size_t>(found.extents.elements());
  for (std::size_t i = 0; i < count; ++i)
    if (!close_at(found, expected, i, tolerance))
      return "element " + std::to_string(i) + " of " + std::to_string(count) + " is " + text_at(found, i) +
             ", expected " + text_at(expected, i);
  return {};
}

} // namespace oracle
