// SPDX-License-Identifier: Apache-2.0
//
// Softmax and the losses of the table of derivatives, compiled.

#include "tests/support/compiled_rows.hpp"

using namespace twill::test;

TEST_CASE("compiled losses and their first and second derivatives agree with finite differences",
          "[compile][gradient]") {
  check_rows<loss_rows, 0, std::tuple_size_v<decltype(loss_rows)>>();
}
