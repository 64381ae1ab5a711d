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
[[nodiscard]] std::string_view finished_name(std::string_view name);

/// Takes the lock that says that somebody writes to an open file. Returns false where another process has it, or has removed the
/// file meanwhile; file systems without locks have nobody who would.
[[nodiscard]] bool lock_unfinished(int file);

/// Removes a temporary file unless somebody writes to it. What cannot be removed stays: it is in nobody's way.
void remove_unfinished(const std::string& path);

/// Removes what dead processes left of the file `name` of a folder, which ends in a slash. A folder that cannot be listed has
/// to be cleaned by others.    requires: a name, since files that are no temporary ones have an empty finished name
void remove_unfinished(const std::string& folder, std::string_view name);

} // namespace twill::inline v0::io::detail

#if TWILL_HEADER_ONLY
#include <twill/io/unfinished.ipp>
#endif
