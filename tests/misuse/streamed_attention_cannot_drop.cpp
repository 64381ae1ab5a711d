// SPDX-License-Identifier: Apache-2.0
//
// Dropout of weights that are nowhere in memory.
// expect: streamed_attention_cannot_drop_weights

#include <twill/nn/attention.hpp>
#include <twill/nn/network.hpp>

using namespace twill;

template <nn::AttentionForm Form> struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 5, 8> x) {
    return nn::multi_head_attention(x, x, x, 2, "heads", {.dropout = 0.1, .form = Form});
  }
};

#ifdef MISUSE
const auto attended = nn::Network<Model<nn::AttentionForm::streamed>, Cpu>{};
#else
const auto attended = nn::Network<Model<nn::AttentionForm::composed>, Cpu>{};
#endif
