#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// ZIP archives as far as .npz files need them: members that are stored or deflated, sizes beyond 4 GiB (zip64),
// checksums. An archive may be hostile: before memory is taken for a member, it is unpacked once and dropped, to check
// size and checksum. Not in the umbrella: needs zlib. Source: PKWARE's APPNOTE.TXT 6.3. Read next: io/npz.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace io {

/// A file in an archive.
struct ZipMember {
  std::string name{};
  std::span<const std::byte> packed{}; ///< its bytes in the archive
  std::uint64_t bytes = 0;             ///< unpacked, as the archive claims
  std::uint32_t checksum = 0;          ///< CRC-32 of the unpacked bytes
  bool is_deflated = false;
};

namespace detail {

/// Little-endian numbers in a span. Reading beyond it is refused.
class ZipReader {
public:
  ZipReader(std::string_view where, std::span<const std::byte> bytes) : where_{where}, bytes_{bytes} {}

  [[nodiscard]] std::uint64_t number(std::uint64_t at, std::size_t size) const {
    std::uint64_t value = 0;
    std::memcpy(&value, part(at, size).data(), size);
    return value;
  }
  [[nodiscard]] std::span<const std::byte> part(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at)
      refuse(join_text({"bytes ", at, " to ", at + size, " are needed, it has ", bytes_.size()}));
    return bytes_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  }
  [[noreturn]] void refuse(std::string_view why) const { throw ValueError(join_text({where_, " is damaged: ", why})); }
  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  [[nodiscard]] std::string_view where() const { return where_; }

private:
  std::string_view where_;
  std::span<const std::byte> bytes_;
};

inline constexpr std::uint64_t zip_local = 0x04034b50;
inline constexpr std::uint64_t zip_central = 0x02014b50;
inline constexpr std::uint64_t zip_end = 0x06054b50;
inline constexpr std::uint64_t zip64_end = 0x06064b50;
inline constexpr std::uint64_t zip64_locator = 0x07064b50;
inline constexpr std::uint64_t zip_is_64 = 0xffffffff; ///< a 32-bit field whose number is in a zip64 field

/// The place of the list of members.
struct ZipDirectory {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
  std::uint64_t members = 0;
};

[[nodiscard]] inline ZipDirectory find_zip_directory(const ZipReader& file) {
  constexpr std::uint64_t end_bytes = 22;
  if (file.size() < end_bytes) file.refuse(join_text({"an archive has at least 22 bytes, it has ", file.size()}));
  const std::uint64_t last = file.size() - end_bytes;
  const std::uint64_t first = last > 0xffff ? last - 0xffff : 0; // a comment of at most 65535 bytes may follow
  std::uint64_t at = last;
  while (file.number(at, 4) != zip_end || at + end_bytes + file.number(at + 20, 2) != file.size()) {
    if (at == first) file.refuse("it has no end-of-archive record");
    --at;
  }
  ZipDirectory directory{file.number(at + 16, 4), file.number(at + 12, 4), file.number(at + 10, 2)};
  if (at >= 20 && file.number(at - 20, 4) == zip64_locator) {
    const std::uint64_t end64 = file.number(at - 20 + 8, 8);
    if (file.number(end64, 4) != zip64_end) file.refuse("its zip64 end record is not where it should be");
    static_cast<void>(file.part(end64, 56));
    directory = {file.number(end64 + 48, 8), file.number(end64 + 40, 8), file.number(end64 + 32, 8)};
  }
  return directory;
}

/// The sizes and the place from a member's extra field, where 32 bits are too few.
inline void read_zip64(const ZipReader& file, std::uint64_t at, std::uint64_t end, std::uint64_t& bytes,
                       std::uint64_t& packed, std::uint64_t& local) {
  while (at + 4 <= end) {
    const std::uint64_t size = file.number(at + 2, 2);
    if (file.number(at, 2) == 1) {
      std::uint64_t next = at + 4;
      for (std::uint64_t* field : {&bytes, &packed, &local}) {
        if (*field != zip_is_64) continue;
        if (next + 8 > at + 4 + size) file.refuse("a zip64 field is too short");
        *field = file.number(next, 8);
        next += 8;
      }
    }
    at += 4 + size;
  }
}

