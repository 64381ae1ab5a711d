#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Layers of transformers (Vaswani et al., 2017): self-attention and a feed-forward network, each added to its input and
// normalised, and for decoders attention to the encoder's output in between. Names, order and defaults are those of
// torch.nn.TransformerEncoderLayer and TransformerDecoderLayer with batch_first. Not in twill.hpp. Read next:
// nn/attention.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/attention.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/norm_layers.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The function between the two products of a feed-forward network.
enum class FeedForwardFunction : std::uint8_t { relu, gelu };

/// Options of a transformer's layer.
struct TransformerLayerOptions {
  std::int64_t feed_forward = 2048; ///< width between the two products
  double dropout = 0.1;             ///< of attention weights, of each branch and inside the feed-forward network
  FeedForwardFunction function = FeedForwardFunction::relu; ///< of the feed-forward network
  double epsilon = 1e-5;                                    ///< of the norms
  bool norm_first = false;                                  ///< whether branches are normalised instead of sums
  bool is_causal = false;                                   ///< element i of the sequence sees 0 to i
  std::optional<Value> mask{};                    ///< of self-attention; bool: true takes part; floating: added
  std::optional<Value> key_padding_mask{};        ///< (batch, elements); bool: true is ignored
  std::optional<Value> memory_mask{};             ///< of a decoder's attention to the memory
  std::optional<Value> memory_key_padding_mask{}; ///< (batch, elements of the memory); bool: true is ignored
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// A branch beside its input: x + f(norm(x)), or norm(x + f(x)).
template <class F>
[[nodiscard]] constexpr Value residual(Value x, std::string_view norm, const TransformerLayerOptions& o, CallSite site,
                                       const F& branch) {
  const auto normalised = [&](Value y) { return layer_norm(y, norm, {.epsilon = o.epsilon}, site); };
  return o.norm_first ? x + branch(normalised(x)) : normalised(x + branch(x));
}

[[nodiscard]] TWILL_CONSTEXPR Value feed_forward(Value x, std::string_view last_dropout,
                                                 const TransformerLayerOptions& o, CallSite site) {
  const Value wide = linear(x, o.feed_forward, "linear1", LinearOptions{}, site);
  const Value active = o.function == FeedForwardFunction::relu ? relu(wide) : gelu(wide);
  const Value y =
      linear(dropout(active, o.dropout, "dropout", site), x.size(-1, site), "linear2", LinearOptions{}, site);
  return dropout(y, o.dropout, last_dropout, site);
}

[[nodiscard]] TWILL_CONSTEXPR Value self_attention(Value x, std::int64_t heads, const TransformerLayerOptions& o,
                                                   CallSite site) {
  const Value y = multi_head_attention(
      x, x, x, heads, "self_attn",
      {.mask = o.mask, .is_causal = o.is_causal, .dropout = o.dropout, .key_padding_mask = o.key_padding_mask}, site);
  return dropout(y, o.dropout, "dropout1", site);
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A layer of an encoder. x: (batch, elements, width). Weights: "self_attn", "linear1", "linear2", "norm1", "norm2".
/// errors: a width that the heads do not divide
[[nodiscard]] TWILL_CONSTEXPR Value transformer_encoder_layer(Value x, std::int64_t heads, std::string_view name,
                                                              const TransformerLayerOptions& options = {},
                                                              CallSite site = CallSite::here()) {
  const Scope scope{x.graph(), name, site};
  x = detail::residual(x, "norm1", options, site,
                       [&](Value y) { return detail::self_attention(y, heads, options, site); });
  return detail::residual(x, "norm2", options, site,
                          [&](Value y) { return detail::feed_forward(y, "dropout2", options, site); });
}

/// A layer of a decoder. x: (batch, elements, width), memory: the encoder's output (batch, others, width). Weights:
/// "self_attn", "multihead_attn", "linear1", "linear2", "norm1", "norm2", "norm3".
/// errors: a width that the heads do not divide
[[nodiscard]] TWILL_CONSTEXPR Value transformer_decoder_layer(Value x, Value memory, std::int64_t heads,
                                                              std::string_view name,
                                                              const TransformerLayerOptions& options = {},
                                                              CallSite site = CallSite::here()) {
  const Scope scope{x.graph(), name, site};
  x = detail::residual(x, "norm1", options, site,
                       [&](Value y) { return detail::self_attention(y, heads, options, site); });
  x = detail::residual(x, "norm2", options, site, [&](Value y) {
    const Value seen = multi_head_attention(
        y, memory, memory, heads, "multihead_attn",
        {.mask = options.memory_mask, .dropout = options.dropout, .key_padding_mask = options.memory_key_padding_mask},
        site);
    return dropout(seen, options.dropout, "dropout2", site);
  });
  return detail::residual(x, "norm3", options, site,
                          [&](Value y) { return detail::feed_forward(y, "dropout3", options, site); });
}

}}}} // namespace twill::v0::nn::TWILL_ISA
