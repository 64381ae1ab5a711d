// SPDX-License-Identifier: Apache-2.0
//
// One element of a reduction would cost a pass over everything that it reduces.
// expect: twill: begin: an element of a reduction costs a whole pass; evaluate it

#include <twill/algorithms/lazy_iterator.hpp>
#include <twill/expr.hpp>

using namespace twill;

float first(const Tensor<float, Cpu, Shape<3, 4>>& x) {
#ifdef MISUSE
  const auto e = lazy(sum<1>(Tensor(x)) * 2);
#else
  const auto e = lazy(Tensor(x)[0] * 2);
#endif
  return *begin(e);
}
