#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Number formatting of arrays as in NumPy: the fewest digits that tell each value from its neighbours (at most eight
// after the point), points aligned, scientific notation where the values span more than three decades.
// Read next: tensor/print.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace twill { inline namespace v0 { namespace detail {

enum class Notation : unsigned char { positional, scientific };

template <std::floating_point F> [[nodiscard]] std::string shortest_digits(F value, Notation notation) {
  const auto format = notation == Notation::scientific ? std::chars_format::scientific : std::chars_format::fixed;
  char buffer[512];
  const auto written = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  return {buffer, written.ptr};
}

/// The types of 16 and 8 bits: the fewest digits that convert back to the same value.
template <class F>
requires(!std::floating_point<F>) [[nodiscard]] std::string shortest_digits(F value, Notation notation) {
  const auto wide = static_cast<float>(value);
  for (int digits = 0; digits < 8; ++digits) {
    char buffer[64];
    const auto written = std::to_chars(buffer, buffer + sizeof(buffer), wide, std::chars_format::scientific, digits);
    float rounded = 0;
    std::from_chars(buffer, written.ptr, rounded);
    if (static_cast<float>(static_cast<F>(rounded)) == wide) return shortest_digits(rounded, notation);
  }
  return shortest_digits(wide, notation);
}

/// A number in three parts that are padded separately: "-12", "5", "e+03".
struct NumberParts {
  std::string whole{};
  std::string fraction{};
  std::string exponent{};
};

[[nodiscard]] NumberParts split_number(const std::string& digits);

/// The fewest digits, at most `precision` of them after the point.
template <FloatingScalar T> [[nodiscard]] NumberParts number_parts(T value, Notation notation, int precision) {
  NumberParts parts = split_number(shortest_digits(value, notation));
  if (parts.fraction.size() > static_cast<std::size_t>(precision)) {
    char buffer[512];
    const auto format = notation == Notation::scientific ? std::chars_format::scientific : std::chars_format::fixed;
    const auto written = std::to_chars(buffer, buffer + sizeof(buffer), static_cast<double>(value), format, precision);
    parts = split_number({buffer, written.ptr});
    while (!parts.fraction.empty() && parts.fraction.back() == '0') parts.fraction.pop_back();
  }
  return parts;
}

/// A number with `digits` digits after the point, and an exponent.
[[nodiscard]] NumberParts number_to(double value, int digits);

/// Pads words to one width, aligned to the right.
void pad_left(std::vector<std::string>& words);

/// NaN and infinities as NumPy writes them.
[[nodiscard]] std::string not_finite(double value);

/// The magnitude from which numbers take exponents: the end of the digits of T. NumPy's rule since 2.3.
template <FloatingScalar T> inline constexpr double exponents_from = 1e8;
template <> inline constexpr double exponents_from<float> = 1e6;
template <> inline constexpr double exponents_from<half> = 1e3;
template <> inline constexpr double exponents_from<bfloat16> = 1e2;
template <> inline constexpr double exponents_from<float8_e4m3fn> = 1e3;
template <> inline constexpr double exponents_from<float8_e5m2> = 1e2;

/// Whether numbers with magnitudes between these two take exponents. Compared in T, as NumPy compares.
template <FloatingScalar T> [[nodiscard]] bool takes_exponents(double smallest, double largest, bool suppress) {
  const auto in_type = [](double value) { return static_cast<double>(static_cast<T>(value)); };
  if (largest == 0) return false;
  if (largest >= in_type(exponents_from<T>)) return true;
  return !suppress && (smallest < in_type(1e-4) || in_type(largest / smallest) > 1000);
}

template <FloatingScalar T>
[[nodiscard]] std::vector<std::string> formatted(const std::vector<T>& values, int precision, bool suppress) {
  double largest = 0;
  double smallest = 0;
  for (const T value : values) {
    const double magnitude = std::fabs(static_cast<double>(value));
    if (!std::isfinite(magnitude) || magnitude == 0) continue;
    if (largest == 0 || magnitude > largest) largest = magnitude;
    if (smallest == 0 || magnitude < smallest) smallest = magnitude;
  }
  const bool wide = takes_exponents<T>(smallest, largest, suppress);
  const Notation notation = wide ? Notation::scientific : Notation::positional;

  std::vector<NumberParts> numbers;
  std::size_t fraction_width = 0;
  std::size_t exponent_width = 0;
  for (const T value : values) {
    const bool finite = std::isfinite(static_cast<double>(value));
    numbers.push_back(finite ? number_parts(value, notation, precision) : NumberParts{});
    const NumberParts& parts = numbers.back();
    fraction_width = parts.fraction.size() > fraction_width ? parts.fraction.size() : fraction_width;
    exponent_width = parts.exponent.size() > exponent_width ? parts.exponent.size() : exponent_width;
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    if (!std::isfinite(value)) {
      words.push_back(not_finite(value));
      continue;
    }
    if (wide) { // all with the number of digits of the longest
      numbers[i] = number_to(value, static_cast<int>(fraction_width));
      numbers[i].exponent.insert(2, exponent_width - numbers[i].exponent.size(), '0'); // after "e+"
    }
    const auto& [whole, fraction, exponent] = numbers[i];
    words.push_back(whole + "." + fraction + std::string(fraction_width - fraction.size(), ' ') + exponent);
  }
  pad_left(words);
  return words;
}

/// A single number: all of its digits, exponents where T has no more digits, and below 1e-4.
template <FloatingScalar T> [[nodiscard]] std::string formatted_alone(T element) {
  const auto value = static_cast<double>(element);
  if (!std::isfinite(value)) return not_finite(value);
  const double magnitude = std::fabs(value);
  constexpr double most = std::is_same_v<T, double> ? 1e16 : exponents_from<T>;
  if (magnitude != 0 && (magnitude >= most || magnitude < 1e-4)) return shortest_digits(element, Notation::scientific);
  const std::string digits = shortest_digits(element, Notation::positional);
  return digits.find('.') == std::string::npos ? digits + ".0" : digits;
}
template <std::integral T> [[nodiscard]] std::string formatted_alone(T value) { return std::to_string(value); }

[[nodiscard]] std::vector<std::string> formatted_booleans(const std::vector<unsigned char>& values);

template <std::integral T>
[[nodiscard]] std::vector<std::string> formatted(const std::vector<T>& values, int /*precision*/, bool /*suppress*/) {
  std::vector<std::string> words;
  for (const T value : values) words.push_back(std::to_string(value));
  pad_left(words);
  return words;
}

/// Complex numbers of their parts, as words of real numbers: "1.+2.j".
[[nodiscard]] std::vector<std::string> joined_parts(std::vector<std::string> real, std::vector<std::string> imaginary);

/// A complex number of its parts: "(1+2j)", "2j".
[[nodiscard]] std::string joined_parts(std::string real, std::string imaginary);

template <ComplexScalar T>
[[nodiscard]] std::vector<std::string> formatted(const std::vector<T>& values, int precision, bool suppress) {
  std::vector<typename T::value_type> real, imaginary;
  for (const T value : values) {
    real.push_back(value.re);
    imaginary.push_back(value.im);
  }
  return joined_parts(formatted(real, precision, suppress), formatted(imaginary, precision, suppress));
}
template <ComplexScalar T> [[nodiscard]] std::string formatted_alone(T value) {
  return joined_parts(formatted_alone(value.re), formatted_alone(value.im));
}

}}} // namespace twill::v0::detail

#if TWILL_HEADER_ONLY
#include <twill/tensor/number_format.ipp>
#endif
