#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A file that appears whole or not at all: it is written beside its place under another name, brought to the disk, and
// renamed. A program that dies in between leaves the old file as it was, and a temporary one that the next save of this name
// removes. Read next: io/unfinished.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/io/file_calls.hpp>
#include <twill/io/folder.hpp>
#include <twill/io/unfinished.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace twill::inline v0::io {

/// A file that appears whole or not at all: it is written beside its name and renamed by `commit`.
class AtomicFile {
public:
  /// throws: SystemError naming the file and why; so do the other functions; ValueError for a path that names no file
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// Without `finish`, nothing is left.
  ~AtomicFile();

  /// Appends bytes. throws: IoError naming the file and the system's reason
  void write(std::span<const std::byte> bytes);

  void write(std::string_view text) { write(std::as_bytes(std::span{text})); }

  /// Overwrites, or writes ahead, without moving the place where `write` goes on.
  void write_at(std::uint64_t position, std::span<const std::byte> bytes);

  void write_at(std::uint64_t position, std::string_view text) { write_at(position, std::as_bytes(std::span{text})); }

  /// Whether the file is in its place, which it may be although `finish` threw.
  [[nodiscard]] bool is_in_place() const { return file_ < 0; }

  /// How many bytes `write` has written.
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Puts the file in its place.    throws: ValueError where a write has failed before
  void finish();

private:
  /// Makes the temporary file and locks it. Returns false where another name has to be tried.
  [[nodiscard]] bool create();

  [[noreturn]] void fail_write(std::size_t bytes, std::uint64_t position);

  std::string path_;
  std::string temporary_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  bool has_failed_ = false;
};

} // namespace twill::inline v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/atomic_file.ipp>
#endif
