// SPDX-License-Identifier: Apache-2.0
//
// GPT-2 with 124 million weights against the same in PyTorch.

#include "examples/models/gpt2.hpp"
#include "tests/pytorch/compare.hpp"

#include <twill/nn/losses.hpp>

using namespace twill;

namespace {

struct NextToken {
  template <class Prediction, class Target>
  [[nodiscard]] constexpr auto operator()(const Prediction& logits, const Target& tokens) const {
    if constexpr (std::derived_from<Prediction, graph::Value>)
      return nn::cross_entropy(graph::reshape(logits, rows(logits, 2)), graph::reshape(tokens, rows(tokens, 1)));
    else
      return nn::apply(NextToken{}, logits, tokens);
  }

private:
  /// The shape with the batch and the tokens as one axis.
  static constexpr graph::Extents rows(graph::Value value, int rank) {
    const graph::Extents shape = value.shape();
    graph::Extents result{};
    result.append(shape[0] * shape[1]);
    if (rank == 2) result.append(shape[2]);
    return result;
  }
};

} // namespace

int main(int, char** arguments) {
  return test::compare_with_pytorch<float, models::Gpt2<models::gpt2_small, 64>,
                                    Tensor<std::int64_t, Cpu, Shape<dyn, 64>>,
                                    Tensor<std::int64_t, Cpu, Shape<dyn, 64>>>(arguments[1], NextToken{});
}
