// SPDX-License-Identifier: Apache-2.0
//
// The second half of the arithmetic of the table of derivatives, compiled.

#include "tests/support/compiled_rows.hpp"

using namespace twill::test;

TEST_CASE(
    "compiled remainders, powers and choices and their first and second derivatives agree with finite differences",
    "[compile][gradient]") {
  check_rows<arithmetic_rows, 11, std::tuple_size_v<decltype(arithmetic_rows)>>();
}
