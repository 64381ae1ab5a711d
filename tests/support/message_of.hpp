#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What an error says, for tests that read messages.

#include <twill/core/error.hpp>

#include <catch2/catch.hpp>

#include <string>

namespace twill::test {

/// The message of the exception that `function` throws; of another type, or none, fails the test.
template <class Expected = Error, class F> std::string message_of(F&& function) {
  try {
    function();
  } catch (const Expected& error) {
    return error.what();
  }
  FAIL("nothing was thrown");
  return {};
}

} // namespace twill::test
