// SPDX-License-Identifier: Apache-2.0
//
// A loss between what a network returns and an expression.
//
// expect: twill: loss: a loss takes the result of a network's forward, or a tensor, and then tensors; evaluate an expression

#include <twill/expr.hpp>
#include <twill/nn/leaf.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

inline float loss_of(const nn::Leaf<Tensor<float, Cpu, Shape<3>>>& y, const Tensor<float, Cpu, Shape<3>>& target) {
#ifdef MISUSE
  return nn::mse(y, 2 * target).item();
#else
  const Tensor twice = 2 * target;
  return nn::mse(y, twice).item();
#endif
}
