// SPDX-License-Identifier: Apache-2.0
//
// Programs of functions, losses and their derivatives at kinks, in tails and at the ends of ranges on hosts, in every floating
// type. Beside PyTorch they stand in tests/graph/edges.test.cpp.

#include "tests/support/edge_programs.hpp"

#include <catch2/catch.hpp>

using namespace twill;

TEMPLATE_TEST_CASE("compiled functions and derivatives are right at kinks, in tails and at the ends", "[nn]", float,
                   double, twill::half, bfloat16) {
  CHECK(test::edge_differences_of_one<TestType>(Cpu{0}) == "");
  CHECK(test::edge_differences_of_two<TestType>(Cpu{0}) == "");
}
