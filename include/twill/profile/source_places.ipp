#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/source_places.hpp.

#include <twill/profile/source_places.hpp>

namespace twill { inline namespace v0 { namespace profile {
namespace detail {

/// The output of a program; nothing where it cannot be started.
TWILL_BODY std::string output_of(std::vector<std::string> command) {
  int ends[2] = {};
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const bool is_started = posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  if (is_started) {
    char part[4096];
    try {
      for (ssize_t size = 1; size > 0 || (size < 0 && errno == EINTR);)
        if ((size = read(ends[0], part, sizeof part)) > 0) text.append(part, static_cast<std::size_t>(size));
    } catch (const std::bad_alloc&) { // no memory for a report's places: it has none
      text.clear();
    }
  }
  close(ends[0]); // ends a program that still writes
  while (is_started && waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

TWILL_BODY std::string short_function(const std::string& mangled) {
  if (!mangled.starts_with("_Z")) return mangled; // else a function called f would be float
  int status = 0;
  char* const demangled = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (demangled == nullptr) return mangled;
  const std::string full{demangled};
  std::free(demangled);
  std::string name;
  int depth = 0; // of template arguments, which are left out
  for (std::size_t i = 0; i < full.size(); ++i) {
    const std::string_view rest = std::string_view{full}.substr(i);
    if (constexpr std::string_view hidden = "(anonymous namespace)::"; rest.starts_with(hidden)) {
      i += hidden.size() - 1;
      continue;
    }
    if (constexpr std::string_view word = "operator";
        depth == 0 && rest.starts_with(word)) { // and its sign, as it stands
      const std::size_t end = rest.find('(', word.size() + 1);
      name += rest.substr(0, end);
      break;
    }
    const char c = full[i];
    if (c == '<') ++depth;
    if (c == '(' && depth == 0) {
      const bool is_lambda = name.ends_with("{lambda");
      if (!is_lambda && !name.empty() && !name.ends_with("decltype ")) break;
      for (int open = 0; i < full.size(); ++i) { // to the parenthesis that closes this one
        open += full[i] == '(' ? 1 : full[i] == ')' ? -1 : 0;
        if (open == 0) break;
      }
      if (is_lambda) i = std::min(full.find('}', i), full.size()) - 1;
      continue;
    }
    if (depth == 0) name += c;
    if (c == '>') --depth;
  }
  const std::size_t end = std::min(name.find("operator"), name.size());
  const std::size_t space = name.rfind(' ', end == 0 ? 0 : end - 1);
  return space == std::string::npos ? name : name.substr(space + 1);
}

TWILL_BODY bool is_own_function(std::string_view mangled) {
  for (const std::string_view begin : {"_ZN5twill", "_ZNK5twill", "_ZZN5twill", "_ZZNK5twill", "_ZNSt", "_ZNKSt",
                                       "_ZSt", "_ZZNSt", "_ZZSt", "_ZN9__gnu_cxx"})
    if (mangled.starts_with(begin)) return true;
  return false;
}

/// Whether a function begins a program or a thread, which says nothing about it.
TWILL_BODY bool is_beginning(std::string_view function) {
  for (const std::string_view name :
       {"_start", "__libc_start", "start_thread", "clone", "__clone", "thread_start", "execute_native_thread_routine"})
    if (function.starts_with(name)) return true;
  return false;
}

/// Whether a file is in the folder of twill's headers, which is this one's path without its end, or the standard
/// library's.
TWILL_BODY bool is_own_file(std::string_view path) {
  constexpr std::string_view here = __FILE__;
  constexpr std::string_view own = here.substr(0, here.rfind("profile/"));
  return path.find(own) != std::string_view::npos || path.find("/include/c++/") != std::string_view::npos;
}

/// A place in a file of code.
struct Code {
  std::string file{};
  std::uintptr_t offset = 0;
};

/// The file of code that an address is in.
TWILL_BODY Code code_of(const void* address) {
  struct Search {
    std::uintptr_t address = 0;
    Code found{};
  } search{reinterpret_cast<std::uintptr_t>(address) - 1, {}}; // inside of the call, not after it
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        Search& wanted = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const std::uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
          if (info->dlpi_phdr[i].p_type != PT_LOAD || wanted.address < begin ||
              wanted.address >= begin + info->dlpi_phdr[i].p_memsz)
            continue;
          const bool is_program = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
          wanted.found = {is_program ? "/proc/self/exe" : info->dlpi_name, wanted.address - info->dlpi_addr};
          return 1;
        }
        return 0;
      },
      &search);
  if (search.found.file == "/proc/self/exe") { // the link is another one in addr2line's process
    char path[4096];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
    search.found.file = size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string{};
  }
  return search.found;
}

/// An address that addr2line is asked about, and where its answer goes.
struct Asked {
  std::uintptr_t offset = 0;
  std::vector<SourceLine>* lines = nullptr;
};

/// A function and its place as addr2line prints them.
TWILL_BODY SourceLine line_of(const std::string& mangled, const std::string& place) {
  SourceLine line{short_function(mangled), {}, 0, is_own_function(mangled)};
  const std::size_t colon = place.rfind(':');
  const std::string file = place.substr(0, colon);
  if (colon == std::string::npos || file == "??") return line;
  line.file = file;
  line.line = std::atoi(place.c_str() + colon + 1); // "12 (discriminator 2)" is 12
  line.is_own = is_own_file(file);
  return line;
}

/// Asks addr2line about addresses in a file of code. It prints for each address itself, then two lines for each
/// function around it: its name, and file:line.
TWILL_BODY void ask_addr2line(const std::string& file, std::span<const Asked> addresses) {
  std::vector<std::string> command{"addr2line", "-a", "-f", "-i", "-e", file};
  for (const Asked& asked : addresses) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(asked.offset));
    command.emplace_back(text);
  }
  const std::string answer = output_of(std::move(command));
  std::size_t number = 0, at = 0;
  const auto next_line = [&] {
    const std::size_t end = std::min(answer.find('\n', at), answer.size());
    std::string line = answer.substr(at, end - at);
    at = end + 1;
    return line;
  };
  std::vector<SourceLine>* lines = nullptr;
  bool is_first = true;
  while (at < answer.size()) {
    const std::string first = next_line();
    if (first.starts_with("0x")) {
      if (number == addresses.size()) return;
      lines = addresses[number++].lines;
      is_first = true;
      continue;
    }
    const std::string place = next_line();
    if (lines == nullptr || first == "??") continue;
    if (std::exchange(is_first, false)) lines->clear();
    lines->push_back(line_of(first, place));
  }
}

} // namespace detail

