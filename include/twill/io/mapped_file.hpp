#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A whole file as memory, paged in as it is read. Whoever writes to that memory gets a copy of the page: the file never changes.
// A file must not become shorter while it is mapped; those that twill writes are replaced as a whole, which is no harm.
// Folders, pipes and devices have no bytes that could be mapped: they are refused by name, and no pipe is waited for.

#include <twill/core/config.hpp>
#include <twill/io/file_calls.hpp>

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <span>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace twill::inline v0::io::detail {

/// What is wrong with what stands at a path where a file was expected, or null.
[[nodiscard]] const char* other_than_file(mode_t mode);

} // namespace twill::inline v0::io::detail

namespace twill::inline v0::io {

class MappedFile {
public:
  /// throws: SystemError naming the file and why
  explicit MappedFile(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace twill::inline v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/mapped_file.ipp>
#endif
