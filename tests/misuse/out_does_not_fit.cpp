// SPDX-License-Identifier: Apache-2.0
//
// Values of real numbers for the memory of integers.
// expect: twill: out: the values do not fit the tensor's element type; convert them with cast<T>(x)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto x = zeros<int, Shape<4>>();
void write() {
  using twill::out;
#ifdef MISUSE
  out(x) = exp(x);
#else
  out(x) = cast<int>(exp(x));
#endif
}
