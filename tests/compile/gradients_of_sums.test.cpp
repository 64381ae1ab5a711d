// SPDX-License-Identifier: Apache-2.0
//
// Sums and means of the table of derivatives, compiled.

#include "tests/support/compiled_rows.hpp"

using namespace twill::test;

TEST_CASE("compiled sums and means and their first and second derivatives agree with finite differences",
          "[compile][gradient]") {
  check_rows<reduction_rows, 0, 8>();
}
