#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices in the .npz files of `scipy.sparse.save_npz`, stored or deflated: formats csr, csc and coo are read,
// csr is written. A file may be hostile: sizes are compared before memory is taken, and every index is checked.
// Not in the umbrella: needs zlib. Source: scipy/sparse/_matrix_io.py. Read next: io/npz.hpp, sparse/csr_matrix.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>
#include <twill/io/npz.hpp>
#include <twill/io/stored.hpp>
#include <twill/io/zip.hpp>
#include <twill/sparse/csr_matrix.hpp>
#include <twill/sparse/entries.hpp>
#include <twill/sparse/structure.hpp>
#include <twill/tensor/create.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace io {

namespace detail {

/// A sparse matrix of a file: the coordinates of its entries, in any order and with duplicates.
struct StoredEntries {
  Dims shape{};
  std::vector<std::int64_t> row_indices{};
  std::vector<std::int64_t> column_indices{};
  nn::StoredTensor values{}; ///< of any element type
};

/// The text in an array of one byte string or one string of 4-byte characters, as NumPy stores it; only ASCII.
[[nodiscard]] inline std::string text_of_npy(std::string_view where, std::span<const std::byte> bytes) {
  const auto number = [&](std::size_t at) { return std::to_integer<std::size_t>(bytes[at]); };
  const auto damaged = [&] { return ValueError(join_text({where, " is damaged: it holds no text"})); };
  constexpr std::size_t length_at = 8; // after the magic bytes and the version
  if (bytes.size() < length_at + 4) throw damaged();
  const bool is_first_version = number(6) == 1; // later ones have lengths of four bytes
  const std::size_t start = length_at + (is_first_version ? 2 : 4);
  std::size_t length = number(length_at) + (number(length_at + 1) << 8);
  if (!is_first_version) length += (number(length_at + 2) << 16) + (number(length_at + 3) << 24);
  if (length > bytes.size() - start) throw damaged();
  const std::string_view header{reinterpret_cast<const char*>(bytes.data()) + start, length};
  const bool is_wide = header.find("'<U") != std::string_view::npos;
  if (!is_wide && header.find("'|S") == std::string_view::npos) throw damaged();
  std::string text{};
  for (std::size_t at = start + length; at < bytes.size() && text.size() < 8; at += is_wide ? 4 : 1)
    if (number(at) != 0) text += static_cast<char>(number(at));
  return text;
}

/// The integers of a vector in a file.
[[nodiscard]] inline std::vector<std::int64_t> integers_of(std::string_view where, const nn::StoredTensor& stored) {
  if (stored.shape.rank != 1 || (stored.dtype != DType::int64 && stored.dtype != DType::int32))
    throw ValueError(join_text({where, " holds ", name(stored.dtype), " of shape ", to_string(stored.shape),
                                "; it has to be a vector of int32 or int64"}));
  const auto count = static_cast<std::size_t>(stored.shape[0]);
  std::vector<std::int64_t> integers(count);
  for (std::size_t i = 0; i < count; ++i)
    if (stored.dtype == DType::int64) {
      std::memcpy(&integers[i], stored.bytes.data() + i * 8, 8);
    } else {
      std::int32_t narrow = 0;
      std::memcpy(&narrow, stored.bytes.data() + i * 4, 4);
      integers[i] = narrow;
    }
  return integers;
}

/// The members of a file that make a sparse matrix.
struct SparseMembers {
  std::string format{};
  std::vector<nn::StateDict::Entry> arrays{};

  /// An array by its name. throws: ValueError
  [[nodiscard]] const nn::StoredTensor& array(std::string_view where, std::string_view name) const {
    for (const auto& [own, tensor] : arrays)
      if (own == name) return tensor;
    throw ValueError(join_text({where, " has no array '", name, "', which a matrix of format '", format, "' has"}));
  }
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view where, std::string_view name) const {
    return integers_of(join_text({where, ": '", name, "'"}), array(where, name));
  }
};

[[nodiscard]] inline SparseMembers sparse_members(std::string_view where, std::span<const std::byte> bytes) {
  SparseMembers members{};
  for (const ZipMember& member : read_zip_members(where, bytes)) {
    std::string_view name = member.name;
    if (name.ends_with(".npy")) name.remove_suffix(4);
    if (name == "_is_array") continue; // whether SciPy makes an array or a matrix of it
    verify_zip_member(where, member);
    const std::string place = join_text({where, ": '", name, "'"});
    const auto size = static_cast<std::size_t>(member.bytes);
    const std::shared_ptr<std::byte[]> memory(new std::byte[size]);
    const std::span<std::byte> unpacked{memory.get(), size};
    if (member.is_deflated)
      unpack_zip_member(where, member, unpacked);
    else if (size > 0)
      std::memcpy(memory.get(), member.packed.data(), size);
    if (name == "format")
      members.format = text_of_npy(place, unpacked);
    else
      members.arrays.emplace_back(name, parse_npy(place, unpacked, memory));
  }
  return members;
}

