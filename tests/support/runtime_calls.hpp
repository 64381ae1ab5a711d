#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How often the emulated driver was called, for suites that run over a real one, too: there nothing is counted and no
// failure can be planned, so suites ask before they rely on either.

#include <initializer_list>
#include <string_view>

namespace twill::test {

/// Whether the driver of a kind counts its calls and fails on demand.
template <class D>
concept HasEmulatedDriver = requires(std::string_view call) {
  D::Runtime::calls_of(call);
  D::Runtime::fail_call(call, 1, 1);
};

/// Calls of these names so far; 0 of a real driver.
template <class D> long runtime_calls([[maybe_unused]] std::initializer_list<std::string_view> names) {
  long sum = 0;
  if constexpr (HasEmulatedDriver<D>)
    for (std::string_view name : names) sum += D::Runtime::calls_of(name);
  return sum;
}

} // namespace twill::test
