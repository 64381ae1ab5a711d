#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/file_calls.hpp.

#include <twill/io/file_calls.hpp>

namespace twill::inline v0::io {
namespace detail {

TWILL_BODY bool call_fails(std::string_view call, std::string_view path) {
  const FileFault fault = file_fault().load(std::memory_order_relaxed);
  if (fault == nullptr) return false;
  const int reason = fault(call, path);
  if (reason != 0) errno = reason;
  return reason != 0;
}

TWILL_COLD TWILL_BODY void fail_call(std::string_view call, std::string_view path) {
  const std::string reason = std::strerror(errno);
  throw SystemError(std::string{call}.append(": '").append(path).append("': ").append(reason));
}

} // namespace detail
} // namespace twill::inline v0::io
