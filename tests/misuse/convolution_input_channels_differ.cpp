// SPDX-License-Identifier: Apache-2.0
//
// Weights for three channels and an image of four.
//
// expect: convolution_input_channels_differ_from_the_weights
// expect: left<4>
// expect: right<3>

#include <twill/compile/function.hpp>
#include <twill/ops/convolution.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

int main() {
  const auto filtered = [](auto x, auto w) { return conv2d(x, w); };
#ifdef MISUSE
  const auto image = ones<float, Shape<1, 4, 5, 5>>();
#else
  const auto image = ones<float, Shape<1, 3, 5, 5>>();
#endif
  return compiled(filtered)(image, ones<float, Shape<2, 3, 3, 3>>()).shape() == Dims(1, 2, 3, 3) ? 0 : 1;
}
