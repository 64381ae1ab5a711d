// SPDX-License-Identifier: Apache-2.0
//
// Each file has to get its own function and its own gradient, although the closures have the same name.

#include "same_lambda.hpp"

#include <cstdio>

int main() {
  const ValueAndSlope one = of_file_one(5);
  const ValueAndSlope two = of_file_two(5);
  const bool is_right = one.value == 50 && one.slope == 20 && two.value == 75 && two.slope == 30;
  if (!is_right) std::printf("file one: %g, %g; file two: %g, %g\n", one.value, one.slope, two.value, two.slope);
  return is_right ? 0 : 1;
}
