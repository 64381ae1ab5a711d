#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How NumPy writes the numbers of one array: the fewest digits that tell each value from its neighbours (at most eight
// after the point), all points below one another, scientific where the values span more than three decades.
// Read next: tensor/print.hpp.

#include <twill/core/dtype.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <vector>

namespace twill::inline v0::detail {

enum class Notation : unsigned char { positional, scientific };

template <std::floating_point F> [[nodiscard]] std::string shortest_digits(F value, Notation notation) {
  const auto format = notation == Notation::scientific ? std::chars_format::scientific : std::chars_format::fixed;
  char buffer[512];
  const auto written = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  return {buffer, written.ptr};
}

/// The 16-bit types: the fewest digits that convert back to the same value.
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

/// A number in three parts that are padded on their own: "-12", "5", "e+03".
struct NumberParts {
  std::string whole{};
  std::string fraction{};
  std::string exponent{};
};

template <FloatingScalar T> [[nodiscard]] NumberParts number_parts(T value, Notation notation) {
  constexpr std::size_t precision = 8;
  const auto split = [](const std::string& digits) {
    const std::size_t e = digits.find('e');
    const std::string mantissa = digits.substr(0, e);
    const std::size_t point = mantissa.find('.');
    return NumberParts{mantissa.substr(0, point), point == std::string::npos ? "" : mantissa.substr(point + 1),
                       e == std::string::npos ? "" : digits.substr(e)};
  };
  NumberParts parts = split(shortest_digits(value, notation));
  if (parts.fraction.size() > precision) {
    char buffer[512];
    const auto format = notation == Notation::scientific ? std::chars_format::scientific : std::chars_format::fixed;
    const auto written = std::to_chars(buffer, buffer + sizeof(buffer), static_cast<double>(value), format, 8);
    parts = split({buffer, written.ptr});
    while (!parts.fraction.empty() && parts.fraction.back() == '0') parts.fraction.pop_back();
  }
  return parts;
}

/// Puts words of one width, aligned to the right.
inline void pad_left(std::vector<std::string>& words) {
  std::size_t width = 0;
  for (const auto& word : words) width = word.size() > width ? word.size() : width;
  for (auto& word : words) word.insert(0, width - word.size(), ' ');
}

template <FloatingScalar T> [[nodiscard]] std::vector<std::string> formatted(const std::vector<T>& values) {
  double largest = 0;
  double smallest = 0;
  for (const T value : values) {
    const double magnitude = std::fabs(static_cast<double>(value));
    if (!std::isfinite(magnitude) || magnitude == 0) continue;
    if (largest == 0 || magnitude > largest) largest = magnitude;
    if (smallest == 0 || magnitude < smallest) smallest = magnitude;
  }
  const bool wide = largest >= 1e8 || (largest > 0 && (smallest < 1e-4 || largest / smallest > 1000));
  const Notation notation = wide ? Notation::scientific : Notation::positional;

  std::vector<NumberParts> numbers;
  std::size_t fraction_width = 0;
  for (const T value : values) {
    const bool finite = std::isfinite(static_cast<double>(value));
    numbers.push_back(finite ? number_parts(value, notation) : NumberParts{});
    fraction_width = numbers.back().fraction.size() > fraction_width ? numbers.back().fraction.size() : fraction_width;
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    if (std::isnan(value))
      words.emplace_back("nan");
    else if (std::isinf(value))
      words.emplace_back(value < 0 ? "-inf" : "inf");
    else {
      const auto& [whole, fraction, exponent] = numbers[i];
      const std::size_t missing = fraction_width - fraction.size();
      words.push_back(whole + "." + fraction + std::string(missing, wide ? '0' : ' ') + exponent);
    }
  }
  pad_left(words);
  return words;
}

[[nodiscard]] inline std::vector<std::string> formatted_booleans(const std::vector<unsigned char>& values) {
  std::vector<std::string> words;
  for (const unsigned char value : values) words.emplace_back(value != 0 ? "True" : "False");
  pad_left(words);
  return words;
}

template <std::integral T> [[nodiscard]] std::vector<std::string> formatted(const std::vector<T>& values) {
  std::vector<std::string> words;
  for (const T value : values) words.push_back(std::to_string(value));
  pad_left(words);
  return words;
}

} // namespace twill::inline v0::detail
