// SPDX-License-Identifier: Apache-2.0
//
// A probability that is none.
//
// expect: dropout_probability_is_outside_0_to_1
// expect: left<2>
// expect: right<1>

#include <twill/compile/function.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

int main() {
#ifdef MISUSE
  static constexpr double probability = 2;
#else
  static constexpr double probability = 0.5;
#endif
  const auto thinned = [](auto x) { return nn::dropout(x, probability); };
  return compiled(thinned)(ones<float, Shape<8>>()).shape() == Dims(8) ? 0 : 1;
}
