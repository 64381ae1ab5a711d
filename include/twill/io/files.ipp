#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/files.hpp.

#include <twill/io/files.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace twill { inline namespace v0 { namespace io {

namespace detail {

TWILL_BODY OpenFile::~OpenFile() { ::close(descriptor); }

/// Not by std::filesystem, whose iterator ends the program where it finds no memory.
TWILL_BODY bool list_names(const std::string& folder, std::vector<std::string>& names) {
  const auto close = [](DIR* directory) { ::closedir(directory); };
  const std::unique_ptr<DIR, decltype(close)> directory{::opendir(folder.c_str())};
  if (directory == nullptr) return false;
  for (errno = 0; const dirent* entry = ::readdir(directory.get()); errno = 0)
    if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
  return errno == 0;
}

TWILL_COLD TWILL_BODY void fail_call(std::string_view call, std::string_view path) {
  const std::string reason = std::strerror(errno);
  throw SystemError(std::string{call}.append(": '").append(path).append("': ").append(reason));
}

TWILL_BODY bool is_refused(std::string_view call, std::string_view path) {
  const FileFault fault = file_fault.load(std::memory_order_relaxed);
  if (fault == nullptr) return false;
  const int reason = fault(call, path);
  if (reason != 0) errno = reason;
  return reason != 0;
}

} // namespace detail

TWILL_BODY MappedFile::MappedFile(const std::string& path) {
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK; // the last for pipes, which wait for a writer
  const detail::OpenFile file{detail::file_call("open", path, [&] { return ::open(path.c_str(), flags); })};
  struct stat status {};
  if (::fstat(file.descriptor, &status) != 0) detail::fail_call("open", path);
  if (!S_ISREG(status.st_mode))
    throw SystemError(std::string{"open: '"}.append(path).append("': ").append(
        S_ISDIR(status.st_mode)    ? "Is a directory"
        : S_ISFIFO(status.st_mode) ? "Is a pipe, not a file"
                                   : "Is a device, not a file"));
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  detail::file_call("map", path, [&] {
    data_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.descriptor, 0);
    return data_ == MAP_FAILED ? -1 : 0;
  });
}

TWILL_BODY MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(data_, size_);
}

TWILL_BODY std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "./" : std::string{path.substr(0, slash + 1)};
}

TWILL_BODY std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names{};
  detail::file_call("read", folder, [&] { return detail::list_names(folder, names) ? 0 : -1; });
  return names;
}

TWILL_BODY void make_folder(const std::string& path) {
  std::error_code failure{};
  if (std::filesystem::is_directory(path, failure)) return;
  const std::string parent = std::filesystem::path{path}.parent_path().string();
  const std::string above = parent.empty() ? "." : parent;
  make_folder(above);
  detail::file_call("create", path, [&] {
    std::filesystem::create_directory(path, failure);
    errno = failure.value();
    return failure ? -1 : 0;
  });
  if (::access(above.c_str(), R_OK) == 0) sync_folder(above); // one that may not be read cannot be opened for that
}

TWILL_BODY void sync_folder(const std::string& folder) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  const detail::OpenFile file{detail::file_call("open", folder, [&] { return ::open(folder.c_str(), flags); })};
  detail::file_call("fsync", folder, [&] { // some file systems cannot sync folders
    return ::fsync(file.descriptor) == 0 || errno == EINVAL ? 0 : -1;
  });
}

TWILL_BODY void remove_file(const std::string& path) {
  detail::file_call("remove", path, [&] { return ::unlink(path.c_str()) == 0 || errno == ENOENT ? 0 : -1; });
}

TWILL_BODY std::uint64_t checked_bytes(std::string_view where, DType dtype, const Dims& shape) {
  const std::int64_t bytes = counted_bytes(shape, size_of(dtype));
  if (bytes < 0)
    throw ValueError(join_text({where, " is damaged: shape ", to_string(shape), " of ", name(dtype),
                                " has more bytes than there are addresses"}));
  return static_cast<std::uint64_t>(bytes);
}

TWILL_BODY void require_truth_values(std::string_view where, DType dtype, std::span<const std::byte> bytes) {
  if (dtype != DType::boolean) return;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] > std::byte{1})
      throw ValueError(
          join_text({where, " is damaged: element ", i, " of type bool is ", std::to_integer<unsigned>(bytes[i])}));
}

}}} // namespace twill::v0::io
