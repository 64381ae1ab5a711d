#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A file that appears whole or not at all: it is written beside its place under another name, brought to the disk, and
// renamed. A program that dies in between leaves the old file as it was, and a temporary one that the next save of this name
// removes. Read next: io/unfinished.hpp.

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
  explicit AtomicFile(std::string path) : path_{std::move(path)}, temporary_{detail::unfinished_of(path_)} {
    const std::string_view name = std::string_view{path_}.substr(path_.rfind('/') + 1);
    if (name.empty()) throw ValueError(join_text({"write: '", path_, "' names no file"}));
    detail::remove_unfinished(folder_of(path_), name);
    if (!detail::call_fails("open", temporary_))
      while (!create()) temporary_ = detail::unfinished_of(path_);
    if (file_ < 0) detail::fail_call("open", temporary_);
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// Without `finish`, nothing is left.
  ~AtomicFile() {
    if (file_ < 0) return;
    ::close(file_);
    ::unlink(temporary_.c_str());
  }

  /// Appends bytes. throws: IoError naming the file and the system's reason
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = detail::call_fails("write", temporary_) ? -1 : ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_write(bytes.size(), size_);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      size_ += static_cast<std::uint64_t>(written);
    }
  }

  void write(std::string_view text) { write(std::as_bytes(std::span{text})); }

  /// Overwrites, or writes ahead, without moving the place where `write` goes on.
  void write_at(std::uint64_t position, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = detail::call_fails("write", temporary_)
                                  ? -1
                                  : ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(position));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_write(bytes.size(), position);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      position += static_cast<std::uint64_t>(written);
    }
  }

  void write_at(std::uint64_t position, std::string_view text) { write_at(position, std::as_bytes(std::span{text})); }

  /// Whether the file is in its place, which it may be although `finish` threw.
  [[nodiscard]] bool is_in_place() const { return file_ < 0; }

  /// How many bytes `write` has written.
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Puts the file in its place.    throws: ValueError where a write has failed before
  void finish() {
    if (has_failed_) throw ValueError(join_text({"write: '", temporary_, "' is not whole since a write has failed"}));
    if (detail::call_fails("fsync", temporary_) || ::fsync(file_) != 0) detail::fail_call("fsync", temporary_);
    if (detail::call_fails("rename", path_) || ::rename(temporary_.c_str(), path_.c_str()) != 0)
      detail::fail_call("rename", path_);
    ::close(file_);
    file_ = -1;
    sync_folder(folder_of(path_));
  }

private:
  /// Makes the temporary file and locks it. Returns false where another name has to be tried.
  [[nodiscard]] bool create() {
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0) return errno != EEXIST;
    if (detail::lock_unfinished(file_)) return true;
    ::close(file_); // another process took it for one that was left behind
    file_ = -1;
    return false;
  }

  [[noreturn]] void fail_write(std::size_t bytes, std::uint64_t position) {
    has_failed_ = true;
    const std::string reason = std::strerror(errno);
    throw SystemError(join_text({"write: '", temporary_, "', ", bytes, " bytes at byte ", position, ": ", reason}));
  }

  std::string path_;
  std::string temporary_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  bool has_failed_ = false;
};

} // namespace twill::inline v0::io
