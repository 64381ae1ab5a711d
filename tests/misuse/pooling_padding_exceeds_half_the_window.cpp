// SPDX-License-Identifier: Apache-2.0
//
// Two zeros on each side of windows of three.
//
// expect: pooling_padding_exceeds_half_the_window
// expect: left<2>
// expect: right<3>

#include <twill/compile/function.hpp>
#include <twill/ops/pooling.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

int main() {
#ifdef MISUSE
  static constexpr int padding = 2;
#else
  static constexpr int padding = 1;
#endif
  const auto pooled = [](auto x) { return max_pool2d(x, {.window = 3, .stride = 2, .padding = padding}); };
  return compiled(pooled)(ones<float, Shape<1, 1, 5, 5>>()).shape() == Dims(1, 1, 3, 3) ? 0 : 1;
}
