// SPDX-License-Identifier: Apache-2.0
//
// Three heads of a width of eight.
// expect: heads_do_not_divide_the_width

#include <twill/nn/attention.hpp>
#include <twill/nn/network.hpp>

using namespace twill;

template <std::int64_t Heads> struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 5, 8> x) {
    return nn::multi_head_attention(x, x, x, Heads, "heads");
  }
};

#ifdef MISUSE
const auto y = nn::Network<Model<3>, Cpu>{};
#else
const auto y = nn::Network<Model<4>, Cpu>{};
#endif
