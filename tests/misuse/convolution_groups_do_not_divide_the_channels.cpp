// SPDX-License-Identifier: Apache-2.0
//
// Three groups of four channels.
//
// expect: convolution_groups_do_not_divide_the_input_channels
// expect: left<3>
// expect: right<4>

#include <twill/compile/function.hpp>
#include <twill/ops/convolution.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

int main() {
#ifdef MISUSE
  static constexpr int groups = 3;
#else
  static constexpr int groups = 2;
#endif
  const auto grouped = [](auto x, auto w) { return conv2d(x, w, {.groups = groups}); };
  const auto image = ones<float, Shape<1, 4, 5, 5>>();
  return compiled(grouped)(image, ones<float, Shape<6, 2, 3, 3>>()).shape() == Dims(1, 6, 3, 3) ? 0 : 1;
}
