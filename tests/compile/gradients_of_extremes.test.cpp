// SPDX-License-Identifier: Apache-2.0
//
// Extremes, products and variances of the table of derivatives, compiled.

#include "tests/support/compiled_rows.hpp"

using namespace twill::test;

TEST_CASE(
    "compiled extremes, products and variances and their first and second derivatives agree with finite differences",
    "[compile][gradient]") {
  check_rows<reduction_rows, 8, std::tuple_size_v<decltype(reduction_rows)>>();
}
