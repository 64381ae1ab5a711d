// SPDX-License-Identifier: Apache-2.0
//
// The special functions and formulas of the table of derivatives, compiled.

#include "tests/support/compiled_rows.hpp"

using namespace twill::test;

TEST_CASE("compiled special functions and their first and second derivatives agree with finite differences",
          "[compile][gradient]") {
  check_rows<special_rows, 0, std::tuple_size_v<decltype(special_rows)>>();
}
