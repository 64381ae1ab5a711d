#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/npy.hpp.

#include <twill/core/promotion.hpp>
#include <twill/io/npy.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace twill { inline namespace v0 { namespace io {

namespace detail {

/// The claims of a header about its array.
struct NpyHeader {
  DType dtype = DType::float32;
  Dims shape{};
  bool is_column_major = false;  ///< "fortran_order"
  std::size_t swapped_bytes = 0; ///< of each number in the other byte order; 0 where none is
  std::size_t elements_at = 0;   ///< bytes before the elements
};

/// The names of element types without their byte order, by DType. NumPy itself has no bfloat16 and no floats of 8 bits:
/// their names are those that the package ml_dtypes gives them in files.
inline constexpr std::pair<std::string_view, DType> npy_types[]{
    {"b1", DType::boolean},    {"u1", DType::uint8},         {"i4", DType::int32},       {"i8", DType::int64},
    {"f2", DType::float16},    {"V2", DType::bfloat16},      {"f4", DType::float32},     {"f8", DType::float64},
    {"i1", DType::int8},       {"i2", DType::int16},         {"u2", DType::uint16},      {"u4", DType::uint32},
    {"u8", DType::uint64},     {"V1", DType::float8_e4m3fn}, {"f1", DType::float8_e5m2}, {"c8", DType::complex64},
    {"c16", DType::complex128}};

/// A reader of the Python dictionary in a header. Each function throws ValueError where something else stands.
class NpyDictionary {
public:
  NpyDictionary(std::string_view where, std::string_view text) : where_{where}, text_{text} {}

  [[nodiscard]] NpyHeader read();

private:
  [[noreturn]] void refuse(std::string_view why) const { throw ValueError(join_text({where_, " is damaged: ", why})); }
  void skip(std::string_view characters) {
    text_.remove_prefix(std::min(text_.find_first_not_of(characters), text_.size()));
  }
  [[nodiscard]] bool take(std::string_view wanted);
  void require(std::string_view wanted);
  [[nodiscard]] std::string_view string();
  void read_type(NpyHeader& header);
  [[nodiscard]] Dims shape();
  [[nodiscard]] std::int64_t count();

  std::string_view where_;
  std::string_view text_;
};

TWILL_BODY bool NpyDictionary::take(std::string_view wanted) {
  skip(" \n\t");
  if (!text_.starts_with(wanted)) return false;
  text_.remove_prefix(wanted.size());
  return true;
}

TWILL_BODY void NpyDictionary::require(std::string_view wanted) {
  if (!take(wanted)) refuse(join_text({"the header has '", text_.substr(0, 1), "' instead of '", wanted, "'"}));
}

TWILL_BODY NpyHeader NpyDictionary::read() {
  NpyHeader header{};
  bool has_type = false;
  bool has_order = false;
  bool has_shape = false;
  require("{");
  while (!take("}")) {
    const std::string_view key = string();
    require(":");
    if (key == "descr" && !std::exchange(has_type, true)) {
      read_type(header);
    } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
      header.is_column_major = take("True");
      if (!header.is_column_major && !take("False")) refuse("'fortran_order' is neither True nor False");
    } else if (key == "shape" && !std::exchange(has_shape, true)) {
      header.shape = shape();
    } else {
      refuse(join_text({"the header has '", key, "' twice, or it is not expected"}));
    }
    if (take(",")) continue;
    require("}");
    break;
  }
  skip(" \n\t");
  if (!text_.empty()) refuse("there is text after the header's dictionary");
  if (!has_type || !has_order || !has_shape) refuse("the header lacks 'descr', 'fortran_order' or 'shape'");
  return header;
}

TWILL_BODY std::string_view NpyDictionary::string() {
  skip(" \n\t");
  const char quote = text_.empty() ? '\0' : text_.front();
  if (quote != '\'' && quote != '"') refuse("the header lacks a string where one is expected");
  const std::size_t end = text_.find(quote, 1);
  if (end == std::string_view::npos) refuse("the header ends inside a string");
  const std::string_view inside = text_.substr(1, end - 1);
  text_.remove_prefix(end + 1);
  return inside;
}

TWILL_BODY void NpyDictionary::read_type(NpyHeader& header) {
  if (take("["))
    throw ValueError(join_text({where_, " holds records of several fields; twill reads arrays of one element type"}));
  const std::string_view type = string();
  const bool has_order = !type.empty() && std::string_view{"<>|="}.find(type[0]) != std::string_view::npos;
  for (const auto& [text, dtype] : npy_types)
    if (type.substr(has_order ? 1 : 0) == text) {
      header.dtype = dtype;
      const std::size_t number_bytes = size_of(real_type(dtype));
      header.swapped_bytes = type[0] == '>' && number_bytes > 1 ? number_bytes : 0;
      return;
    }
  throw ValueError(join_text({where_, " holds elements of type '", type, "', which twill does not have"}));
}

