#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Between twill's readers and writers and the operating system stands one question: shall this call fail? Tests answer yes to
// each call of a save in turn, and see that an exception comes out, the old file is whole and nothing is left over. Nobody asks
// in earnest: the answer costs the load of a null pointer. Read next: io/atomic_file.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

namespace twill::inline v0::io {

/// Decides about one call ("open", "write", "fsync", "rename", ...) on a file: an errno with which it fails instead of being
/// made, or 0.
using FileFault = int (*)(std::string_view call, std::string_view path);

namespace detail {
TWILL_EXPORT inline std::atomic<FileFault>& file_fault() {
  static std::atomic<FileFault> fault{nullptr};
  return fault;
}

/// Whether a call is to fail; then errno says why.
[[nodiscard]] bool call_fails(std::string_view call, std::string_view path);

/// throws: SystemError that names the call, the file and what errno says
[[noreturn]] void fail_call(std::string_view call, std::string_view path);
} // namespace detail

/// For tests: asks `fault` before each call from now on, null for nobody. Returns who was asked before.
inline FileFault set_file_fault(FileFault fault) { return detail::file_fault().exchange(fault); }

} // namespace twill::inline v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/file_calls.ipp>
#endif
