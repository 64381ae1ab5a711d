#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npz files: several arrays in one ZIP archive, stored or deflated. Reading maps the file and checks every
// checksum; stored arrays share the mapping. Files are written atomically, and numpy.load reads them.
// Not in the umbrella: needs zlib. Read next: io/zip.hpp.

#include <twill/io/npy.hpp>
#include <twill/io/zip.hpp>

#include <zlib.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace io {

/// How a .npz file is written.
struct NpzOptions {
  bool compresses = false;                      ///< deflates, as numpy.savez_compressed does
  ElementOrder order = ElementOrder::row_major; ///< in the file
  std::uint64_t zip64_from_bytes = 0xff000000;  ///< members and places from here on have 64-bit numbers
};

/// The arrays in the bytes of a file that `owner` keeps. throws: ValueError naming member and damage
[[nodiscard]] inline nn::StateDict parse_npz(std::string_view where, std::span<const std::byte> bytes,
                                             const std::shared_ptr<const void>& owner) {
  std::vector<nn::StateDict::Entry> entries{};
  for (const ZipMember& member : read_zip_members(where, bytes)) {
    verify_zip_member(where, member);
    std::string_view name = member.name;
    if (name.ends_with(".npy")) name.remove_suffix(4);
    const std::string place = join_text({where, ": '", name, "'"});
    if (!member.is_deflated) {
      entries.emplace_back(name, parse_npy(place, member.packed, owner));
      continue;
    }
    const auto size = static_cast<std::size_t>(member.bytes);
    const std::shared_ptr<std::byte[]> memory(new std::byte[size]);
    unpack_zip_member(where, member, {memory.get(), size});
    entries.emplace_back(name, parse_npy(place, {memory.get(), size}, memory));
  }
  try {
    return nn::StateDict{std::move(entries)};
  } catch (const ValueError& error) {
    throw ValueError(join_text({where, " is damaged: ", error.what()}));
  }
}

/// The arrays of a file by their names, without ".npy".
/// throws: SystemError when it cannot be read, ValueError naming the damage
[[nodiscard]] inline nn::StateDict load_npz(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  return parse_npz(join_text({"load_npz: '", path, "'"}), file->bytes(), file);
}

/// Writes arrays one by one into an archive that appears whole or not at all: `add` each, then `finish`.
class NpzWriter {
public:
  /// throws: SystemError
  explicit NpzWriter(const std::string& path, NpzOptions options = {}) : file_{path}, options_{options} {}

  /// throws: SystemError, ValueError for a name that is too long
  void add(std::string_view name, const nn::StoredTensor& tensor) {
    const nn::StoredTensor ordered = in_order(tensor, options_.order);
    add(name, npy_header(tensor.dtype, tensor.shape, options_.order), ordered.bytes);
  }
  /// An array by the header and the elements of its .npy file, of a type that tensors do not have.
  void add(std::string_view name, std::string_view header, std::span<const std::byte> elements) {
    Record record{.name = join_text({name, ".npy"}), .at = file_.size(), .bytes = header.size() + elements.size()};
    if (record.name.size() > std::numeric_limits<std::uint16_t>::max())
      throw ValueError(join_text({"save_npz: a name has ", record.name.size(), " bytes, at most 65535 are possible"}));
    record.is_64 = record.bytes >= options_.zip64_from_bytes || record.at >= options_.zip64_from_bytes;
    const std::span<const std::byte> start = std::as_bytes(std::span{header});
    record.checksum = detail::checksum_of(detail::checksum_of(0, start), elements);
    record.packed = record.bytes;
    write_local(record, false);
    if (options_.compresses) {
      const std::uint64_t before = file_.size();
      deflate_parts({start, elements});
      record.packed = file_.size() - before;
      write_local(record, true);
    } else {
      file_.write(start);
      file_.write(elements);
    }
    records_.push_back(std::move(record));
  }
  template <AnyTensor X, class Isa = InstructionSet> void add(std::string_view name, const X& tensor) {
    add(name, stored(tensor));
  }

