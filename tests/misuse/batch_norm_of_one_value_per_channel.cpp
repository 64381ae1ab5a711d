// SPDX-License-Identifier: Apache-2.0
//
// Statistics of a single value.
//
// expect: batch_norm_needs_more_than_one_value_per_channel
// expect: left<1>
// expect: right<2>

#include <twill/compile/function.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

int main() {
#ifdef MISUSE
  const auto x = ones<float, Shape<1, 8, 1, 1>>();
#else
  const auto x = ones<float, Shape<1, 8, 1, 2>>();
#endif
  static constexpr nn::BatchNormOptions options{.is_affine = false, .has_running_statistics = false};
  return compiled([](auto v) { return nn::batch_norm(v, "norm", options); })(x).shape()[1] == 8 ? 0 : 1;
}
