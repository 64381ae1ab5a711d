#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/unfinished.hpp.

#include <twill/io/unfinished.hpp>

namespace twill::inline v0::io::detail {

TWILL_BODY std::string_view finished_name(std::string_view name) {
  const std::size_t mark = name.rfind(unfinished_mark);
  if (mark == std::string_view::npos) return {};
  const std::string_view numbers = name.substr(mark + unfinished_mark.size());
  const std::size_t dash = numbers.find('-');
  if (dash == 0 || dash == std::string_view::npos || dash + 1 == numbers.size()) return {};
  if (numbers.find_first_not_of("0123456789") != dash) return {};
  if (numbers.find_first_not_of("0123456789", dash + 1) != std::string_view::npos) return {};
  return name.substr(0, mark);
}

TWILL_BODY bool lock_unfinished(int file) {
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat status {};
  return ::fstat(file, &status) != 0 || status.st_nlink > 0;
}

TWILL_BODY void remove_unfinished(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (file < 0) return;
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  ::close(file);
}

TWILL_BODY void remove_unfinished(const std::string& folder, std::string_view name) {
  const auto close = [](DIR* directory) { ::closedir(directory); };
  const std::unique_ptr<DIR, decltype(close)> directory{::opendir(folder.c_str())};
  if (directory == nullptr) return;
  while (const dirent* entry = ::readdir(directory.get()))
    if (finished_name(entry->d_name) == name) remove_unfinished(join_text({folder, entry->d_name}));
}

} // namespace twill::inline v0::io::detail
