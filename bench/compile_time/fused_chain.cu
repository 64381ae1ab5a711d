// SPDX-License-Identifier: Apache-2.0
//
// What one fused chain costs to compile for a GPU.

#include <twill/expr.cuh>

using namespace twill;

Tensor<float, Cuda, Shape<dyn>> chain(const Tensor<float, Cuda, Shape<dyn>>& a,
                                      const Tensor<float, Cuda, Shape<dyn>>& b,
                                      const Tensor<float, Cuda, Shape<dyn>>& c,
                                      const Tensor<float, Cuda, Shape<dyn>>& d) {
  return tanh(a * b + c) * d - 0.5 * a;
}
