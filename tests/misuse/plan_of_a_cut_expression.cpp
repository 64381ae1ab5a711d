// SPDX-License-Identifier: Apache-2.0
//
// The plan of a type with 200 operations, whose expression is cut when it is evaluated: plan(expression) tells the kernels.
// expect: twill: this statement has more than 96 lines; compute a part of it in a statement of its own

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

#define TWICE(x) ((x)*a + a)
#define EIGHT(x) TWICE(TWICE(TWICE(TWICE(x))))
#define FORTY(x) EIGHT(EIGHT(EIGHT(EIGHT(EIGHT(x)))))
#define HUNDREDS(x) FORTY(FORTY(FORTY(FORTY(FORTY(x)))))

inline int kernels(const Tensor<float, Cpu, Shape<dyn>>& a) {
#ifdef MISUSE
  return plan<decltype(HUNDREDS(a))>().kernels;
#else
  return plan<decltype(FORTY(a))>().kernels;
#endif
}

#undef TWICE
#undef EIGHT
#undef FORTY
#undef HUNDREDS
