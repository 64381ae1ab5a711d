#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Scaled dot-product attention as one operation that keeps no scores: memory grows with the rows, not with their square. It
// has a second result, log(sum(exp(scores))) of each row, from which the backward operation computes the weights again.
// Second derivatives go by the composition. Host devices; nn/attention.hpp has the form for all. Read next:
// kernel/attention.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/kernel/attention.hpp>
#include <twill/ops/detail/around_axis.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/triangles.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

namespace twill::inline v0::graph::detail::inline TWILL_ISA {

constexpr void attention_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
constexpr void attention_backward_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);

} // namespace twill::inline v0::graph::detail::inline TWILL_ISA

namespace twill::inline v0::graph::inline TWILL_ISA {

/// (batches, rows, width) queries, keys and values; results: the output, the logsumexp of each row's scores. Attributes: 1
/// where causal, the bits of the scale.
inline constexpr Operation attention_operation{
    .name = "attention", .vjp = &detail::attention_vjp, .results = 2, .wants_dense = true};

/// Queries, keys, values, output, logsumexp and the output's gradient; results: the gradients of the first three.
inline constexpr Operation attention_backward_operation{
    .name = "attention_backward", .vjp = &detail::attention_backward_vjp, .results = 3, .wants_dense = true};

} // namespace twill::inline v0::graph::inline TWILL_ISA

namespace twill::inline v0::graph::detail::inline TWILL_ISA {

constexpr void attention_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  if (cotangents[0] < 0) return;
  const Value q{graph, self.input(0)};
  const Value k{graph, self.input(1)};
  const Value v{graph, self.input(2)};
  Extents rows = self.shape;
  rows.rank = 2;
  const Value logsumexp = add_result({graph, node}, 1, self.dtype, rows);
  const Value first =
      add_operation(attention_backward_operation, {q, k, v, Value{graph, node}, logsumexp, Value{graph, cotangents[0]}},
                    self.dtype, q.shape(), {graph.attribute(self, 0), graph.attribute(self, 1)});
  if (gradients.wants(0)) gradients.set(0, first);
  if (gradients.wants(1)) gradients.set(1, add_result(first, 1, self.dtype, k.shape()));
  if (gradients.wants(2)) gradients.set(2, add_result(first, 2, self.dtype, v.shape()));
}

/// The same with the scores in memory.
[[nodiscard]] constexpr Value attention_by_scores(Value q, Value k, Value v, bool is_causal, double scale) {
  Value scores = matmul(q, transpose(k)) * scale;
  if (is_causal)
    scores =
        where(lower_triangle(q.graph(), q.shape()[1], k.shape()[1]), scores, -std::numeric_limits<double>::infinity());
  const Value e = exp(scores - stop_gradient(max(scores, {-1}, KeepDims::yes)));
  return matmul(e / sum(e, {-1}, KeepDims::yes), v);
}

/// Differentiates the composition twice, on copies of the inputs, so that nothing flows into what made them.
constexpr void attention_backward_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& result) {
  const Node self = graph.node(node);
  const int places[4] = {0, 1, 2, 5}; // queries, keys, values, the output's gradient
  Value copies[4]{};
  List<int> variables{};
  for (int i = 0; i < 4; ++i) {
    copies[i] = stop_gradient(Value{graph, self.input(places[i])});
    variables.push_back(copies[i].id());
  }
  const Value out = attention_by_scores(copies[0], copies[1], copies[2], graph.attribute(self, 0) != 0,
                                        std::bit_cast<double>(graph.attribute(self, 1)));
  const List<int> once = gradients(graph, {{out.id(), copies[3].id()}}, variables);
  List<Seed> seeds{};
  for (std::size_t r = 0; r < 3; ++r)
    if (cotangents[r] >= 0) seeds.push_back({once[r], cotangents[r]});
  const List<int> twice = gradients(graph, seeds, variables);
  for (std::size_t i = 0; i < 4; ++i)
    if (result.wants(places[i]) && twice[i] >= 0) result.set(places[i], Value{graph, twice[i]});
}

} // namespace twill::inline v0::graph::detail::inline TWILL_ISA

namespace twill::inline v0::graph::inline TWILL_ISA {

struct StreamedAttentionOptions {
  double scale = 1; ///< of the scores
  bool is_causal = false;
};

/// softmax(scale Q K^T) V without the scores in memory. query: (..., queries, width), key: (..., keys, width), value: (...,
/// keys, value width) of equal leading axes, float32 or float64. On host devices.
[[nodiscard]] constexpr Value streamed_attention(Value query, Value key, Value value,
                                                 const StreamedAttentionOptions& options) {
  const auto batched = [](Value x) {
    const Extents shape = x.shape();
    Extents flat{};
    flat.rank = 3;
    for (int i = 0; i < shape.rank; ++i) {
      Extent& part = flat[i < shape.rank - 2 ? 0 : i - shape.rank + 3];
      part = part * shape[i];
    }
    return reshape(x, flat);
  };
  const Value q = batched(query);
  Extents shape = q.shape();
  shape[2] = value.shape()[value.rank() - 1];
  Extents result = query.shape();
  result[result.rank - 1] = shape[2];
  return reshape(add_operation(attention_operation, {q, batched(key), batched(value)}, query.dtype(), shape,
                               {options.is_causal, std::bit_cast<std::int64_t>(options.scale)}),
                 result);
}

} // namespace twill::inline v0::graph::inline TWILL_ISA

namespace twill::inline v0::ops_detail::inline TWILL_ISA {

/// The kernel's view of a call whose first operands are queries, keys and values.
template <class T, class TeamType> [[nodiscard]] kernel::Attention<T> attention_of(const kernel::Call& call) {
  static_assert(std::same_as<TeamType, Team>,
                "twill: streamed_attention: it runs on host devices only; use nn::composed_attention on others");
  static_assert(std::same_as<T, float> || std::same_as<T, double>,
                "twill: streamed_attention: it takes float32 and float64; cast to one of them");
  const Dims* const shapes = call.shapes;
  return {kernel::AttentionShape{.batches = shapes[0][0],
                                 .queries = shapes[0][1],
                                 .keys = shapes[1][1],
                                 .width = shapes[0][2],
                                 .value_width = shapes[2][2],
                                 .is_causal = call.attributes[0] != 0,
                                 .scale = std::bit_cast<double>(call.attributes[1])},
          static_cast<const T*>(call.operands[0].data), static_cast<const T*>(call.operands[1].data),
          static_cast<const T*>(call.operands[2].data)};
}

} // namespace twill::inline v0::ops_detail::inline TWILL_ISA

namespace twill::inline v0::inline TWILL_ISA {

template <> struct KernelOf<&graph::attention_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Call& call) {
    if (call.shapes[3].elements() == 0) return;
    ops_detail::attention_of<T, TeamType>(call).forward(team, static_cast<T*>(call.operands[3].data),
                                                        static_cast<T*>(call.operands[4].data));
  }
};

template <> struct KernelOf<&graph::attention_backward_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Call& call) {
    const auto at = [&](int i) { return static_cast<T*>(call.operands[i].data); };
    ops_detail::attention_of<T, TeamType>(call).backward(team, at(3), at(4), at(5), at(6), at(7), at(8));
  }
};

} // namespace twill::inline v0::inline TWILL_ISA
