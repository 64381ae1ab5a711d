#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files: every element type twill has, row-major and column-major, little- and big-endian, all header versions.
// Files are mapped, so an array costs memory only where it is looked at (unless it has to be turned or swapped); what is
// written appears whole or not at all, and numpy.load reads it. Read next: io/npz.hpp.

#include <twill/core/config.hpp>
#include <twill/io/atomic_file.hpp>
#include <twill/io/mapped_file.hpp>
#include <twill/io/npy_header.hpp>
#include <twill/io/stored.hpp>
#include <twill/nn/stored_tensor.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

static_assert(std::endian::native == std::endian::little, "twill: npy: files are written little-endian");

namespace twill::inline v0::io::detail {

/// Copies elements of `size` bytes from one order of axes to another, and swaps their bytes if told to.
inline void reorder_elements(std::byte* to, const std::byte* from, const Dims& extents, const Dims& from_strides,
                             std::size_t size, bool swaps) {
  Dims index{};
  index.rank = extents.rank;
  std::int64_t at = 0;
  for (std::int64_t count = extents.elements(); count > 0; --count, to += size) {
    std::memcpy(to, from + static_cast<std::size_t>(at) * size, size);
    if (swaps) std::reverse(to, to + size);
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

/// True where row-major and column-major are the same.
[[nodiscard]] constexpr bool has_one_order(const Dims& extents) {
  int long_axes = 0;
  for (int axis = 0; axis < extents.rank; ++axis) long_axes += extents[axis] != 1;
  return long_axes <= 1 || extents.elements() == 0;
}

/// A tensor whose elements are these bytes; shares them where it can.
[[nodiscard]] inline nn::StoredTensor npy_tensor(std::string_view where, const NpyHeader& header,
                                                 std::span<const std::byte> elements,
                                                 std::shared_ptr<const void> owner) {
  const std::uint64_t bytes = checked_bytes(where, header.dtype, header.shape);
  if (elements.size() != bytes)
    throw ValueError(join_text({where, " is damaged: shape ", to_string(header.shape), " of ", name(header.dtype),
                                " has ", bytes, " bytes, the file has ", elements.size()}));
  require_truth_values(where, header.dtype, elements);
  const bool turns = header.is_column_major && !has_one_order(header.shape);
  if (!turns && !header.is_big_endian) return {header.dtype, header.shape, elements, std::move(owner)};
  auto [result, data] = nn::StoredTensor::make(header.dtype, header.shape);
  const Dims strides = turns ? column_major_strides(header.shape) : contiguous_strides(header.shape);
  reorder_elements(data, elements.data(), header.shape, strides, size_of(header.dtype), header.is_big_endian);
  return result;
}

} // namespace twill::inline v0::io::detail

namespace twill::inline v0::io {

/// Whether the last axis runs fastest, as in C, or the first, as in Fortran.
enum class ElementOrder { row_major, column_major };

/// How a .npy file is written.
struct NpyOptions {
  ElementOrder order = ElementOrder::row_major; ///< in the file; tensors are row-major
};

/// The array in the bytes of a file that `owner` keeps. throws: ValueError naming what is wrong
[[nodiscard]] inline nn::StoredTensor parse_npy(std::string_view where, std::span<const std::byte> bytes,
                                                std::shared_ptr<const void> owner) {
  const NpyHeader header = read_npy_header(where, bytes);
  return detail::npy_tensor(where, header, bytes.subspan(header.elements_at), std::move(owner));
}

/// The array of a file, which is mapped and lasts as long as the result.
/// throws: SystemError when it cannot be read, ValueError naming what is wrong with it
[[nodiscard]] inline nn::StoredTensor load_npy(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  return parse_npy(join_text({"load_npy: '", path, "'"}), file->bytes(), file);
}

/// The bytes of a tensor in the order of a file: its own, or turned ones.
[[nodiscard]] inline nn::StoredTensor in_order(const nn::StoredTensor& tensor, ElementOrder order) {
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
  detail::reorder_elements(data, tensor.bytes.data(), reversed, strides, size_of(tensor.dtype), false);
  return result;
}

/// Writes one array; the file appears whole or not at all. throws: SystemError
inline void save_npy(const std::string& path, const nn::StoredTensor& tensor, NpyOptions options = {}) {
  const nn::StoredTensor ordered = in_order(tensor, options.order);
  const std::string header = npy_header(tensor.dtype, tensor.shape, options.order == ElementOrder::column_major);
  AtomicFile file{path};
  file.write(header);
  file.write(ordered.bytes);
  file.finish();
}

/// Writes an array row by row, of which only the rows' shape has to be known: `NpyWriter file{path, DType::float32, Dims(3)}`,
/// then `file.append(rows)`, then `file.finish()`, without which there is no file.
class NpyWriter {
public:
  /// throws: SystemError, ShapeError when rows have as many dimensions as tensors can have
  NpyWriter(const std::string& path, DType dtype, const Dims& row) : file_{path}, dtype_{dtype} {
    if (row.rank == max_rank)
      throw ShapeError(join_text({"NpyWriter: rows have at most ", max_rank - 1, " dimensions, got ", row.rank}));
    shape_.rank = 1 + row.rank;
    for (int axis = 0; axis < row.rank; ++axis) shape_[axis + 1] = row[axis];
    shape_[0] = 1;
    static_cast<void>(checked_bytes("NpyWriter", dtype, shape_));
    shape_[0] = 0;
    file_.write(npy_header(dtype_, shape_, false, true));
  }

  /// Appends whole rows. throws: SystemError, ValueError, ShapeError
  void append(const nn::StoredTensor& rows) {
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
  template <AnyTensor X, class Isa = InstructionSet> void append(const X& rows) { append(stored(rows)); }

  /// Puts the file in its place.
  void finish() {
    file_.write_at(0, npy_header(dtype_, shape_, false, true));
    file_.finish();
  }
  /// Rows that have been written.
  [[nodiscard]] std::int64_t rows() const { return shape_[0]; }

private:
  AtomicFile file_;
  DType dtype_;
  Dims shape_{};
};

} // namespace twill::inline v0::io

namespace twill::inline v0::io::inline TWILL_ISA {

/// The array of a file as a tensor: `load_npy<Tensor<float, Cpu, Shape<dyn, 3>>>(path)`. Host tensors share the mapped file.
/// throws: SystemError, ValueError, ShapeError naming the file and both sides
template <AnyTensor X> [[nodiscard]] X load_npy(const std::string& path, const typename X::device_type& device = {}) {
  return tensor_of<X>(join_text({"load_npy: '", path, "'"}), io::load_npy(path), device);
}

template <AnyTensor X> void save_npy(const std::string& path, const X& tensor, NpyOptions options = {}) {
  io::save_npy(path, stored(tensor), options);
}

} // namespace twill::inline v0::io::inline TWILL_ISA