/// One member, whose record in the directory begins at `at`; moves on to the next.
[[nodiscard]] inline ZipMember read_zip_member(const ZipReader& file, std::uint64_t& at) {
  if (file.number(at, 4) != zip_central) file.refuse("its directory has an entry that is not a member");
  static_cast<void>(file.part(at, 46));
  std::uint64_t packed = file.number(at + 20, 4);
  std::uint64_t bytes = file.number(at + 24, 4);
  std::uint64_t local = file.number(at + 42, 4);
  const std::uint64_t name_bytes = file.number(at + 28, 2);
  const std::uint64_t extra_bytes = file.number(at + 30, 2);
  const auto name = file.part(at + 46, name_bytes);
  const std::uint64_t extra = at + 46 + name_bytes;
  read_zip64(file, extra, extra + extra_bytes, bytes, packed, local);
  ZipMember member{.name = {reinterpret_cast<const char*>(name.data()), name.size()},
                   .bytes = bytes,
                   .checksum = static_cast<std::uint32_t>(file.number(at + 16, 4))};
  const std::uint64_t method = file.number(at + 10, 2);
  if ((file.number(at + 8, 2) & 1) != 0) file.refuse(join_text({"'", member.name, "' is encrypted"}));
  if (method != 0 && method != Z_DEFLATED)
    file.refuse(join_text({"'", member.name, "' is compressed by method ", method, "; methods 0 and 8 are supported"}));
  member.is_deflated = method == Z_DEFLATED;
  if (!member.is_deflated && bytes != packed)
    file.refuse(join_text({"'", member.name, "' is stored in ", packed, " bytes and should have ", bytes}));
  if (local > file.size() || file.number(local, 4) != zip_local)
    file.refuse(join_text({"'", member.name, "' does not begin at ", local}));
  const std::uint64_t start = local + 30 + file.number(local + 26, 2) + file.number(local + 28, 2);
  member.packed = file.part(start, packed);
  at = extra + extra_bytes + file.number(at + 32, 2);
  return member;
}

/// Unpacks deflated bytes piece by piece: `sink(span)` gets each piece and says whether it wants more.
template <class Sink>
void inflate_pieces(const ZipReader& file, const ZipMember& member, std::span<std::byte> room, Sink&& sink) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc{};
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ends{&stream, &inflateEnd};
  std::span<const std::byte> rest = member.packed;
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    if (stream.avail_in == 0 && !rest.empty()) {
      const auto piece = rest.first(std::min<std::size_t>(rest.size(), std::size_t{1} << 30));
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
      stream.avail_in = static_cast<uInt>(piece.size());
      rest = rest.subspan(piece.size());
    }
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = static_cast<uInt>(room.size());
    code = inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = room.size() - stream.avail_out;
    if (code != Z_OK && code != Z_STREAM_END)
      file.refuse(join_text(
          {"'", member.name, "' cannot be decompressed: ", stream.msg != nullptr ? stream.msg : "it ends too early"}));
    if (!sink(std::span<const std::byte>{room.first(got)})) return;
  }
  if (stream.avail_in != 0 || !rest.empty()) file.refuse(join_text({"'", member.name, "' has bytes after its end"}));
}

[[nodiscard]] inline std::uint32_t checksum_of(std::uint32_t before, std::span<const std::byte> bytes) {
  if (bytes.empty()) return before; // of no address, zlib gives the checksum of nothing
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

} // namespace detail

/// The members of an archive. throws: ValueError naming the damage
[[nodiscard]] inline std::vector<ZipMember> read_zip_members(std::string_view where, std::span<const std::byte> bytes) {
  const detail::ZipReader file{where, bytes};
  const detail::ZipDirectory directory = detail::find_zip_directory(file);
  static_cast<void>(file.part(directory.at, directory.bytes));
  constexpr std::uint64_t least_record = 46;
  if (directory.members > directory.bytes / least_record)
    file.refuse(join_text({"a directory of ", directory.bytes, " bytes with ", directory.members, " members"}));
  std::vector<ZipMember> members{};
  std::uint64_t at = directory.at;
  std::uint64_t packed = 0;
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    members.push_back(detail::read_zip_member(file, at));
    packed += members.back().packed.size();
    if (packed > bytes.size()) // a deflated member under many names would fill memory
      file.refuse(join_text({"its members overlap: ", packed, " bytes of them in a file of ", bytes.size()}));
  }
  if (at != directory.at + directory.bytes)
    file.refuse(join_text({"its directory ends at ", at, ", not at ", directory.at + directory.bytes}));
  return members;
}

/// Checks the size and checksum of a member without taking memory for it. throws: ValueError with both values
inline void verify_zip_member(std::string_view where, const ZipMember& member) {
  const detail::ZipReader file{where, {}};
  std::uint64_t size = 0;
  std::uint32_t checksum = 0;
  const auto count = [&](std::span<const std::byte> piece) {
    size += piece.size();
    checksum = detail::checksum_of(checksum, piece);
    return size <= member.bytes;
  };
  if (member.is_deflated) {
    std::array<std::byte, 1U << 15> room{};
    detail::inflate_pieces(file, member, room, count);
  } else {
    static_cast<void>(count(member.packed));
  }
  if (size != member.bytes)
    file.refuse(join_text(
        {"'", member.name, "' should have ", member.bytes, " bytes and has ", size > member.bytes ? "more" : "fewer"}));
  if (checksum != member.checksum)
    file.refuse(join_text({"'", member.name, "' has checksum ", checksum, ", recorded is ", member.checksum}));
}

/// Unpacks a deflated member that was verified.
inline void unpack_zip_member(std::string_view where, const ZipMember& member, std::span<std::byte> to) {
  const detail::ZipReader file{where, {}};
  std::array<std::byte, 1U << 15> room{};
  detail::inflate_pieces(file, member, room, [&](std::span<const std::byte> piece) {
    if (piece.size() > to.size()) return false;
    if (!piece.empty()) std::memcpy(to.data(), piece.data(), piece.size());
    to = to.subspan(piece.size());
    return true;
  });
}

}}} // namespace twill::v0::io
