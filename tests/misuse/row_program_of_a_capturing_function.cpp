// SPDX-License-Identifier: Apache-2.0
//
// A function of rows with a capture.
// expect: twill: a row program is a function without captures; pass what it needs as operands

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

int main() {
  const auto x = ones<float, Shape<3, 4>>();
#ifdef MISUSE
  const float scale = 2;
  const Tensor y = rowwise([scale](auto a) { return a / (sum(a) * static_cast<double>(scale)); }, x);
#else
  const Tensor y = rowwise([](auto a, auto scale) { return a / (sum(a) * scale); }, x, 2);
#endif
  return y.elements() == 12 ? 0 : 1;
}
