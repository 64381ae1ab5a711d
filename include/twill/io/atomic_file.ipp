#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/atomic_file.hpp.

#include <twill/io/atomic_file.hpp>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace twill { inline namespace v0 { namespace io {

namespace detail {

inline constexpr std::string_view unfinished_mark = ".writing-";

/// A temporary name that no other file of this process has, nor, most likely, one of another process.
[[nodiscard]] inline std::string unfinished_of(std::string_view path) {
  static std::atomic<unsigned> count{0};
  return join_text({path, unfinished_mark, ::getpid(), "-", count.fetch_add(1)});
}

TWILL_BODY std::string_view finished_name(std::string_view name) {
  const std::size_t mark = name.rfind(unfinished_mark);
  if (mark == std::string_view::npos) return {};
  const std::string_view numbers = name.substr(mark + unfinished_mark.size());
  constexpr std::string_view digits = "0123456789";
  const std::size_t dash = numbers.find_first_not_of(digits);
  if (dash == 0 || dash >= numbers.size() - 1 || numbers[dash] != '-') return {};
  return numbers.find_first_not_of(digits, dash + 1) == std::string_view::npos ? name.substr(0, mark)
                                                                               : std::string_view{};
}

TWILL_BODY void remove_unfinished(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0) return;
  const OpenFile file{descriptor};
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
}

} // namespace detail

TWILL_BODY AtomicFile::AtomicFile(std::string path) : path_{std::move(path)} {
  const std::string_view name = std::string_view{path_}.substr(path_.rfind('/') + 1);
  if (name.empty()) throw ValueError(join_text({"write: '", path_, "' is not a file name"}));
  const std::string folder = folder_of(path_);
  std::vector<std::string> present{};
  static_cast<void>(detail::list_names(folder, present)); // a folder may be written to, yet not be listed
  for (const std::string& other : present)
    if (detail::finished_name(other) == name) detail::remove_unfinished(folder + other);
  do temporary_ = detail::unfinished_of(path_);
  while (!create());
}

TWILL_BODY AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

TWILL_BODY bool AtomicFile::create() {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  file_ = detail::tried_file_call("open", temporary_, [&] { return ::open(temporary_.c_str(), flags, 0666); });
  if (file_ < 0 && errno != EEXIST) detail::fail_call("open", temporary_);
  if (file_ < 0) return false;
  struct stat status {};
  const bool is_locked = ::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; // some have no locks
  if (is_locked && (::fstat(file_, &status) != 0 || status.st_nlink > 0)) return true;
  ::close(std::exchange(file_, -1)); // another process took it for an abandoned one
  return false;
}

TWILL_BODY void AtomicFile::write(std::span<const std::byte> bytes) {
  write_at(size_, bytes);
  size_ += bytes.size();
}

TWILL_BODY void AtomicFile::write_at(std::uint64_t position, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = detail::tried_file_call(
        "write", temporary_, [&] { return ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(position)); });
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      has_failed_ = true;
      const std::string reason = std::strerror(errno);
      throw SystemError(
          join_text({"write: '", temporary_, "', ", bytes.size(), " bytes at byte ", position, ": ", reason}));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    position += static_cast<std::uint64_t>(written);
  }
}

TWILL_BODY void AtomicFile::finish() {
  if (has_failed_) throw ValueError(join_text({"write: '", temporary_, "' is incomplete, because a write has failed"}));
  detail::file_call("fsync", temporary_, [&] { return ::fsync(file_); });
  detail::file_call("rename", path_, [&] { return std::rename(temporary_.c_str(), path_.c_str()); });
  ::close(std::exchange(file_, -1));
  sync_folder(folder_of(path_));
}

}}} // namespace twill::v0::io
