#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/atomic_file.hpp.

#include <twill/io/atomic_file.hpp>

namespace twill::inline v0::io {

TWILL_BODY AtomicFile::AtomicFile(std::string path) : path_{std::move(path)}, temporary_{detail::unfinished_of(path_)} {
  const std::string_view name = std::string_view{path_}.substr(path_.rfind('/') + 1);
  if (name.empty()) throw ValueError(join_text({"write: '", path_, "' names no file"}));
  detail::remove_unfinished(folder_of(path_), name);
  if (!detail::call_fails("open", temporary_))
    while (!create()) temporary_ = detail::unfinished_of(path_);
  if (file_ < 0) detail::fail_call("open", temporary_);
}

TWILL_BODY AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

TWILL_BODY void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = detail::call_fails("write", temporary_) ? -1 : ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_write(bytes.size(), size_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    size_ += static_cast<std::uint64_t>(written);
  }
}

TWILL_BODY void AtomicFile::write_at(std::uint64_t position, std::span<const std::byte> bytes) {
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

TWILL_BODY void AtomicFile::finish() {
  if (has_failed_) throw ValueError(join_text({"write: '", temporary_, "' is not whole since a write has failed"}));
  if (detail::call_fails("fsync", temporary_) || ::fsync(file_) != 0) detail::fail_call("fsync", temporary_);
  if (detail::call_fails("rename", path_) || ::rename(temporary_.c_str(), path_.c_str()) != 0)
    detail::fail_call("rename", path_);
  ::close(file_);
  file_ = -1;
  sync_folder(folder_of(path_));
}

TWILL_BODY bool AtomicFile::create() {
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) return errno != EEXIST;
  if (detail::lock_unfinished(file_)) return true;
  ::close(file_); // another process took it for one that was left behind
  file_ = -1;
  return false;
}

TWILL_BODY void AtomicFile::fail_write(std::size_t bytes, std::uint64_t position) {
  has_failed_ = true;
  const std::string reason = std::strerror(errno);
  throw SystemError(join_text({"write: '", temporary_, "', ", bytes, " bytes at byte ", position, ": ", reason}));
}

} // namespace twill::inline v0::io
