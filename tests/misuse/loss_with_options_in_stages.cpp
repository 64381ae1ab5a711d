// SPDX-License-Identifier: Apache-2.0
//
// Options of a loss that is called on what a network returns.
//
// expect: twill: loss: a loss with options is a lambda, nn::loss([](auto y, auto target)

#include <twill/nn/leaf.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

constexpr auto summed = nn::loss([](auto y, auto target) { return nn::mse(y, target, {.reduce = nn::Reduce::sum}); });

inline float loss_of(const nn::Leaf<Tensor<float, Cpu, Shape<3>>>& y, const Tensor<float, Cpu, Shape<3>>& target) {
#ifdef MISUSE
  nn::mse(y, target, {.reduce = nn::Reduce::sum});
#endif
  return summed(y, target).item();
}
