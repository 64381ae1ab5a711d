// SPDX-License-Identifier: Apache-2.0
//
// Labels of a cross entropy that are no integers.
// expect: twill: cross_entropy: labels are integers

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

int main() {
  const auto logits = ones<float, Shape<3, 4>>();
#ifdef MISUSE
  const auto labels = ones<float, Shape<3>>();
#else
  const auto labels = ones<std::int64_t, Shape<3>>();
#endif
  return eval(cross_entropy(logits, labels)).elements() == 3 ? 0 : 1;
}
