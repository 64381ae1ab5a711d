#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Folders as writers need them: made for good, so that the folder above knows them after a power cut as well, and listed
// without a way to end the program (the standard library's iterator does, where it finds no memory). Read next:
// io/atomic_file.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/io/file_calls.hpp>

#include <cerrno>
#include <cstddef>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace twill::inline v0::io {

/// The folder that a path lies in, with a slash at the end.
[[nodiscard]] std::string folder_of(std::string_view path);

/// Brings to the disk which names a folder holds. throws: SystemError
void sync_folder(const std::string& folder);

/// Makes a folder, and those above it that are missing, each brought to the disk in the one above. throws: SystemError
void make_folder(std::string path);

/// The names that a folder holds, in no order. throws: SystemError
[[nodiscard]] std::vector<std::string> names_in(const std::string& folder);

} // namespace twill::inline v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/folder.ipp>
#endif
