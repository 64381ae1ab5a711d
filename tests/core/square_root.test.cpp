// SPDX-License-Identifier: Apache-2.0
//
// Square roots of constant evaluation beside those of the standard library.

#include <twill/core/square_root.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using twill::square_root;

static_assert(square_root(0) == 0 && square_root(1) == 1 && square_root(9) == 3 && square_root(0.25) == 0.5);

TEST_CASE("square roots are within a unit in the last place of the library's, from end to end", "[core]") {
  using Limits = std::numeric_limits<double>;
  int checked = 0;
  for (double x = Limits::denorm_min(); x < Limits::infinity(); x *= 1.7 + 1e-3 * (checked % 7), ++checked) {
    const double expected = std::sqrt(x);
    const double unit = std::nextafter(expected, Limits::infinity()) - expected;
    if (!(std::abs(square_root(x) - expected) <= unit)) FAIL(x << ": " << square_root(x) << ", not " << expected);
  }
  CHECK(checked > 1000);
  CHECK(square_root(Limits::infinity()) == Limits::infinity());
  CHECK(std::isnan(square_root(-1.0)));
}
