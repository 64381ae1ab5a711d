#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// From the addresses of calls to functions and lines of source text. `addr2line` of the binutils is asked where it is installed,
// once for each file of code; it knows lines in programs built with -g (-g1 suffices) and functions in others. Without it, and
// for what it does not know, exported functions are named. What counts as the user's is the innermost call outside of twill
// and the standard library. Read next: profile/memory_places.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/memory/place.hpp>
#include <twill/profile/detail/numbers.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace twill::inline v0::profile {

/// Where a call stands. What is not known is empty, or line 0.
struct SourceLine {
  std::string function{}; ///< without arguments and template arguments
  std::string file{};     ///< as the compiler was given it
  int line = 0;           ///< from 1
  bool is_own = false;    ///< of twill's or the standard library
};

namespace detail {

/// What a program prints, or nothing where it cannot be started.
[[nodiscard]] std::string output_of(std::vector<std::string> command);

/// A function's name as people say it: no arguments, no template arguments, no type of its result.
[[nodiscard]] std::string short_function(const std::string& mangled);

[[nodiscard]] bool is_own_function(std::string_view mangled);

/// What begins a program or a thread, and says nothing about it.
[[nodiscard]] bool is_beginning(std::string_view function);

/// Where the headers lie: what stands before this one's path below it.
[[nodiscard]] bool is_own_file(std::string_view path);

} // namespace detail

/// Answers where calls stand, and remembers.
class SourcePlaces {
public:
  /// Finds out about many calls at once, which is much faster than one by one.
  void prepare(std::span<const memory::CallStack* const> stacks);

  /// Where a call stack stands, the innermost first, calls that were inlined included.
  [[nodiscard]] std::vector<SourceLine> lines(const memory::CallStack* stack);

  /// The user's statement, "train.cpp:42 (main)"; empty where there are no calls, and in angle brackets the outermost known
  /// function where all are twill's.
  [[nodiscard]] std::string statement(const memory::CallStack* stack);

  /// "file:line", with the last part of the path.
  [[nodiscard]] static std::string words(const SourceLine& line);

private:
  static constexpr std::size_t most_at_once = 1000;

  /// A place in a file of code.
  struct Code {
    std::string file{};
    std::uintptr_t offset = 0;
  };

  /// What addr2line is asked about one file of code.
  struct Asked {
    std::string file{};
    std::vector<std::pair<const void*, std::uintptr_t>> addresses{};
  };
  /// That of a file, which is one of few.
  [[nodiscard]] static Asked& among(std::vector<Asked>& asked, const std::string& file);

  [[nodiscard]] static Code code_of(const void* address);

  [[nodiscard]] static const char* exported_symbol(const void* address);
  [[nodiscard]] static std::string exported_name(const void* address);
  [[nodiscard]] static bool is_own_exported(const void* address);

  /// addr2line prints for each address itself, then two lines for each function around it: its name, and file:line.
  void ask(const std::string& file, std::span<const std::pair<const void*, std::uintptr_t>> addresses);

  [[nodiscard]] static SourceLine line_of(const std::string& mangled, const std::string& place);

  /// requires: it has been prepared
  [[nodiscard]] std::vector<SourceLine>& lines_of(const void* address);

  detail::AddressNumbers numbers_{};
  std::vector<std::vector<SourceLine>> lines_{}; ///< of each address
};

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/source_places.ipp>
#endif
