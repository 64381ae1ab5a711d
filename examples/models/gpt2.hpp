#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// GPT-2 (Radford et al., 2019): a decoder of transformer blocks with the norm in front of each part. Names of the weights are
// those of the published model, whose linear layers hold (inputs, outputs). The head is the table of tokens again: one
// handle used twice is a tied weight. Sizes are compile-time numbers, so `static_assert` counts the weights.

#include <twill/nn/activations.hpp>
#include <twill/nn/attention.hpp>
#include <twill/nn/embedding.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/network.hpp>
#include <twill/nn/normalisation.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace models {

using twill::graph::Value;
namespace nn = twill::nn;

struct Gpt2Sizes {
  std::int64_t vocabulary = 50257;
  std::int64_t positions = 1024;
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
};

/// The configuration of 124 million weights.
inline constexpr Gpt2Sizes gpt2_small{};

namespace gpt2_parts {

/// y = x W + b for W (inputs, outputs), as the published model stores it.
constexpr Value linear(Value x, std::int64_t outputs, std::string_view name, double deviation = 0.02) {
  const nn::Scope scope{x.graph(), name};
  const Value weight = nn::parameter(x.graph(), "weight", {x.size(-1), outputs}, nn::initialise::normal(0, deviation));
  return nn::linear(x, transpose(weight), nn::parameter(x.graph(), "bias", {outputs}, nn::initialise::zeros()));
}

constexpr Value norm(Value x, std::string_view name) {
  const nn::Scope scope{x.graph(), name};
  const Value weight = nn::parameter(x.graph(), "weight", {x.size(-1)}, nn::initialise::ones());
  return layer_norm(x, weight, nn::parameter(x.graph(), "bias", {x.size(-1)}, nn::initialise::zeros()));
}

constexpr Value attention(Value x, std::int64_t heads, double deviation) {
  const nn::Scope scope{x.graph(), "attn"};
  const std::int64_t width = x.size(-1);
  const auto apart = [&](Value part) { // (batch, tokens, width) to (batch, heads, tokens, width / heads)
    twill::graph::Extents shape = part.shape();
    shape[2] = {heads, 0};
    shape.append({width / heads, 0});
    return transpose(reshape(part, shape), {0, 2, 1, 3});
  };
  const auto [q, k, v] = twill::graph::split<3>(linear(x, 3 * width, "c_attn"), -1);
  const Value seen = nn::scaled_dot_product_attention(apart(q), apart(k), apart(v), {.is_causal = true});
  return linear(reshape(transpose(seen, {0, 2, 1, 3}), x.shape()), width, "c_proj", deviation);
}

constexpr Value mlp(Value x, double deviation) {
  const nn::Scope scope{x.graph(), "mlp"};
  const std::int64_t width = x.size(-1);
  return linear(gelu_tanh(linear(x, 4 * width, "c_fc")), width, "c_proj", deviation);
}

} // namespace gpt2_parts

/// Logits (batch, tokens, vocabulary) of the token behind each of (batch, tokens).
template <Gpt2Sizes Sizes, std::int64_t Tokens> struct Gpt2 {
  static_assert(Tokens <= Sizes.positions && Sizes.width % Sizes.heads == 0);

  static constexpr auto forward(twill::InputOf<std::int64_t, twill::Dim<"batch">, Tokens> tokens) {
    auto& graph = tokens.graph();
    const auto normal = nn::initialise::normal(0, 0.02);
    const auto table = [&](std::string_view name, std::int64_t rows) {
      const nn::Scope scope{graph, name};
      return nn::parameter(graph, "weight", {rows, Sizes.width}, normal);
    };
    // What is added to the residual stream shrinks with the number of additions.
    const double deviation = 0.02 * nn::detail::reciprocal_root(2.0 * static_cast<double>(Sizes.layers));
    const Value wte = table("wte", Sizes.vocabulary);
    const Value wpe = table("wpe", Sizes.positions);
    Value x = nn::embedding(tokens, wte) + twill::graph::narrow(wpe, 0, 0, Tokens);
    for (std::int64_t i = 0; i < Sizes.layers; ++i) {
      const nn::Scope blocks{graph, "h"};
      const nn::Scope block{graph, "", i}; // "h.0."
      x = x + gpt2_parts::attention(gpt2_parts::norm(x, "ln_1"), Sizes.heads, deviation);
      x = x + gpt2_parts::mlp(gpt2_parts::norm(x, "ln_2"), deviation);
    }
    return nn::linear(gpt2_parts::norm(x, "ln_f"), wte);
  }
};

/// The loss of training: the mean cross entropy of every next token.
struct NextToken {
  constexpr Value operator()(Value logits, Value tokens) const {
    return nn::cross_entropy(reshape(logits, together(logits, 1)), reshape(tokens, together(tokens, 0)));
  }

private:
  /// The shape with the batch and the tokens as one axis, then so many further ones.
  static constexpr twill::graph::Extents together(Value value, int further) {
    const twill::graph::Extents shape = value.shape();
    twill::graph::Extents result{};
    result.append(shape[0] * shape[1]);
    for (int axis = 0; axis < further; ++axis) result.append(shape[2 + axis]);
    return result;
  }
};

/// How many weights a model has, by its trace.
template <class Model> constexpr std::int64_t weights_of() {
  using Stage = nn::ModelStage<Model, float, false>;
  auto graph = Stage::make_graph();
  static_cast<void>(Stage::build(graph));
  std::int64_t count = 0;
  for (const auto& parameter : graph.parameters) count += parameter.shape.elements().factor;
  return count;
}

} // namespace models
