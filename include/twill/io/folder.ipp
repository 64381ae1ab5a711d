#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/folder.hpp.

#include <twill/io/folder.hpp>

namespace twill::inline v0::io {

TWILL_BODY std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "./" : std::string{path.substr(0, slash + 1)};
}

TWILL_BODY void sync_folder(const std::string& folder) {
  const int directory =
      detail::call_fails("open", folder) ? -1 : ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) detail::fail_call("open", folder);
  const bool fails = detail::call_fails("fsync", folder) || ::fsync(directory) != 0;
  const int reason = errno;
  ::close(directory);
  errno = reason;
  if (fails && errno != EINVAL) detail::fail_call("fsync", folder); // some file systems have no such thing
}

TWILL_BODY void make_folder(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return;
  const std::string above = folder_of(path);
  make_folder(above);
  if (detail::call_fails("create", path) || (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST))
    detail::fail_call("create", path);
  if (::stat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) { // somebody else's file
    errno = ENOTDIR;
    detail::fail_call("create", path);
  }
  if (::access(above.c_str(), R_OK) == 0) sync_folder(above); // one that may not be read cannot be opened for that
}

TWILL_BODY std::vector<std::string> names_in(const std::string& folder) {
  const auto close = [](DIR* directory) { ::closedir(directory); };
  const std::unique_ptr<DIR, decltype(close)> directory{detail::call_fails("read", folder) ? nullptr
                                                                                           : ::opendir(folder.c_str())};
  if (directory == nullptr) detail::fail_call("read", folder);
  std::vector<std::string> names{};
  for (errno = 0; const dirent* entry = ::readdir(directory.get()); errno = 0)
    if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
  if (errno != 0) detail::fail_call("read", folder);
  return names;
}

} // namespace twill::inline v0::io