/// The entries of a matrix in the bytes of a file. throws: ValueError, ShapeError naming the damage, or the format
[[nodiscard]] inline StoredEntries parse_sparse_npz(std::string_view where, std::span<const std::byte> bytes) {
  const SparseMembers members = sparse_members(where, bytes);
  const bool is_csc = members.format == "csc";
  if (members.format.empty())
    throw ValueError(join_text({where, " has no array 'format'; scipy.sparse.save_npz writes files that have"}));
  if (!is_csc && members.format != "csr" && members.format != "coo")
    throw ValueError(join_text({where, " holds a matrix of format '", members.format,
                                "'; csr, csc and coo can be read, in SciPy tocsr() converts"}));
  const std::vector<std::int64_t> extents = members.integers(where, "shape");
  if (extents.size() != 2 || extents[0] < 0 || extents[1] < 0)
    throw ValueError(join_text({where, " is damaged: its shape has ", extents.size(), " extents, or negative ones"}));
  StoredEntries entries{.shape = Dims(extents[0], extents[1]), .values = members.array(where, "data")};
  if (members.format == "coo") {
    entries.row_indices = members.integers(where, "row");
    entries.column_indices = members.integers(where, "col");
  } else {
    const std::vector<std::int64_t> offsets = members.integers(where, "indptr");
    std::vector<std::int64_t> indices = members.integers(where, "indices");
    const sparse::Structure structure{.rows = extents[is_csc ? 1 : 0],
                                      .columns = extents[is_csc ? 0 : 1],
                                      .entries = static_cast<std::int64_t>(indices.size()),
                                      .row_offsets = offsets.data(),
                                      .column_indices = indices.data()};
    if (static_cast<std::int64_t>(offsets.size()) - 1 != structure.rows)
      throw ShapeError(join_text({where, ": 'indptr' has ", offsets.size(), " elements for ", structure.rows,
                                  is_csc ? " columns" : " rows", "; there is one more"}));
    sparse::check_offsets(join_text({where, ": 'indptr'"}), structure);
    entries.row_indices = sparse::rows_of_entries(offsets);
    entries.column_indices = std::move(indices);
    if (is_csc) std::swap(entries.row_indices, entries.column_indices);
  }
  if (entries.values.shape.rank != 1 ||
      entries.values.shape[0] != static_cast<std::int64_t>(entries.row_indices.size()))
    throw ShapeError(join_text({where, ": 'data' has shape ", to_string(entries.values.shape), " for ",
                                entries.row_indices.size(), " entries"}));
  return entries;
}

} // namespace detail

inline namespace TWILL_ISA {

/// The matrix of a file that SciPy or `save_npz` wrote: `load_npz<sparse::CsrMatrix<float>>(path)`. Columns are sorted
/// and entries of one place added up.
/// throws: SystemError when it cannot be read, ValueError, ShapeError, IndexError naming the damage, or both types
template <sparse::AnyCsrMatrix A>
[[nodiscard]] A load_npz(const std::string& path, const typename A::device_type& device = {}) {
  using T = typename A::value_type;
  const MappedFile file(path);
  const std::string where = join_text({"load_npz: '", path, "'"});
  const detail::StoredEntries entries = detail::parse_sparse_npz(where, file.bytes());
  if (entries.values.dtype != dtype_of<T>)
    throw ValueError(
        join_text({where, " holds ", name(entries.values.dtype), ", the requested matrix holds ", name(dtype_of<T>)}));
  if (!A::shape_type::admits(entries.shape))
    throw ShapeError(join_text({where, " has shape ", to_string(entries.shape), ", the requested matrix has shape ",
                                detail::shape_text<typename A::shape_type>()}));
  std::vector<T> values(entries.row_indices.size());
  if (!values.empty()) std::memcpy(values.data(), entries.values.bytes.data(), values.size() * sizeof(T));
  return sparse::assemble<typename A::shape_type>(where, entries.shape, entries.row_indices, entries.column_indices,
                                                  values, device);
}

/// Writes a matrix as `scipy.sparse.save_npz` does, which `scipy.sparse.load_npz` reads; the file appears whole or not
/// at all. throws: SystemError
template <sparse::AnyCsrMatrix A> void save_npz(const std::string& path, const A& a, NpzOptions options = {}) {
  NpzWriter file{path, options};
  file.add("indices", a.column_indices());
  file.add("indptr", a.row_offsets());
  constexpr std::string_view format = "csr";
  std::string header = npy_header(DType::uint8, Dims{}, ElementOrder::row_major);
  header.replace(header.find("|u1"), 3, "|S3");
  file.add("format", header, std::as_bytes(std::span{format}));
  file.add("shape", from_values(std::vector<std::int64_t>{a.rows(), a.columns()}, Cpu{0}));
  file.add("data", a.values());
  file.finish();
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::io
