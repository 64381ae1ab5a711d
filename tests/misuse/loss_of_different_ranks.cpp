// SPDX-License-Identifier: Apache-2.0
//
// A mean squared error between shapes of different rank.
//
// expect: loss_shapes_differ
// expect: left_rank<2>
// expect: right_rank<1>

#include <twill/compile/function.hpp>
#include <twill/nn/losses.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

int main() {
#ifdef MISUSE
  using Target = Shape<4>;
#else
  using Target = Shape<2, 4>;
#endif
  const auto loss = [](auto prediction, auto target) { return nn::mse(prediction, target); };
  const auto result = compiled(loss)(ones<float, Shape<2, 4>>(), ones<float, Target>());
  return result.shape() == Dims{} ? 0 : 1;
}
