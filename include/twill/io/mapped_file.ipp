#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/mapped_file.hpp.

#include <twill/io/mapped_file.hpp>

namespace twill::inline v0::io::detail {

TWILL_BODY const char* other_than_file(mode_t mode) {
  return S_ISREG(mode)    ? nullptr
         : S_ISDIR(mode)  ? "Is a directory"
         : S_ISFIFO(mode) ? "Is a pipe, not a file"
         : S_ISSOCK(mode) ? "Is a socket, not a file"
                          : "Is a device, not a file";
}

} // namespace twill::inline v0::io::detail

namespace twill::inline v0::io {

TWILL_BODY MappedFile::MappedFile(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for somebody who writes to it.
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int file = detail::call_fails("open", path) ? -1 : ::open(path.c_str(), flags);
  int reason = errno;
  struct stat status {};
  const bool is_known = (file >= 0 ? ::fstat(file, &status) : ::stat(path.c_str(), &status)) == 0;
  const char* const other = is_known ? detail::other_than_file(status.st_mode) : nullptr;
  if (file < 0 || !is_known || other != nullptr) {
    if (file >= 0 && !is_known) reason = errno;
    if (file >= 0) ::close(file);
    if (other != nullptr) throw SystemError(std::string{"open: '"}.append(path).append("': ").append(other));
    errno = reason;
    detail::fail_call("open", path);
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ > 0)
    data_ = detail::call_fails("map", path)
                ? MAP_FAILED
                : ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
  reason = errno;
  ::close(file);
  errno = reason;
  if (data_ == MAP_FAILED) detail::fail_call("map", path);
}

TWILL_BODY MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(data_, size_);
}

} // namespace twill::inline v0::io
