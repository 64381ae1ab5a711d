// SPDX-License-Identifier: Apache-2.0
//
// The first half of the arithmetic of the table of derivatives, compiled.

#include "tests/support/compiled_rows.hpp"

using namespace twill::test;

TEST_CASE("compiled arithmetic operations and their first and second derivatives agree with finite differences",
          "[compile][gradient]") {
  check_rows<arithmetic_rows, 0, 11>();
}
