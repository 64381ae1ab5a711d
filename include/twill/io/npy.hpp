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
void reorder_elements(std::byte* to, const std::byte* from, const Dims& extents, const Dims& from_strides,
                      std::size_t size, bool swaps);

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
[[nodiscard]] nn::StoredTensor npy_tensor(std::string_view where, const NpyHeader& header,
                                          std::span<const std::byte> elements, std::shared_ptr<const void> owner);

} // namespace twill::inline v0::io::detail

namespace twill::inline v0::io {

/// Whether the last axis runs fastest, as in C, or the first, as in Fortran.
enum class ElementOrder { row_major, column_major };

/// How a .npy file is written.
struct NpyOptions {
  ElementOrder order = ElementOrder::row_major; ///< in the file; tensors are row-major
};

/// The array in the bytes of a file that `owner` keeps. throws: ValueError naming what is wrong
[[nodiscard]] nn::StoredTensor parse_npy(std::string_view where, std::span<const std::byte> bytes,
                                         std::shared_ptr<const void> owner);

/// The array of a file, which is mapped and lasts as long as the result.
/// throws: SystemError when it cannot be read, ValueError naming what is wrong with it
[[nodiscard]] nn::StoredTensor load_npy(const std::string& path);

/// The bytes of a tensor in the order of a file: its own, or turned ones.
[[nodiscard]] nn::StoredTensor in_order(const nn::StoredTensor& tensor, ElementOrder order);

/// Writes one array; the file appears whole or not at all. throws: SystemError
void save_npy(const std::string& path, const nn::StoredTensor& tensor, NpyOptions options = {});

/// Writes an array row by row, of which only the rows' shape has to be known: `NpyWriter file{path, DType::float32, Dims(3)}`,
/// then `file.append(rows)`, then `file.finish()`, without which there is no file.
class NpyWriter {
public:
  /// throws: SystemError, ShapeError when rows have as many dimensions as tensors can have
  NpyWriter(const std::string& path, DType dtype, const Dims& row);

  /// Appends whole rows. throws: SystemError, ValueError, ShapeError
  void append(const nn::StoredTensor& rows);
  template <AnyTensor X, class Isa = InstructionSet> void append(const X& rows) { append(stored(rows)); }

  /// Puts the file in its place.
  void finish();
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

#if TWILL_HEADER_ONLY
#include <twill/io/npy.ipp>
#endif
