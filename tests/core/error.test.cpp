// SPDX-License-Identifier: Apache-2.0
#include <twill/core/error.hpp>

#include <catch2/catch.hpp>

#include <stdexcept>
#include <string>
#include <type_traits>

using namespace twill;

namespace {
std::string received;
void keep(std::string_view message) { received = message; }
} // namespace

TEMPLATE_TEST_CASE("every error is a twill::Error and a std::runtime_error with its message", "[core]", ShapeError,
                   DeviceError, ValueError, IndexError, NumericError, SystemError) {
  STATIC_REQUIRE(std::is_base_of_v<Error, TestType>);
  STATIC_REQUIRE(std::is_base_of_v<std::runtime_error, Error>);
  const auto thrower = [] { throw TestType("matmul: left has 4 columns, right has 5 rows"); };
  REQUIRE_THROWS_AS(thrower(), TestType);
  REQUIRE_THROWS_WITH(thrower(), "matmul: left has 4 columns, right has 5 rows");
}

TEST_CASE("warnings go to the sink that the program sets, and a null pointer restores the default", "[core]") {
  received.clear();
  const WarningSink original = set_warning_sink(&keep);
  warn("the devices are unbalanced");
  REQUIRE(received == "the devices are unbalanced");
  REQUIRE(set_warning_sink(nullptr) == &keep);
  REQUIRE(set_warning_sink(original) == original); // the default of a test program is the default itself
}
