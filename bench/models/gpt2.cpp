// SPDX-License-Identifier: Apache-2.0
//
// GPT-2 of 124 million weights on 256 tokens, for bench/models/compare.py.

#include "examples/models/gpt2.hpp"
#include "bench/models/step_server.hpp"

#include <twill/nn/losses.hpp>

namespace {

template <class D> using Tokens = twill::Tensor<std::int64_t, D, twill::Shape<twill::dyn, 256>>;

/// The mean cross entropy of every next token.
struct NextToken {
  constexpr twill::graph::Value operator()(twill::graph::Value logits, twill::graph::Value tokens) const {
    return twill::nn::cross_entropy(reshape(logits, flat(logits, 1)), reshape(tokens, flat(tokens, 0)));
  }

private:
  /// The shape with the batch and the tokens as one axis, then so many further ones.
  static constexpr twill::graph::Extents flat(twill::graph::Value value, int further) {
    const twill::graph::Extents shape = value.shape();
    twill::graph::Extents result{};
    result.append(shape[0] * shape[1]);
    for (int axis = 0; axis < further; ++axis) result.append(shape[2 + axis]);
    return result;
  }
};

} // namespace

int main(int count, char** arguments) {
  return bench::serve<models::Gpt2<models::gpt2_small, 256>, Tokens, Tokens>(count, arguments, NextToken{});
}
