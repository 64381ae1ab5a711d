#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a cell of a CSV file says as a number: by std::from_chars, so the language of the machine plays no part and every digit
// counts. Numbers too small for their type are zero, those too large, fractions where integers are wanted, and text are errors
// that name file, line, column and the text. Read next: io/csv.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/io/csv_cells.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace twill::inline v0::io {

/// The element types that text is read as.
template <class T>
concept CsvScalar = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint8_t>;

} // namespace twill::inline v0::io

namespace twill::inline v0::io::detail {

inline constexpr std::array<std::string_view, 7> missing_texts{"", "NA", "N/A", "NULL", "null", "None", "<NA>"};

/// Whether a cell says that there is no value.
[[nodiscard]] bool is_missing_text(std::string_view text);

/// How many bytes of a text are shown.
inline constexpr std::size_t most_shown = 40;

/// As much of a text as a message can bear, without characters that would spoil it.
[[nodiscard]] std::string shown(std::string_view text);

/// "line 3, column 2 ('width')".
[[nodiscard]] std::string place_of(std::string_view text, const CsvOptions& options, const CsvCell& cell);

/// Whether a number that does not fit its type is too close to zero: whether its first digit that is not 0 stands far behind
/// the point once the exponent has moved it.
[[nodiscard]] bool is_close_to_zero(std::string_view number);

/// Reads a whole text as a number. Returns std::errc{} if it is one of this type.
template <CsvScalar T> [[nodiscard]] std::errc number_of(std::string_view text, T& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1); // which from_chars does not know
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ptr != end) return std::errc::invalid_argument;
  if constexpr (std::floating_point<T>)
    if (result.ec == std::errc::result_out_of_range && is_close_to_zero(text)) {
      value = text.starts_with('-') ? -T{0} : T{0};
      return std::errc{};
    }
  return result.ec;
}

/// The number in a cell. throws: ValueError, `where` first, with line, column and text
template <CsvScalar T>
[[nodiscard]] T number_of(std::string_view where, std::string_view text, const CsvOptions& options,
                          const CsvCell& cell) {
  T value{};
  const std::errc error = number_of(cell.text, value);
  bool is_missing = false;
  if (error == std::errc{}) {
    if constexpr (std::floating_point<T>) is_missing = std::isnan(value);
    if (!is_missing) return value;
  } else {
    is_missing = is_missing_text(cell.text);
  }
  if constexpr (std::floating_point<T>)
    if (is_missing && options.missing == MissingValues::as_nan) return std::numeric_limits<T>::quiet_NaN();
  const std::string place = place_of(text, options, cell);
  const std::string content = shown(cell.text);
  const std::string_view type = name(dtype_of<T>);
  if (is_missing && options.missing == MissingValues::as_nan)
    throw ValueError(
        join_text({where, ", ", place, ": '", content, "' is a missing value, for which ", type, " has no NaN"}));
  if (is_missing)
    throw ValueError(join_text(
        {where, ", ", place, ": '", content, "' is a missing value; CsvOptions::missing = as_nan reads it as NaN"}));
  if (error == std::errc::result_out_of_range)
    throw ValueError(join_text({where, ", ", place, ": '", content, "' is outside the range of ", type}));
  throw ValueError(join_text({where, ", ", place, ": '", content, "' is not a number of type ", type}));
}

} // namespace twill::inline v0::io::detail

#if TWILL_HEADER_ONLY
#include <twill/io/csv_numbers.ipp>
#endif