TWILL_BODY Dims NpyDictionary::shape() {
  Dims dims{};
  require("(");
  while (!take(")")) {
    const std::int64_t extent = count();
    if (dims.rank == max_rank)
      throw ValueError(join_text({where_, " has more dimensions than ", max_rank, ", the most a tensor can have"}));
    dims[dims.rank++] = extent;
    if (take(",")) continue;
    require(")");
    break;
  }
  return dims;
}

TWILL_BODY std::int64_t NpyDictionary::count() {
  skip(" \n\t");
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range) refuse("an extent is larger than 2^63");
  if (error != std::errc{} || text_[0] == '-') refuse("an extent is not a number from 0 on");
  text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
  if (text_.starts_with('L')) text_.remove_prefix(1); // as Python 2 wrote integers
  return value;
}

TWILL_BODY NpyHeader read_npy_header(std::string_view where, std::span<const std::byte> bytes) {
  const auto refuse = [&](std::string_view why) { throw ValueError(join_text({where, " is damaged: ", why})); };
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (!text.starts_with("\x93NUMPY"))
    throw ValueError(join_text({where, " is not a .npy file: it does not begin with \\x93NUMPY"}));
  if (text.size() < 10) refuse(join_text({"it ends inside its header, after ", text.size(), " bytes"}));
  const auto number = [&](std::size_t at) { return static_cast<std::size_t>(std::to_integer<unsigned>(bytes[at])); };
  const std::size_t major = number(6);
  if (major < 1 || major > 3 || number(7) != 0)
    throw ValueError(
        join_text({where, " has version ", major, ".", number(7), "; versions 1.0, 2.0 and 3.0 are supported"}));
  const std::size_t start = major == 1 ? 10 : 12;
  if (text.size() < start) refuse(join_text({"it ends inside its header, after ", text.size(), " bytes"}));
  std::size_t length = number(8) | number(9) << 8;
  if (major > 1) length |= number(10) << 16 | number(11) << 24;
  if (length > text.size() - start) refuse(join_text({"a header of ", length, " bytes in a file of ", text.size()}));
  NpyHeader header = NpyDictionary{where, text.substr(start, length)}.read();
  header.elements_at = start + length;
  static_cast<void>(checked_bytes(where, header.dtype, header.shape));
  return header;
}

/// Copies elements of `size` bytes from one order of axes to another, and reverses each `swapped` bytes, if any.
TWILL_BODY void reorder_elements(std::byte* to, const std::byte* from, const Dims& extents, const Dims& from_strides,
                                 std::size_t size, std::size_t swapped) {
  Dims index{};
  index.rank = extents.rank;
  std::int64_t at = 0;
  for (std::int64_t count = extents.elements(); count > 0; --count, to += size) {
    std::memcpy(to, from + static_cast<std::size_t>(at) * size, size);
    for (std::size_t part = 0; swapped != 0 && part < size; part += swapped)
      std::reverse(to + part, to + part + swapped);
    for (int axis = extents.rank - 1; axis >= 0; --axis) {
      at += from_strides[axis];
      if (++index[axis] < extents[axis]) break;
      at -= from_strides[axis] * extents[axis];
      index[axis] = 0;
    }
  }
}

/// The strides, in elements, of a column-major array.
[[nodiscard]] constexpr Dims column_major_strides(const Dims& extents) {
  Dims strides{};
  strides.rank = extents.rank;
  std::int64_t stride = 1;
  for (int axis = 0; axis < extents.rank; ++axis) {
    strides[axis] = stride;
    stride *= extents[axis];
  }
  return strides;
}

/// Whether row-major and column-major are one order.
[[nodiscard]] constexpr bool has_one_order(const Dims& extents) {
  int long_axes = 0;
  for (int axis = 0; axis < extents.rank; ++axis) long_axes += extents[axis] != 1;
  return long_axes <= 1 || extents.elements() == 0;
}

