// SPDX-License-Identifier: Apache-2.0
//
// The transcendental functions of the table of derivatives, compiled.

#include "tests/support/compiled_rows.hpp"

using namespace twill::test;

TEST_CASE("compiled transcendental functions and their first and second derivatives agree with finite differences",
          "[compile][gradient]") {
  check_rows<transcendental_rows, 0, std::tuple_size_v<decltype(transcendental_rows)>>();
}
