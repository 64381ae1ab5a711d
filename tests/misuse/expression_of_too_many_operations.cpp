// SPDX-License-Identifier: Apache-2.0
//
// An expression of 200 operations, which is refused before it costs gigabytes.
// expect: twill: this expression has more than 96 lines; split it into several statements

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

#define TWICE(x) ((x)*a + a)
#define EIGHT(x) TWICE(TWICE(TWICE(TWICE(x))))
#define FORTY(x) EIGHT(EIGHT(EIGHT(EIGHT(EIGHT(x)))))
#define HUNDREDS(x) FORTY(FORTY(FORTY(FORTY(FORTY(x)))))

inline void compute(Tensor<float, Cpu, Shape<dyn>> a) {
#ifdef MISUSE
  const Tensor b = HUNDREDS(a);
#else
  const Tensor b = FORTY(a);
#endif
  a = b;
}

#undef TWICE
#undef EIGHT
#undef FORTY
#undef HUNDREDS
