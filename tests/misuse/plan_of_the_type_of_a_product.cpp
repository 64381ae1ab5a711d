// SPDX-License-Identifier: Apache-2.0
//
// expect: twill: how a product is computed is known at run time; ask plan(expression)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

int main() {
  const auto a = twill::ones<float, twill::Shape<2, 3>>();
  const auto b = twill::ones<float, twill::Shape<3, 4>>();
#if defined(MISUSE)
  static_assert(twill::plan<decltype(twill::matmul(a, b))>().kernels == 1);
#else
  if (twill::plan(twill::matmul(a, b)).kernels != 1) return 1;
#endif
  return 0;
}
