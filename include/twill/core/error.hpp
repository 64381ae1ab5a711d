#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Exceptions for every run-time error of twill. A message reads "where: what is required; what to do" and carries both
// values. Nothing aborts and nothing prints, except warnings through the replaceable sink at the end.

#include <twill/core/config.hpp>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 {

/// The base of all errors that twill throws.
class TWILL_EXPORT Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Extents that do not fit each other or an operation.
class TWILL_EXPORT ShapeError : public Error {
  using Error::Error;
};

/// A device that is missing, or operands on different devices.
class TWILL_EXPORT DeviceError : public Error {
  using Error::Error;
};

/// An argument outside its range, a wrong name, a missing file's content.
class TWILL_EXPORT ValueError : public Error {
  using Error::Error;
};

/// An index outside an axis.
class TWILL_EXPORT IndexError : public Error {
  using Error::Error;
};

/// Numbers that cannot be represented: overflow of a half, NaN found in checked mode.
class TWILL_EXPORT NumericError : public Error {
  using Error::Error;
};

/// A file or a system call failed.
class TWILL_EXPORT SystemError : public Error {
  using Error::Error;
};

/// Receives warnings; the default writes one line to the standard error stream.
using WarningSink = void (*)(std::string_view message);

namespace detail {
inline void warn_on_stderr(std::string_view message) {
  std::fprintf(stderr, "twill: warning: %.*s\n", static_cast<int>(message.size()), message.data());
}
TWILL_EXPORT inline std::atomic<WarningSink>& warning_sink() {
  static std::atomic<WarningSink> sink{&warn_on_stderr};
  return sink;
}
} // namespace detail

/// Replaces the sink of the process and returns the previous one; a null pointer restores the default.
inline WarningSink set_warning_sink(WarningSink sink) {
  return detail::warning_sink().exchange(sink != nullptr ? sink : &detail::warn_on_stderr);
}

/// Sends one line to the sink.
inline void warn(std::string_view message) { detail::warning_sink().load()(message); }

}} // namespace twill::v0
