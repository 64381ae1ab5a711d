#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Atomic replacement of a file: it is written under a temporary name, "x.npy.writing-17-0", synced to the disk and
// renamed, so it appears whole or not at all. A writer holds a lock on its temporary file, which ends with its process.
// So a program that dies in the middle leaves the old file as it was, and a temporary one that the next save of this
// name can lock and removes.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/io/files.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace io {

/// A file that appears whole or not at all, at `finish`.
class AtomicFile {
public:
  /// throws: SystemError naming the file and the reason; so do the other functions; ValueError for a path that names no
  /// file
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// Removes the temporary file unless it was finished.
  ~AtomicFile();

  /// Appends bytes.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span{text})); }

  /// Writes at a position, without changing where `write` goes on.
  void write_at(std::uint64_t position, std::span<const std::byte> bytes);
  void write_at(std::uint64_t position, std::string_view text) { write_at(position, std::as_bytes(std::span{text})); }

  /// Whether the file has its name, which it may have although `finish` threw.
  [[nodiscard]] bool is_in_place() const { return file_ < 0; }

  /// How many bytes `write` has written.
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Gives the file its name.    throws: ValueError where a write has failed before
  void finish();

private:
  /// Makes the temporary file and locks it. Returns false where another name has to be tried.
  [[nodiscard]] bool create();

  std::string path_;
  std::string temporary_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  bool has_failed_ = false;
};

namespace detail {

/// The name of the file that a temporary one would have become, empty where it is none.
[[nodiscard]] std::string_view finished_name(std::string_view name);

/// Removes a temporary file unless a process writes to it. One that cannot be removed stays: it does no harm.
void remove_unfinished(const std::string& path);

} // namespace detail

}}} // namespace twill::v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/atomic_file.ipp>
#endif
