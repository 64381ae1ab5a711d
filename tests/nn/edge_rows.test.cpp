// SPDX-License-Identifier: Apache-2.0
//
// Programs of reductions, norms and losses of rows at ties, zeros, huge values, infinities and NaN on hosts, in every floating
// type. Beside PyTorch they stand in tests/graph/edge_rows.test.cpp.

#include "tests/support/edge_programs.hpp"

#include <catch2/catch.hpp>

using namespace twill;

TEMPLATE_TEST_CASE("compiled functions of rows and derivatives are right at ties and at the ends", "[nn]", float,
                   double, twill::half, bfloat16) {
  CHECK(test::edge_differences_of_rows<TestType>(Cpu{0}) == "");
}