TWILL_BODY std::string to_string(const SourceLine& line) {
  if (line.file.empty()) return line.function;
  const std::string place = join_text({line.file.substr(line.file.rfind('/') + 1), ":", line.line});
  return line.function.empty() ? place : join_text({place, " (", line.function, ")"});
}

TWILL_BODY void SourcePlaces::prepare(std::span<const memory::CallStack* const> stacks) {
  constexpr std::size_t most_at_once = 1000;
  std::map<std::string, std::vector<detail::Asked>> files;
  for (const memory::CallStack* stack : stacks) {
    if (stack == nullptr) continue;
    for (std::size_t i = 0; i < stack->size; ++i) {
      const void* const address = stack->addresses[i];
      std::vector<SourceLine>& lines = lines_[address];
      if (!lines.empty()) continue;
      Dl_info info{};
      const char* const symbol = dladdr(address, &info) != 0 ? info.dli_sname : nullptr;
      lines.emplace_back();
      if (symbol != nullptr) lines[0] = {detail::short_function(symbol), {}, 0, detail::is_own_function(symbol)};
      const detail::Code code = detail::code_of(address);
      if (!code.file.empty()) files[code.file].push_back({code.offset, &lines});
    }
  }
  for (const auto& [file, asked] : files)
    for (std::size_t first = 0; first < asked.size(); first += most_at_once)
      detail::ask_addr2line(file, std::span{asked}.subspan(first, std::min(most_at_once, asked.size() - first)));
}

TWILL_BODY std::vector<SourceLine> SourcePlaces::lines(const memory::CallStack* stack) {
  std::vector<SourceLine> result;
  if (stack == nullptr) return result;
  prepare(std::span{&stack, 1});
  for (std::size_t i = 0; i < stack->size; ++i)
    for (const SourceLine& line : lines_[stack->addresses[i]])
      if (!detail::is_beginning(line.function)) result.push_back(line);
  return result;
}

TWILL_BODY std::string SourcePlaces::statement(const memory::CallStack* stack) {
  std::string outermost;
  for (const SourceLine& line : lines(stack)) {
    if (!line.is_own && (!line.file.empty() || !line.function.empty())) return to_string(line);
    if (!line.function.empty()) outermost = line.function;
  }
  return outermost.empty() ? outermost : "<" + outermost + ">";
}

}}} // namespace twill::v0::profile
