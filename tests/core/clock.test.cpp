// SPDX-License-Identifier: Apache-2.0

#include <twill/core/clock.hpp>

#include <catch2/catch.hpp>

#include <chrono>

using namespace twill;

TEST_CASE("the steady clock agrees with the standard library's and never runs backwards", "[core]") {
  const auto standard = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  double last = 0;
  for (int i = 0; i < 1000; ++i) {
    const double before = standard();
    const double now = steady_seconds();
    const double after = standard();
    REQUIRE(now >= last);
    // both read the same clock; the margin is that of rounding to double
    REQUIRE(now >= before - 1e-6);
    REQUIRE(now <= after + 1e-6);
    last = now;
  }
}
