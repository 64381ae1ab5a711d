// SPDX-License-Identifier: Apache-2.0
//
// The iterators of an expression live longer than the statement, so it has to hold its tensors.
// expect: twill: begin: an expression refers to tensors that may be gone; keep it with lazy(a * b)

#include <twill/algorithms/lazy_iterator.hpp>
#include <twill/expr.hpp>

using namespace twill;

float first(const Tensor<float, Cpu, Shape<3, 4>>& x) {
#ifdef MISUSE
  return *begin(x * 2);
#else
  return *begin(lazy(x * 2));
#endif
}
