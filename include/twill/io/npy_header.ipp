#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/npy_header.hpp.

#include <twill/io/npy_header.hpp>

namespace twill::inline v0::io {
namespace detail {

TWILL_BODY NpyHeader NpyDictionary::read() {
  NpyHeader header{};
  bool has_type = false;
  bool has_order = false;
  bool has_shape = false;
  require('{');
  while (!take('}')) {
    const std::string_view key = string();
    require(':');
    if (key == "descr" && !std::exchange(has_type, true))
      read_type(header);
    else if (key == "fortran_order" && !std::exchange(has_order, true))
      header.is_column_major = truth();
    else if (key == "shape" && !std::exchange(has_shape, true))
      header.shape = shape();
    else
      refuse(join_text({"the header has '", key, "' twice, or should not have it"}));
    if (!take(',')) {
      require('}');
      break;
    }
  }
  skip_space();
  if (!text_.empty()) refuse("there is more behind the header's dictionary");
  if (!has_type || !has_order || !has_shape) refuse("the header lacks 'descr', 'fortran_order' or 'shape'");
  return header;
}

TWILL_BODY void NpyDictionary::skip_space() {
  while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n' || text_.front() == '\t'))
    text_.remove_prefix(1);
}

TWILL_BODY bool NpyDictionary::take(char wanted) {
  skip_space();
  if (text_.empty() || text_.front() != wanted) return false;
  text_.remove_prefix(1);
  return true;
}

TWILL_BODY void NpyDictionary::require(char wanted) {
  if (!take(wanted))
    refuse(join_text({"the header has '", text_.substr(0, 1), "' where '", std::string_view{&wanted, 1}, "' belongs"}));
}

TWILL_BODY std::string_view NpyDictionary::string() {
  skip_space();
  const char quote = text_.empty() ? '\0' : text_.front();
  if (quote != '\'' && quote != '"') refuse("the header has no text where some belongs");
  const std::size_t end = text_.find(quote, 1);
  if (end == std::string_view::npos) refuse("the header ends inside a text");
  const std::string_view inside = text_.substr(1, end - 1);
  text_.remove_prefix(end + 1);
  return inside;
}

TWILL_BODY bool NpyDictionary::truth() {
  skip_space();
  for (const std::string_view word : {std::string_view{"True"}, std::string_view{"False"}}) {
    if (!text_.starts_with(word)) continue;
    text_.remove_prefix(word.size());
    return word == "True";
  }
  refuse("'fortran_order' is neither True nor False");
}

TWILL_BODY void NpyDictionary::read_type(NpyHeader& header) {
  skip_space();
  if (text_.starts_with('['))
    throw ValueError(join_text({where_, " holds records of several fields; twill reads arrays of one element type"}));
  const std::string_view type = string();
  const bool has_order = !type.empty() && (type[0] == '<' || type[0] == '>' || type[0] == '|' || type[0] == '=');
  for (const auto& [text, dtype] : npy_types)
    if (type.substr(has_order ? 1 : 0) == text) {
      header.dtype = dtype;
      header.is_big_endian = type[0] == '>' && size_of(dtype) > 1;
      return;
    }
  throw ValueError(join_text({where_, " holds elements of type '", type, "', which twill does not have"}));
}

TWILL_BODY Dims NpyDictionary::shape() {
  Dims dims{};
  require('(');
  while (!take(')')) {
    const std::int64_t extent = count();
    if (dims.rank == max_rank)
      throw ValueError(join_text({where_, " has more dimensions than ", max_rank, ", the most a tensor can have"}));
    dims[dims.rank++] = extent;
    if (!take(',')) {
      require(')');
      break;
    }
  }
  return dims;
}

TWILL_BODY std::int64_t NpyDictionary::count() {
  skip_space();
  std::int64_t value = 0;
  std::size_t digits = 0;
  for (; digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9'; ++digits)
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
        __builtin_add_overflow(value, std::int64_t{text_[digits] - '0'}, &value))
      refuse("an extent is larger than 2^63");
  if (digits == 0) refuse("an extent is no count");
  text_.remove_prefix(digits);
  if (text_.starts_with('L')) text_.remove_prefix(1); // as Python 2 wrote integers
  return value;
}

} // namespace detail

TWILL_BODY NpyHeader read_npy_header(std::string_view where, std::span<const std::byte> bytes) {
  const auto refuse = [&](std::string_view why) { throw ValueError(join_text({where, " is damaged: ", why})); };
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (!text.starts_with("\x93NUMPY")) throw ValueError(join_text({where, " is no .npy file: it begins otherwise"}));
  if (text.size() < 10) refuse(join_text({"it ends inside its header, after ", text.size(), " bytes"}));
  const auto number = [&](std::size_t at) { return static_cast<std::size_t>(std::to_integer<unsigned>(bytes[at])); };
  const std::size_t major = number(6);
  if (major < 1 || major > 3 || number(7) != 0)
    throw ValueError(join_text({where, " has version ", major, ".", number(7), ", known are 1.0, 2.0 and 3.0"}));
  const std::size_t start = major == 1 ? 10 : 12;
  if (text.size() < start) refuse(join_text({"it ends inside its header, after ", text.size(), " bytes"}));
  std::size_t length = number(8) | number(9) << 8;
  if (major > 1) length |= number(10) << 16 | number(11) << 24;
  if (length > text.size() - start) refuse(join_text({"a header of ", length, " bytes in a file of ", text.size()}));
  NpyHeader header = detail::NpyDictionary{where, text.substr(start, length)}.read();
  header.elements_at = start + length;
  static_cast<void>(checked_bytes(where, header.dtype, header.shape));
  return header;
}

TWILL_BODY std::string npy_header(DType dtype, const Dims& shape, bool is_column_major, bool leaves_room) {
  const std::string_view type = detail::npy_types[static_cast<std::size_t>(dtype)].first;
  std::string text =
      join_text({"{'descr': '", size_of(dtype) == 1 ? "|" : "<", type,
                 "', 'fortran_order': ", is_column_major ? "True" : "False", ", 'shape': ", to_string(shape), ", }"});
  constexpr std::size_t preamble = 10;
  constexpr std::size_t alignment = 64;
  const std::size_t room = leaves_room ? 20 - std::to_string(shape.rank > 0 ? shape[0] : 0).size() : 0;
  const std::size_t whole = (preamble + text.size() + room + 1 + alignment - 1) / alignment * alignment;
  text.resize(whole - preamble - 1, ' ');
  text += '\n';
  const auto low = static_cast<char>(text.size() & 0xff);
  const auto high = static_cast<char>(text.size() >> 8);
  return std::string{"\x93NUMPY\x01\x00", 8} + low + high + text;
}

} // namespace twill::inline v0::io
