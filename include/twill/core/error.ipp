#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of core/error.hpp.

#include <twill/core/error.hpp>

namespace twill { inline namespace v0 {
namespace detail {

TWILL_BODY void warn_on_stderr(std::string_view message) {
  std::fprintf(stderr, "twill: warning: %.*s\n", static_cast<int>(message.size()), message.data());
}

} // namespace detail

TWILL_BODY WarningSink set_warning_sink(WarningSink sink) {
  return detail::warning_sink().exchange(sink != nullptr ? sink : &detail::warn_on_stderr);
}

}} // namespace twill::v0
