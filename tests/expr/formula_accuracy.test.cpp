// SPDX-License-Identifier: Apache-2.0
//
// Activation functions keep the errors that tools/ulp measured, in their tails too. Here every 40009th float.

#include "tools/ulp/formulas.hpp"

#include <catch2/catch.hpp>

#include <string>

TEST_CASE("activation functions of float32 are as accurate as was measured", "[expr]") {
  for (const ulp::Formula& formula : ulp::formulas) {
    const ulp::Finding found = ulp::sweep(formula, 40009);
    INFO(std::string(formula.name) << " at " << found.where << ", wrong at " << found.where_wrong);
    CHECK(found.worst <= formula.bound);
    CHECK(found.worst > 0);
    CHECK(found.wrong == 0);
  }
}
