// SPDX-License-Identifier: Apache-2.0
//
// A projection of another width, two helper functions deep in a block.
//
// expect: matmul_left_columns_differ_from_right_rows
// expect: left<8>
// expect: right<6>
// expect: layer<
// expect: "h.0.attn"
// expect: another_width_in_a_block.cpp:30"}>
// expect: inside<
// expect: another_width_in_a_block.cpp:28"}>
// expect: another_width_in_a_block.cpp:34"}>

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>

using namespace twill;

constexpr std::int64_t wanted(std::int64_t width) {
#ifdef MISUSE
  return width - 2;
#else
  return width;
#endif
}
constexpr graph::Value attention(graph::Value x) {
  const nn::Scope scope{x.graph(), "attn"};
  const graph::Value weight = nn::parameter(x.graph(), "weight", {8, wanted(8)}, nn::initialise::ones());
  return nn::linear(x, weight);
}
constexpr graph::Value block(graph::Value x, int index) {
  const nn::Scope layers{x.graph(), "h"};
  const nn::Scope layer{x.graph(), "", index};
  return x + attention(x);
}
struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 5, 8> x) { return block(x, 0); }
};

nn::Network<Model> model{Cpu{0}};
