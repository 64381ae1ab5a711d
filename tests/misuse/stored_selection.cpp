// SPDX-License-Identifier: Apache-2.0
//
// Keeping what an index chooses without evaluating it: the indices were checked for this statement only.
// expect: twill: a stored expression refers to tensors that may be gone

#include <twill/expr.hpp>

using namespace twill;

float first_of(const Tensor<float, Cpu, Shape<4>>& x, const Tensor<int, Cpu, Shape<2>>& places) {
#ifdef MISUSE
  const auto chosen = take<0>(x, places);
#else
  const auto chosen = lazy(take<0>(x, places));
#endif
  const Tensor<float, Cpu, Shape<2>> values = chosen;
  return values[0].item();
}
