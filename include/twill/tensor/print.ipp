#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/print.hpp.

#include <twill/tensor/print.hpp>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY std::vector<std::size_t> ArrayPrinter::shown() const {
  std::vector<std::size_t> places{0};
  for (int axis = 0; axis < extents_.rank; ++axis) {
    std::vector<std::size_t> next;
    for (const std::size_t place : places)
      for (std::int64_t i = 0; i < extents_[axis]; ++i)
        if (!cut(axis) || i < options_.edge_items || i >= extents_[axis] - options_.edge_items)
          next.push_back(place * static_cast<std::size_t>(extents_[axis]) + static_cast<std::size_t>(i));
    places = std::move(next);
  }
  return places;
}

TWILL_BODY std::string ArrayPrinter::print(std::vector<std::string> words) {
  if (extents_.elements() == 0) return "[]";
  words_ = std::move(words);
  return axis_text(0, " ", options_.line_width);
}

TWILL_BODY std::string ArrayPrinter::axis_text(int axis, const std::string& indent, int width) {
  const bool innermost = axis + 1 == extents_.rank;
  const std::int64_t count = cut(axis) ? 2 * options_.edge_items : extents_[axis];
  std::string text;
  std::string line = indent;
  const auto put = [&](const std::string& word) {
    if (line.size() > indent.size() && static_cast<int>(line.size() + word.size()) > width - 1) {
      while (line.back() == ' ') line.pop_back();
      text += line + "\n";
      line = indent;
    }
    line += word;
  };
  const std::string separator(static_cast<std::size_t>(extents_.rank - axis - 1), '\n');
  for (std::int64_t i = 0; i < count; ++i) {
    if (cut(axis) && i == options_.edge_items) {
      if (innermost) {
        put("...");
        line += ' ';
      } else {
        text += indent + "..." + separator;
      }
    }
    const bool last = i + 1 == count;
    if (innermost) {
      put(words_[next_++]);
      if (!last) line += ' ';
    } else {
      text += indent + axis_text(axis + 1, indent + " ", width - 1) + (last ? "" : separator);
    }
  }
  if (innermost) text += line;
  return "[" + text.substr(indent.size()) + "]";
}

TWILL_BODY std::string_view type_in_source(DType type) {
  constexpr std::string_view names[] = {"bool",
                                        "std::uint8_t",
                                        "int",
                                        "std::int64_t",
                                        "twill::half",
                                        "twill::bfloat16",
                                        "float",
                                        "double",
                                        "std::int8_t",
                                        "std::int16_t",
                                        "std::uint16_t",
                                        "std::uint32_t",
                                        "std::uint64_t",
                                        "twill::float8_e4m3fn",
                                        "twill::float8_e5m2",
                                        "twill::complex64",
                                        "twill::complex128"};
  return names[static_cast<int>(type)];
}

}}}} // namespace twill::v0::detail::TWILL_ISA
