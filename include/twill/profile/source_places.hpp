#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Symbolization of call stacks: from addresses of calls to functions and lines of source text. `addr2line` of the
// binutils is asked where it is installed, once for each file of code; it knows lines in programs built with -g (-g1
// suffices) and functions in others. Without it, and for what it does not know, exported functions are named. A call
// counts as the user's where it is outside of twill and the standard library. Read next: profile/memory_places.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/memory/place.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
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

namespace twill { inline namespace v0 { namespace profile {

/// The place of a call in source text. Unknown parts are empty, or line 0.
struct SourceLine {
  std::string function{}; ///< without arguments and template arguments
  std::string file{};     ///< as the compiler was given it
  int line = 0;           ///< from 1
  bool is_own = false;    ///< of twill's or the standard library
};

/// A line as "file:line (function)", with the last part of the path.
[[nodiscard]] std::string to_string(const SourceLine& line);

namespace detail {

/// A function's name as people say it: no arguments, no template arguments, no type of its result.
[[nodiscard]] std::string short_function(const std::string& mangled);

/// Whether a function is twill's or the standard library's.
[[nodiscard]] bool is_own_function(std::string_view mangled);

} // namespace detail

/// Answers where calls stand, and remembers.
class SourcePlaces {
public:
  /// Finds out about many calls at once, which is much faster than one by one.
  void prepare(std::span<const memory::CallStack* const> stacks);

  /// Where a call stack stands, the innermost first, calls that were inlined included.
  [[nodiscard]] std::vector<SourceLine> lines(const memory::CallStack* stack);

  /// The user's innermost statement, "train.cpp:42 (main)"; empty where there are no calls, and in angle brackets the
  /// outermost known function where all are twill's.
  [[nodiscard]] std::string statement(const memory::CallStack* stack);

private:
  std::map<const void*, std::vector<SourceLine>> lines_{}; ///< of each address that was asked for
};

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/source_places.ipp>
#endif
