#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/npy.hpp.

#include <twill/io/npy.hpp>

namespace twill::inline v0::io::detail {

TWILL_BODY void reorder_elements(std::byte* to, const std::byte* from, const Dims& extents, const Dims& from_strides,
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

TWILL_BODY nn::StoredTensor npy_tensor(std::string_view where, const NpyHeader& header,
                                       std::span<const std::byte> elements, std::shared_ptr<const void> owner) {
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

TWILL_BODY nn::StoredTensor parse_npy(std::string_view where, std::span<const std::byte> bytes,
                                      std::shared_ptr<const void> owner) {
  const NpyHeader header = read_npy_header(where, bytes);
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
  detail::reorder_elements(data, tensor.bytes.data(), reversed, strides, size_of(tensor.dtype), false);
  return result;
}

TWILL_BODY void save_npy(const std::string& path, const nn::StoredTensor& tensor, NpyOptions options) {
  const nn::StoredTensor ordered = in_order(tensor, options.order);
  const std::string header = npy_header(tensor.dtype, tensor.shape, options.order == ElementOrder::column_major);
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
  file_.write(npy_header(dtype_, shape_, false, true));
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
  file_.write_at(0, npy_header(dtype_, shape_, false, true));
  file_.finish();
}

} // namespace twill::inline v0::io
