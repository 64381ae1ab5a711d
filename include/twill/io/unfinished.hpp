#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a program that died in the middle of a save has left: temporary files beside the place of the file, "x.npy.writing-17-0".
// Whoever writes one holds a lock on it, which goes with the process, so a file that can be locked is nobody's any more, and
// the next save of the same name removes it; those of other names stay. Read next: io/atomic_file.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>

#include <atomic>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace twill::inline v0::io::detail {

inline constexpr std::string_view unfinished_mark = ".writing-";

/// A name for what will be the file at `path`, that no other file of this process has, nor, most likely, one of another process.
[[nodiscard]] inline std::string unfinished_of(std::string_view path) {
  static std::atomic<unsigned> count{0};
  return join_text({path, unfinished_mark, ::getpid(), "-", count.fetch_add(1)});
}

/// The name of the file that this one would have become, empty where it is no temporary file.
[[nodiscard]] inline std::string_view finished_name(std::string_view name) {
  const std::size_t mark = name.rfind(unfinished_mark);
  if (mark == std::string_view::npos) return {};
  const std::string_view numbers = name.substr(mark + unfinished_mark.size());
  const std::size_t dash = numbers.find('-');
  if (dash == 0 || dash == std::string_view::npos || dash + 1 == numbers.size()) return {};
  if (numbers.find_first_not_of("0123456789") != dash) return {};
  if (numbers.find_first_not_of("0123456789", dash + 1) != std::string_view::npos) return {};
  return name.substr(0, mark);
}

/// Takes the lock that says that somebody writes to an open file. Returns false where another process has it, or has removed the
/// file meanwhile; file systems without locks have nobody who would.
[[nodiscard]] inline bool lock_unfinished(int file) {
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat status {};
  return ::fstat(file, &status) != 0 || status.st_nlink > 0;
}

/// Removes a temporary file unless somebody writes to it. What cannot be removed stays: it is in nobody's way.
inline void remove_unfinished(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (file < 0) return;
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  ::close(file);
}

/// Removes what dead processes left of the file `name` of a folder, which ends in a slash. A folder that cannot be listed has
/// to be cleaned by others.    requires: a name, since files that are no temporary ones have an empty finished name
inline void remove_unfinished(const std::string& folder, std::string_view name) {
  const auto close = [](DIR* directory) { ::closedir(directory); };
  const std::unique_ptr<DIR, decltype(close)> directory{::opendir(folder.c_str())};
  if (directory == nullptr) return;
  while (const dirent* entry = ::readdir(directory.get()))
    if (finished_name(entry->d_name) == name) remove_unfinished(join_text({folder, entry->d_name}));
}

} // namespace twill::inline v0::io::detail
