// SPDX-License-Identifier: Apache-2.0
//
// What one fused chain costs to compile.

#include <twill/expr.hpp>

using namespace twill;

Tensor<float, Cpu, Shape<dyn>> chain(const Tensor<float, Cpu, Shape<dyn>>& a, const Tensor<float, Cpu, Shape<dyn>>& b,
                                     const Tensor<float, Cpu, Shape<dyn>>& c, const Tensor<float, Cpu, Shape<dyn>>& d) {
  return tanh(a * b + c) * d - 0.5 * a;
}
