#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A whole file as memory, paged in as it is read. Whoever writes to that memory gets a copy of the page: the file never changes.
// A file must not become shorter while it is mapped; those that twill writes are replaced as a whole, which is no harm.

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

namespace twill::inline v0::io {

class MappedFile {
public:
  /// throws: SystemError naming the file and why
  explicit MappedFile(const std::string& path) {
    const int file = detail::call_fails("open", path) ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) detail::fail_call("open", path);
    struct stat status {};
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
      if (S_ISDIR(status.st_mode)) errno = EISDIR;
      const int reason = errno;
      ::close(file);
      errno = reason;
      detail::fail_call("open", path);
    }
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ > 0)
      data_ = detail::call_fails("map", path)
                  ? MAP_FAILED
                  : ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
    const int reason = errno;
    ::close(file);
    errno = reason;
    if (data_ == MAP_FAILED) detail::fail_call("map", path);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (size_ > 0) ::munmap(data_, size_);
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace twill::inline v0::io
