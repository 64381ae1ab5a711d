#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files: every element type that twill has, row-major and column-major, little- and big-endian, all header
// versions. Files are mapped, so an array takes memory only where it is looked at (unless its axes are reordered or its
// bytes swapped). A header is a claim that a hostile file makes: no memory is taken for it before it is compared with
// the bytes there are. Files are written atomically, and numpy.load reads them. Source: numpy.lib.format. Read next:
// io/npz.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>
#include <twill/io/atomic_file.hpp>
#include <twill/io/files.hpp>
#include <twill/io/stored.hpp>
#include <twill/nn/stored_tensor.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

static_assert(std::endian::native == std::endian::little, "twill: npy: files are written little-endian");

namespace twill { inline namespace v0 { namespace io {

/// Whether the last axis runs fastest, as in C, or the first, as in Fortran.
enum class ElementOrder { row_major, column_major };

/// How a .npy file is written.
struct NpyOptions {
  ElementOrder order = ElementOrder::row_major; ///< in the file; tensors are row-major
};

/// The array in the bytes of a file that `owner` keeps; `where` begins each message. throws: ValueError naming the
/// damage
[[nodiscard]] nn::StoredTensor parse_npy(std::string_view where, std::span<const std::byte> bytes,
                                         std::shared_ptr<const void> owner);

/// The array of a file, which is mapped and lasts as long as the result.
/// throws: SystemError when it cannot be read, ValueError naming the damage
[[nodiscard]] nn::StoredTensor load_npy(const std::string& path);

/// The header of a file of version 1.0, padded so that the elements begin at a multiple of 64 bytes. A header that is
/// overwritten later, when the first extent is known, leaves room for its digits.
[[nodiscard]] std::string npy_header(DType dtype, const Dims& shape, ElementOrder order, bool leaves_room = false);

/// A tensor with its bytes in the order of a file; shares them where the orders agree.
[[nodiscard]] nn::StoredTensor in_order(const nn::StoredTensor& tensor, ElementOrder order);

/// Writes one array; the file appears whole or not at all. throws: SystemError
void save_npy(const std::string& path, const nn::StoredTensor& tensor, NpyOptions options = {});

/// Writes an array whose number of rows is not known before: `NpyWriter file{path, DType::float32, Dims(3)}`, then
/// `file.append(rows)`, then `file.finish()`, without which there is no file.
class NpyWriter {
public:
  /// throws: SystemError, ShapeError when rows have as many dimensions as tensors can have
  NpyWriter(const std::string& path, DType dtype, const Dims& row);

  /// Appends whole rows. throws: SystemError, ValueError, ShapeError
  void append(const nn::StoredTensor& rows);
  template <AnyTensor X, class Isa = InstructionSet> void append(const X& rows) { append(stored(rows)); }

  /// Gives the file its name.
  void finish();
  /// Rows that have been written.
  [[nodiscard]] std::int64_t rows() const { return shape_[0]; }

private:
  AtomicFile file_;
  DType dtype_;
  Dims shape_{};
};

inline namespace TWILL_ISA {

/// The array of a file as a tensor: `load_npy<Tensor<float, Cpu, Shape<dyn, 3>>>(path)`. Host tensors share the mapped
/// file.
/// throws: SystemError, ValueError, ShapeError naming the file and both sides
template <AnyTensor X> [[nodiscard]] X load_npy(const std::string& path, const typename X::device_type& device = {}) {
  return tensor_of<X>(join_text({"load_npy: '", path, "'"}), io::load_npy(path), device);
}

template <AnyTensor X> void save_npy(const std::string& path, const X& tensor, NpyOptions options = {}) {
  io::save_npy(path, stored(tensor), options);
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/npy.ipp>
#endif
