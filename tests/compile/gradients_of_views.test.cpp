// SPDX-License-Identifier: Apache-2.0
//
// Views, conversions and matrix products of the table of derivatives, compiled.

#include "tests/support/compiled_rows.hpp"

using namespace twill::test;

TEST_CASE("compiled views and matrix products and their first and second derivatives agree with finite differences",
          "[compile][gradient]") {
  check_rows<shape_rows, 0, std::tuple_size_v<decltype(shape_rows)>>();
}
