// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic between what a network returns and an expression.
//
// expect: twill: beside a result of forward stand tensors and numbers; evaluate an expression first

#include <twill/expr.hpp>
#include <twill/nn/leaf.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

inline float loss_of(const nn::Leaf<Tensor<float, Cpu, Shape<3>>>& y, const Tensor<float, Cpu, Shape<3>>& target) {
#ifdef MISUSE
  return nn::mean(square(y - 2 * target)).item();
#else
  const Tensor twice = 2 * target;
  return nn::mean(square(y - twice)).item();
#endif
}