  /// Writes the directory and gives the file its name.
  void finish() {
    const std::uint64_t at = file_.size();
    std::string text{};
    for (const Record& record : records_) text += directory_entry(record);
    const std::uint64_t bytes = text.size();
    const std::uint64_t count = records_.size();
    const bool is_64 = at >= options_.zip64_from_bytes || count >= 0xffff;
    if (is_64) {
      put<4>(text, {detail::zip64_end, 44, 0});
      put<2>(text, {45, 45});
      put<8>(text, {0, count, count, bytes, at});
      put<4>(text, {detail::zip64_locator, 0});
      put<8>(text, {at + bytes});
      put<4>(text, {1});
    }
    const std::uint64_t short_count = is_64 ? 0xffff : count;
    put<4>(text, {detail::zip_end, 0});
    put<2>(text, {short_count, short_count});
    put<4>(text, {is_64 ? detail::zip_is_64 : bytes, is_64 ? detail::zip_is_64 : at});
    put<2>(text, {0});
    file_.write(text);
    file_.finish();
  }

private:
  struct Record {
    std::string name{};
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
    std::uint64_t packed = 0;
    std::uint32_t checksum = 0;
    bool is_64 = false;
  };

  /// Appends little-endian numbers of a size in bytes.
  template <std::size_t Size> static void put(std::string& text, std::initializer_list<std::uint64_t> numbers) {
    for (const std::uint64_t number : numbers) text.append(reinterpret_cast<const char*>(&number), Size);
  }
  /// The fields that a member's record and its entry in the directory share.
  [[nodiscard]] std::string fields(const Record& record) const {
    std::string text{};
    put<2>(text, {record.is_64 ? 45U : 20U, 0x800, options_.compresses ? Z_DEFLATED : 0U}); // version, UTF-8, method
    put<4>(text, {0x00210000, record.checksum}); // 1980-01-01: equal arrays make equal files
    put<4>(text, {record.is_64 ? detail::zip_is_64 : record.packed, record.is_64 ? detail::zip_is_64 : record.bytes});
    put<2>(text, {record.name.size()});
    return text;
  }
  /// The record before a member; after its bytes are written, their number is known, and it is written again.
  void write_local(const Record& record, bool again) {
    std::string text{};
    put<4>(text, {detail::zip_local});
    text += fields(record);
    put<2>(text, {record.is_64 ? 20U : 0U});
    text += record.name;
    if (record.is_64) {
      put<2>(text, {1, 16});
      put<8>(text, {record.bytes, record.packed});
    }
    again ? file_.write_at(record.at, text) : file_.write(text);
  }
  [[nodiscard]] std::string directory_entry(const Record& record) const {
    std::string text{};
    put<4>(text, {detail::zip_central});
    put<2>(text, {45});
    text += fields(record);
    put<2>(text, {record.is_64 ? 28U : 0U, 0, 0, 0}); // extra bytes, comment, disk, attributes
    put<4>(text, {0, record.is_64 ? detail::zip_is_64 : record.at});
    text += record.name;
    if (record.is_64) {
      put<2>(text, {1, 24});
      put<8>(text, {record.bytes, record.packed, record.at});
    }
    return text;
  }

  void deflate_parts(std::array<std::span<const std::byte>, 2> parts) {
    z_stream stream{};
    constexpr int memory_level = 8;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc{};
    const std::unique_ptr<z_stream, int (*)(z_stream*)> ends{&stream, &deflateEnd};
    std::array<std::byte, 1U << 15> room{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::span<const std::byte> rest = parts[i];
      do {
        const auto piece = rest.first(std::min<std::size_t>(rest.size(), std::size_t{1} << 30));
        rest = rest.subspan(piece.size());
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
        stream.avail_in = static_cast<uInt>(piece.size());
        const int flush = i + 1 == parts.size() && rest.empty() ? Z_FINISH : Z_NO_FLUSH;
        do {
          stream.next_out = reinterpret_cast<Bytef*>(room.data());
          stream.avail_out = static_cast<uInt>(room.size());
          static_cast<void>(deflate(&stream, flush));
          file_.write(std::span{room}.first(room.size() - stream.avail_out));
        } while (stream.avail_out == 0);
      } while (!rest.empty());
    }
  }

  AtomicFile file_;
  NpzOptions options_;
  std::vector<Record> records_{};
};

/// Writes arrays under their names; the file appears whole or not at all. throws: SystemError
inline void save_npz(const std::string& path, const nn::StateDict& arrays, NpzOptions options = {}) {
  NpzWriter file{path, options};
  for (const auto& [name, tensor] : arrays.entries()) file.add(name, tensor);
  file.finish();
}

}}} // namespace twill::v0::io