/// A tensor of these elements; shares them where it can.
TWILL_BODY nn::StoredTensor npy_tensor(std::string_view where, const NpyHeader& header,
                                       std::span<const std::byte> elements, std::shared_ptr<const void> owner) {
  const std::uint64_t bytes = checked_bytes(where, header.dtype, header.shape);
  if (elements.size() != bytes)
    throw ValueError(join_text({where, " is damaged: shape ", to_string(header.shape), " of ", name(header.dtype),
                                " has ", bytes, " bytes, the file has ", elements.size()}));
  require_truth_values(where, header.dtype, elements);
  const bool turns = header.is_column_major && !has_one_order(header.shape);
  if (!turns && header.swapped_bytes == 0) return {header.dtype, header.shape, elements, std::move(owner)};
  auto [result, data] = nn::StoredTensor::make(header.dtype, header.shape);
  const Dims strides = turns ? column_major_strides(header.shape) : contiguous_strides(header.shape);
  reorder_elements(data, elements.data(), header.shape, strides, size_of(header.dtype), header.swapped_bytes);
  return result;
}

} // namespace detail

TWILL_BODY std::string npy_header(DType dtype, const Dims& shape, ElementOrder order, bool leaves_room) {
  const std::string_view type = detail::npy_types[static_cast<std::size_t>(dtype)].first;
  std::string text = join_text({"{'descr': '", size_of(dtype) == 1 ? "|" : "<", type,
                                "', 'fortran_order': ", order == ElementOrder::column_major ? "True" : "False",
                                ", 'shape': ", to_string(shape), ", }"});
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

TWILL_BODY nn::StoredTensor parse_npy(std::string_view where, std::span<const std::byte> bytes,
                                      std::shared_ptr<const void> owner) {
  const detail::NpyHeader header = detail::read_npy_header(where, bytes);
  return detail::npy_tensor(where, header, bytes.subspan(header.elements_at), std::move(owner));
}

TWILL_BODY nn::StoredTensor load_npy(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  return parse_npy(join_text({"load_npy: '", path, "'"}), file->bytes(), file);
}

TWILL_BODY nn::StoredTensor in_order(const nn::StoredTensor& tensor, ElementOrder order) {
  if (order == ElementOrder::row_major || detail::has_one_order(tensor.shape)) return tensor;
  auto [result, data] = nn::StoredTensor::make(tensor.dtype, tensor.shape);
  Dims reversed{};
  Dims strides{};
  const Dims own = contiguous_strides(tensor.shape);
  reversed.rank = strides.rank = tensor.shape.rank;
  for (int axis = 0; axis < reversed.rank; ++axis) {
    reversed[axis] = tensor.shape[reversed.rank - 1 - axis];
    strides[axis] = own[reversed.rank - 1 - axis];
  }
  detail::reorder_elements(data, tensor.bytes.data(), reversed, strides, size_of(tensor.dtype), 0);
  return result;
}

TWILL_BODY void save_npy(const std::string& path, const nn::StoredTensor& tensor, NpyOptions options) {
  const nn::StoredTensor ordered = in_order(tensor, options.order);
  const std::string header = npy_header(tensor.dtype, tensor.shape, options.order);
  AtomicFile file{path};
  file.write(header);
  file.write(ordered.bytes);
  file.finish();
}

TWILL_BODY NpyWriter::NpyWriter(const std::string& path, DType dtype, const Dims& row) : file_{path}, dtype_{dtype} {
  if (row.rank == max_rank)
    throw ShapeError(join_text({"NpyWriter: rows have at most ", max_rank - 1, " dimensions, got ", row.rank}));
  shape_.rank = 1 + row.rank;
  for (int axis = 0; axis < row.rank; ++axis) shape_[axis + 1] = row[axis];
  shape_[0] = 1;
  static_cast<void>(checked_bytes("NpyWriter", dtype, shape_));
  shape_[0] = 0;
  file_.write(npy_header(dtype_, shape_, ElementOrder::row_major, true));
}

TWILL_BODY void NpyWriter::append(const nn::StoredTensor& rows) {
  Dims wanted = shape_;
  wanted[0] = rows.shape.rank > 0 ? rows.shape[0] : 0;
  if (rows.dtype != dtype_)
    throw ValueError(join_text({"NpyWriter: the file holds ", name(dtype_), ", the rows are ", name(rows.dtype)}));
  if (!(wanted == rows.shape))
    throw ShapeError(
        join_text({"NpyWriter: rows of the file make ", to_string(wanted), ", got ", to_string(rows.shape)}));
  file_.write(rows.bytes);
  shape_[0] += wanted[0];
}

TWILL_BODY void NpyWriter::finish() {
  file_.write_at(0, npy_header(dtype_, shape_, ElementOrder::row_major, true));
  file_.finish();
}

}}} // namespace twill::v0::io
