// SPDX-License-Identifier: Apache-2.0
//
// Six channels in four groups.
//
// expect: group_norm_channels_are_not_divisible_by_groups
// expect: left<6>
// expect: right<4>

#include <twill/compile/function.hpp>
#include <twill/nn/norm_layers.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

int main() {
#ifdef MISUSE
  static constexpr int groups = 4;
#else
  static constexpr int groups = 3;
#endif
  const auto x = ones<float, Shape<2, 6, 5>>();
  return compiled([](auto v) { return nn::group_norm(v, groups, "norm", {.is_affine = false}); })(x).shape()[1] == 6
             ? 0
             : 1;
}
