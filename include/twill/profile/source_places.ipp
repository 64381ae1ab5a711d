#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/source_places.hpp.

#include <twill/profile/source_places.hpp>

namespace twill::inline v0::profile {
namespace detail {

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
  close(ends[0]); // whoever still writes is ended by that
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
    if (mangled.substr(0, begin.size()) == begin) return true;
  return false;
}

TWILL_BODY bool is_beginning(std::string_view function) {
  for (const std::string_view name :
       {"_start", "__libc_start", "start_thread", "clone", "__clone", "thread_start", "execute_native_thread_routine"})
    if (function.substr(0, name.size()) == name) return true;
  return false;
}

TWILL_BODY bool is_own_file(std::string_view path) {
  constexpr std::string_view here = __FILE__;
  constexpr std::string_view own = here.substr(0, here.rfind("profile/"));
  return path.find(own) != std::string_view::npos || path.find("/include/c++/") != std::string_view::npos;
}

} // namespace detail

TWILL_BODY void SourcePlaces::prepare(std::span<const memory::CallStack* const> stacks) {
  std::vector<Asked> asked;
  for (const memory::CallStack* stack : stacks) {
    if (stack == nullptr) continue;
    for (std::size_t i = 0; i < stack->size; ++i) {
      const void* const address = stack->addresses[i];
      const std::size_t number = detail::number_of(numbers_, {address, nullptr}).number;
      if (number < lines_.size() && !lines_[number].empty()) continue;
      lines_.resize(numbers_.size()); // first, so that whatever throws below leaves a place for each number
      const Code code = code_of(address);
      lines_[number] = {SourceLine{exported_name(address), {}, 0, is_own_exported(address)}};
      if (!code.file.empty()) among(asked, code.file).addresses.emplace_back(address, code.offset);
    }
  }
  for (const auto& [file, addresses] : asked)
    for (std::size_t first = 0; first < addresses.size(); first += most_at_once)
      ask(file, std::span{addresses}.subspan(first, std::min(most_at_once, addresses.size() - first)));
}

TWILL_BODY std::vector<SourceLine> SourcePlaces::lines(const memory::CallStack* stack) {
  std::vector<SourceLine> result;
  if (stack == nullptr) return result;
  prepare(std::span{&stack, 1});
  for (std::size_t i = 0; i < stack->size; ++i)
    for (const SourceLine& line : lines_of(stack->addresses[i]))
      if (!detail::is_beginning(line.function)) result.push_back(line);
  return result;
}

TWILL_BODY std::string SourcePlaces::statement(const memory::CallStack* stack) {
  std::string outermost;
  for (const SourceLine& line : lines(stack)) {
    if (!line.is_own && (!line.file.empty() || !line.function.empty())) return words(line);
    if (!line.function.empty()) outermost = line.function;
  }
  return outermost.empty() ? outermost : "<" + outermost + ">";
}

TWILL_BODY std::string SourcePlaces::words(const SourceLine& line) {
  if (line.file.empty()) return line.function;
  const std::string place = join_text({line.file.substr(line.file.rfind('/') + 1), ":", line.line});
  return line.function.empty() ? place : join_text({place, " (", line.function, ")"});
}

TWILL_BODY SourcePlaces::Asked& SourcePlaces::among(std::vector<Asked>& asked, const std::string& file) {
  for (Asked& known : asked)
    if (known.file == file) return known;
  asked.push_back({file, {}});
  return asked.back();
}

TWILL_BODY SourcePlaces::Code SourcePlaces::code_of(const void* address) {
  struct Search {
    std::uintptr_t address = 0;
    Code found{};
  } search{reinterpret_cast<std::uintptr_t>(address) - 1, {}}; // inside of the call, not behind it
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

TWILL_BODY const char* SourcePlaces::exported_symbol(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_sname : nullptr;
}

TWILL_BODY std::string SourcePlaces::exported_name(const void* address) {
  const char* const symbol = exported_symbol(address);
  return symbol == nullptr ? std::string{} : detail::short_function(symbol);
}

TWILL_BODY bool SourcePlaces::is_own_exported(const void* address) {
  const char* const symbol = exported_symbol(address);
  return symbol != nullptr && detail::is_own_function(symbol);
}

TWILL_BODY void SourcePlaces::ask(const std::string& file,
                                  std::span<const std::pair<const void*, std::uintptr_t>> addresses) {
  std::vector<std::string> command{"addr2line", "-a", "-f", "-i", "-e", file};
  for (const auto& [address, offset] : addresses) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(offset));
    command.emplace_back(text);
  }
  const std::string answer = detail::output_of(std::move(command));
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
    if (first.substr(0, 2) == "0x") {
      if (number == addresses.size()) return;
      lines = &lines_of(addresses[number++].first);
      is_first = true;
      continue;
    }
    const std::string place = next_line();
    if (lines == nullptr || first == "??") continue;
    if (std::exchange(is_first, false)) lines->clear();
    lines->push_back(line_of(first, place));
  }
}

TWILL_BODY SourceLine SourcePlaces::line_of(const std::string& mangled, const std::string& place) {
  SourceLine line{detail::short_function(mangled), {}, 0, detail::is_own_function(mangled)};
  const std::size_t colon = place.rfind(':');
  const std::string file = place.substr(0, colon);
  if (colon == std::string::npos || file == "??") return line;
  line.file = file;
  line.line = std::atoi(place.c_str() + colon + 1); // "12 (discriminator 2)" is 12
  line.is_own = detail::is_own_file(file);
  return line;
}

TWILL_BODY std::vector<SourceLine>& SourcePlaces::lines_of(const void* address) {
  return lines_[detail::number_of(numbers_, {address, nullptr}).number];
}

} // namespace twill::inline v0::profile
