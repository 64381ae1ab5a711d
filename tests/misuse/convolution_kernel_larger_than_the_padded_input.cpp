// SPDX-License-Identifier: Apache-2.0
//
// Seven rows of weights over five of the image and one of padding.
//
// expect: convolution_kernel_is_larger_than_the_padded_input
// expect: left<7>
// expect: right<5>

#include <twill/compile/function.hpp>
#include <twill/ops/convolution.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

int main() {
#ifdef MISUSE
  static constexpr int padding = 0;
#else
  static constexpr int padding = 1;
#endif
  const auto filtered = [](auto x, auto w) { return conv2d(x, w, {.padding = padding}); };
  const auto image = ones<float, Shape<1, 1, 5, 5>>();
  return compiled(filtered)(image, ones<float, Shape<1, 1, 7, 7>>()).shape() == Dims(1, 1, 1, 1) ? 0 : 1;
}
