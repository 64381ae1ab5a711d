// SPDX-License-Identifier: Apache-2.0
//
// Row programs of GPUs at every length of row, from rows of nothing to rows that many blocks share.

#include <tests/kernel/gpu/row_queue.hpp>

using namespace kernel_test;

namespace {

using Softmax =
    Program<Along<float>, Reduce<Reduction::max, 0>, Step<Primitive::subtract, 0, 1>, Step<Primitive::exp, 2>,
            Reduce<Reduction::sum, 3>, Step<Primitive::divide, 3, 4>, Out<float, 5>>;

} // namespace

TEST_CASE("a softmax", "[kernel][gpu]") {
  for (const std::int64_t length : {1, 2, 31, 32, 33, 127, 128, 129, 1000, 1001, 1024, 4096, 5000, 20000, 70001})
    for (const std::int64_t rows : {1, 3, 130}) {
      if (rows * length > 300'000) continue;
      CAPTURE(rows, length);
      CHECK(row_difference<Softmax>(Dims(rows, length)) < 1e-6);
    }
}
