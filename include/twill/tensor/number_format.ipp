#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/number_format.hpp.

#include <twill/tensor/number_format.hpp>

namespace twill { inline namespace v0 { namespace detail {

TWILL_BODY NumberParts split_number(const std::string& digits) {
  const std::size_t e = digits.find('e');
  const std::string mantissa = digits.substr(0, e);
  const std::size_t point = mantissa.find('.');
  return {mantissa.substr(0, point), point == std::string::npos ? "" : mantissa.substr(point + 1),
          e == std::string::npos ? "" : digits.substr(e)};
}

TWILL_BODY NumberParts number_to(double value, int digits) {
  char buffer[64];
  const auto written = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific, digits);
  return split_number({buffer, written.ptr});
}

TWILL_BODY void pad_left(std::vector<std::string>& words) {
  std::size_t width = 0;
  for (const auto& word : words) width = word.size() > width ? word.size() : width;
  for (auto& word : words) word.insert(0, width - word.size(), ' ');
}

TWILL_BODY std::string not_finite(double value) { return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf"; }

TWILL_BODY std::vector<std::string> formatted_booleans(const std::vector<unsigned char>& values) {
  std::vector<std::string> words;
  for (const unsigned char value : values) words.emplace_back(value != 0 ? " True" : "False");
  return words;
}

TWILL_BODY std::vector<std::string> joined_parts(std::vector<std::string> real, std::vector<std::string> imaginary) {
  for (std::string& word : imaginary) {
    word.erase(0, word.find_first_not_of(' '));
    if (word[0] != '-') word.insert(0, 1, '+');
  }
  pad_left(imaginary);
  for (std::size_t i = 0; i < real.size(); ++i) {
    std::string& word = imaginary[i];
    word.insert(word.find_last_not_of(' ') + 1, 1, 'j');
    real[i] += word;
  }
  return real;
}

TWILL_BODY std::string joined_parts(std::string real, std::string imaginary) {
  for (std::string* part : {&real, &imaginary})
    if (part->ends_with(".0")) part->resize(part->size() - 2);
  if (real == "0") return imaginary + "j";
  return "(" + real + (imaginary[0] == '-' ? "" : "+") + imaginary + "j)";
}

}}} // namespace twill::v0::detail
