// SPDX-License-Identifier: Apache-2.0
//
// The activations of the table of derivatives, compiled.

#include "tests/support/compiled_rows.hpp"

using namespace twill::test;

TEST_CASE("compiled activations and their first and second derivatives agree with finite differences",
          "[compile][gradient]") {
  check_rows<activation_rows, 0, std::tuple_size_v<decltype(activation_rows)>>();
}
