// SPDX-License-Identifier: Apache-2.0
//
// An image without a batch.
//
// expect: convolution_input_has_the_wrong_rank
// expect: rank<3>
// expect: needed_rank<4>

#include <twill/compile/function.hpp>
#include <twill/ops/transposed_convolution.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

int main() {
  const auto filtered = [](auto x, auto w) { return conv_transpose2d(x, w, {.stride = 2}); };
#ifdef MISUSE
  const auto image = ones<float, Shape<3, 5, 5>>();
#else
  const auto image = ones<float, Shape<1, 3, 5, 5>>();
#endif
  return compiled(filtered)(image, ones<float, Shape<3, 2, 2, 2>>()).shape() == Dims(1, 2, 10, 10) ? 0 : 1;
}
