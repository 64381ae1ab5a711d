// SPDX-License-Identifier: Apache-2.0
//
// Four heads on three ranks.
// expect: ranks_do_not_divide_the_heads
// expect: left<3>
// expect: right<4>

#include <twill/nn/network.hpp>
#include <twill/nn/tensor_parallel.hpp>

using namespace twill;

template <int Ranks> struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 5, 12> x) {
    return nn::sharded_multi_head_attention<RankAxis<"tensor", Ranks>>(x, 4, "heads");
  }
};

#ifdef MISUSE
const auto y = nn::Network<Model<3>, Cpu>{};
#else
const auto y = nn::Network<Model<2>, Cpu>{};
#endif
