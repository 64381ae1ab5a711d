// SPDX-License-Identifier: Apache-2.0
//
// A program of twill_tensor.hpp alone, as it is pasted into Compiler Explorer.

// region: program
#include "twill_tensor.hpp" // or its text

#include <iostream>

using namespace twill;

int main() {
  const Tensor x = tensor({{1.F, 2.F}, {3.F, 6.F}});
  const Tensor centred = eval(x - mean<0>(x));
  std::cout << centred << '\n' << eval(softmax(matmul(x, centred))) << '\n';
  return max(abs(centred)).item() == 2 ? 0 : 1;
}
// end region
