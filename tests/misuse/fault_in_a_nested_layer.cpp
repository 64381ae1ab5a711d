// SPDX-License-Identifier: Apache-2.0
//
// A number of heads that does not divide the width, in a layer of a block of a model.
//
// expect: heads_do_not_divide_the_width
// expect: "block7.self"
// expect: fault_in_a_nested_layer.cpp:23

#include <twill/nn/attention.hpp>
#include <twill/nn/network.hpp>

using namespace twill;

#ifdef MISUSE
constexpr int heads = 3;
#else
constexpr int heads = 2;
#endif

constexpr graph::Value block(graph::Value x, int index) {
  const nn::Scope scope{x.graph(), "block", index};
  const nn::Scope inner{x.graph(), "self"};
  return nn::multi_head_attention(x, x, x, heads, "attention");
}
struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 5, 8> x) { return block(x, 7); }
};

nn::Network<Model> model{Cpu{0}};
