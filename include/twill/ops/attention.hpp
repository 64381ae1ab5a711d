#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Scaled dot-product attention as one operation that keeps no scores: memory grows with the rows, not with their
// square. Its second result, log(sum(exp(scores))) of each row, lets the backward operation compute the weights again.
// The gradient of an added mask and second derivatives use the composition with scores in memory. Read next:
// kernel/attention.hpp, nn/attention.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/kernel/attention.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/triangles.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void attention_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void attention_backward_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                            InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// (outer, inner, rows, width) queries, keys and values, and perhaps a mask of (outer, inner, queries, keys) or ones;
/// results: the output, the logsumexp of each row's scores, float where elements have 16 bits. Attributes: 1 if causal,
/// the bits of the scale, 1 if masked.
inline constexpr Operation attention_operation{.name = "attention",
                                               .vjp = &detail::attention_vjp,
                                               .results = 2,
                                               .wants_dense = true,
                                               .batching = Batching::first_axis,
                                               .shared_operand = 3};

/// Queries, keys, values, the sum of output times gradient and the logsumexp of each row, the output's gradient,
/// perhaps the mask, and for elements of 16 bits the output, which libraries need; results: the gradients of the first
/// three. Attributes: those of attention, 1 if the output is passed.
inline constexpr Operation attention_backward_operation{.name = "attention_backward",
                                                        .vjp = &detail::attention_backward_vjp,
                                                        .results = 3,
                                                        .wants_dense = true,
                                                        .batching = Batching::first_axis};

/// Options of streamed attention: scale, causality and mask.
struct StreamedAttentionOptions {
  double scale = 1;            ///< of the scores
  bool is_causal = false;      ///< each position sees itself and those before
  std::optional<Value> mask{}; ///< broadcast to the scores; bool: true takes part; floating: added
};

/// scale Q K^T, with -infinity for keys that take no part.
[[nodiscard]] TWILL_CONSTEXPR Value attention_scores(Value q, Value k, const StreamedAttentionOptions& options,
                                                     CallSite site = CallSite::here()) {
  constexpr double never = -std::numeric_limits<double>::infinity();
  Value scores = matmul(q, transpose(k, site), site) * options.scale;
  if (options.mask)
    scores = options.mask->dtype() == DType::boolean ? where(*options.mask, scores, never) : scores + *options.mask;
  const Extents shape = scores.shape();
  if (options.is_causal)
    scores = where(lower_triangle(q.graph(), shape[shape.rank - 2], shape[shape.rank - 1]), scores, never);
  return scores;
}

/// The softmax of scores, zeros for a row that sees no key.
[[nodiscard]] TWILL_CONSTEXPR Value attention_weights(Value scores) {
  const Value largest = stop_gradient(max(scores, {-1}, KeepDims::yes));
  const Value e = exp(scores - where(equal(largest, -std::numeric_limits<double>::infinity()), 0, largest));
  const Value total = sum(e, {-1}, KeepDims::yes);
  return e / where(equal(total, 0), 1, total);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// The second result of an attention operation. The forward pass makes it immediately: a stage that runs backward later
/// keeps only nodes of the forward pass.
[[nodiscard]] TWILL_CONSTEXPR Value logsumexp_of(Value attention) {
  Graph& graph = attention.graph();
  if (const int next = attention.id() + 1; next < graph.size())
    if (const Node& node = graph.node(next); node.kind == Kind::result && node.input(0) == attention.id())
      return {graph, next};
  Extents rows = attention.shape();
  rows.rank = 3;
  return add_result(attention, 1, compute_type(attention.dtype()), rows);
}

/// The options of a node whose mask, if there is one, is a given input.
[[nodiscard]] TWILL_CONSTEXPR StreamedAttentionOptions options_of(Graph& graph, const Node& node, int mask) {
  StreamedAttentionOptions options{.scale = std::bit_cast<double>(graph.attribute(node, 1)),
                                   .is_causal = graph.attribute(node, 0) != 0};
  if (graph.attribute(node, 2) != 0) options.mask = Value{graph, node.input(mask)};
  return options;
}

TWILL_CONSTEXPR void attention_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  if (cotangents[0] < 0) return;
  const Value q{graph, self.input(0)};
  const Value k{graph, self.input(1)};
  const Value v{graph, self.input(2)};
  const Value g{graph, cotangents[0]};
  const StreamedAttentionOptions options = options_of(graph, self, 3);
  if (gradients.wants(0) || gradients.wants(1) || gradients.wants(2)) {
    const Value logsumexp = logsumexp_of({graph, node});
    const Value out{graph, node};
    const Value delta = sum(widened(out) * widened(g), {-1});
    const std::int64_t causal = graph.attribute(self, 0);
    const std::int64_t scale = graph.attribute(self, 1);
    const bool is_narrow = compute_type(self.dtype) != self.dtype;
    const Value mask = options.mask ? *options.mask : Value{};
    const auto backward = [&](std::initializer_list<Value> inputs) {
      return add_operation(attention_backward_operation, inputs, self.dtype, q.shape(),
                           {causal, scale, options.mask ? 1 : 0, is_narrow ? 1 : 0});
    };
    const Value first = options.mask && is_narrow ? backward({q, k, v, delta, logsumexp, g, mask, out})
                        : options.mask            ? backward({q, k, v, delta, logsumexp, g, mask})
                        : is_narrow               ? backward({q, k, v, delta, logsumexp, g, out})
                                                  : backward({q, k, v, delta, logsumexp, g});
    if (gradients.wants(0)) gradients.set(0, first);
    if (gradients.wants(1)) gradients.set(1, add_result(first, 1, self.dtype, k.shape()));
    if (gradients.wants(2)) gradients.set(2, add_result(first, 2, self.dtype, v.shape()));
  }
  if (options.mask && options.mask->dtype() != DType::boolean && gradients.wants(3)) {
    const Value weights = attention_weights(attention_scores(q, k, options));
    const Value wanted = matmul(g, transpose(v)); // of the weights
    const Value of_scores = weights * (wanted - sum(weights * wanted, {-1}, KeepDims::yes));
    gradients.set(3, unbroadcast(of_scores, options.mask->shape()));
  }
}

/// Differentiates the composition twice, on copies of the inputs, so that nothing flows into the nodes that made them.
TWILL_CONSTEXPR void attention_backward_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                            InputGradients& result) {
  const Node self = graph.node(node);
  StreamedAttentionOptions options = options_of(graph, self, 6);
  const bool is_added = options.mask && options.mask->dtype() != DType::boolean;
  const std::size_t count = is_added && result.wants(6) ? 5 : 4;
  const int places[5] = {0, 1, 2, 5, 6}; // queries, keys, values, the output's gradient, the mask
  Value copies[5]{};
  List<int> variables{};
  for (std::size_t i = 0; i < count; ++i) {
    copies[i] = stop_gradient(Value{graph, self.input(places[i])});
    variables.push_back(copies[i].id());
  }
  if (count == 5) options.mask = copies[4];
  const Value out = matmul(attention_weights(attention_scores(copies[0], copies[1], options)), copies[2]);
  List<int> first_three{};
  for (std::size_t i = 0; i < 3; ++i) first_three.push_back(copies[i].id());
  const List<int> once = gradients(graph, {{out.id(), copies[3].id()}}, first_three);
  List<Seed> seeds{};
  for (std::size_t r = 0; r < 3; ++r)
    if (cotangents[r] >= 0) seeds.push_back({once[r], cotangents[r]});
  const List<int> twice = gradients(graph, seeds, variables);
  for (std::size_t i = 0; i < count; ++i)
    if (result.wants(places[i]) && twice[i] >= 0) result.set(places[i], Value{graph, twice[i]});
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Refuses queries, keys and values whose shapes or types do not match.
TWILL_CONSTEXPR void check_attention(Value query, Value key, Value value, CallSite site) {
  Graph& graph = query.graph();
  const int rank = query.rank();
  if (rank < 2 || key.rank() != rank || value.rank() != rank)
    return graph.refuse(Problem::attention_ranks_differ, rank, key.rank() != rank ? key.rank() : value.rank(), site);
  const auto agree = [&](Extent a, Extent b) {
    if (!unify(graph, a, b))
      graph.refuse(Problem::attention_extents_differ, a.is_static() ? a.factor : dyn, b.is_static() ? b.factor : dyn,
                   site);
  };
  for (int axis = 0; axis < rank - 2; ++axis) {
    agree(query.shape()[axis], key.shape()[axis]);
    agree(query.shape()[axis], value.shape()[axis]);
  }
  agree(query.shape()[rank - 1], key.shape()[rank - 1]);
  agree(key.shape()[rank - 2], value.shape()[rank - 2]);
}

/// Refuses a mask that does not broadcast to the scores or has integer elements.
TWILL_CONSTEXPR void check_attention_mask(Value query, Value key, Value mask, CallSite site) {
  Graph& graph = query.graph();
  Extents scores = query.shape();
  scores[scores.rank - 1] = key.shape()[scores.rank - 2];
  const int first = scores.rank - mask.rank();
  if (mask.dtype() != DType::boolean && !is_floating(mask.dtype()))
    graph.refuse(Problem::attention_mask_is_neither_bool_nor_floating, static_cast<int>(mask.dtype()), 0, site);
  if (first < 0)
    return graph.refuse(Problem::attention_mask_has_more_axes_than_the_scores, mask.rank(), scores.rank, site);
  for (int axis = 0; axis < mask.rank(); ++axis) {
    const Extent a = mask.shape()[axis];
    const Extent b = scores[first + axis];
    if (!a.is_one() && !unify(graph, a, b))
      graph.refuse(Problem::attention_mask_does_not_fit_the_scores, a.is_static() ? a.factor : dyn,
                   b.is_static() ? b.factor : dyn, site);
  }
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// (..., inner, rows, width) as four axes; missing ones are one.
[[nodiscard]] TWILL_CONSTEXPR Value as_four_axes(Value x) {
  const Extents shape = x.shape();
  Extent outer{1, 0};
  for (int i = 0; i < shape.rank - 3; ++i) outer = outer * shape[i];
  Extents flat{}; // appended to: g++ 12 sometimes leaves zeros where extents would be one by default
  flat.append(outer);
  for (int i = 3; i > 0; --i) flat.append(shape.rank >= i ? shape[shape.rank - i] : Extent{1, 0});
  return reshape(x, flat);
}

/// The mask of four axes, each the scores' or one. More leading axes than two become one and repeat together there.
[[nodiscard]] TWILL_CONSTEXPR Value mask_of_four_axes(Value mask, const Extents& query) {
  const Extents shape = mask.shape();
  bool repeats = false;
  bool varies = false;
  for (int i = 0; i < query.rank - 3; ++i) {
    const int at = i - (query.rank - shape.rank);
    const bool is_one = at < 0 || shape[at].is_one();
    repeats = repeats || (is_one && !query[i].is_one());
    varies = varies || !is_one;
  }
  if (repeats && varies) {
    Extents all = query;
    for (int i = query.rank - 3; i < query.rank; ++i) {
      const int at = i - (query.rank - shape.rank);
      all[i] = at < 0 ? Extent{1, 0} : shape[at];
    }
    mask = broadcast_to(mask, all);
  }
  return as_four_axes(mask);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// softmax(scale Q K^T, masked) V without the scores in memory; zeros for a query whose keys are all masked, like
/// PyTorch since 2.5. query: (..., queries, width), key: (..., keys, width), value: (..., keys, value width) of equal
/// leading axes, of one floating type. 16-bit ones are computed in float32, on GPUs from 16 bits; the gradient of an
/// added mask takes the memory of the scores.
/// errors: ranks, extents or types that differ, a mask that does not fit
[[nodiscard]] TWILL_CONSTEXPR Value streamed_attention(Value query, Value key, Value value,
                                                       const StreamedAttentionOptions& options = {},
                                                       CallSite site = CallSite::here()) {
  Graph& graph = query.graph();
  check_attention(query, key, value, site);
  if (query.dtype() != key.dtype() || query.dtype() != value.dtype())
    graph.refuse(Problem::attention_dtypes_differ, static_cast<int>(query.dtype()),
                 static_cast<int>(query.dtype() != key.dtype() ? key.dtype() : value.dtype()), site);
  if (options.mask && !graph.fault.any()) check_attention_mask(query, key, *options.mask, site);
  if (graph.fault.any()) return query;
  const bool is_narrow = query.dtype() == DType::float16 || query.dtype() == DType::bfloat16;
  const DType dtype = is_narrow && !graph.suits_gpus ? DType::float32 : query.dtype();
  const auto batched = [&](Value x) { return detail::as_four_axes(cast(x, dtype)); };
  const Value q = batched(query);
  const Value k = batched(key);
  const Value v = batched(value);
  Extents shape = q.shape();
  shape[3] = v.shape()[3];
  Extents result = query.shape();
  result[result.rank - 1] = shape[3];
  const auto scale = std::bit_cast<std::int64_t>(options.scale);
  const Value mask = !options.mask                             ? Value{}
                     : options.mask->dtype() == DType::boolean ? *options.mask
                                                               : cast(*options.mask, dtype);
  const Value out = !options.mask
                        ? add_operation(attention_operation, {q, k, v}, dtype, shape, {options.is_causal, scale, 0})
                        : add_operation(attention_operation, {q, k, v, detail::mask_of_four_axes(mask, query.shape())},
                                        dtype, shape, {options.is_causal, scale, 1});
  (void)detail::logsumexp_of(out);
  return cast(reshape(out, result), query.dtype());
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The kernel's view of a call whose first operands are queries, keys and values; the mask is a later operand.
template <class T> [[nodiscard]] kernel::AttentionInputs<T> attention_of(const kernel::Launch& launch, int mask) {
  static_assert(FloatingScalar<T>, "twill: streamed_attention: it takes floating types; cast to one of them");
  const Dims* const shapes = launch.shapes;
  const auto at = [&](int i) { return static_cast<const T*>(launch.operands[i].data); };
  kernel::AttentionInputs<T> inputs{{.batches = shapes[0][0] * shapes[0][1],
                                     .queries = shapes[0][2],
                                     .keys = shapes[1][2],
                                     .width = shapes[0][3],
                                     .value_width = shapes[2][3],
                                     .is_causal = launch.attributes[0] != 0,
                                     .scale = std::bit_cast<double>(launch.attributes[1])},
                                    at(0),
                                    at(1),
                                    at(2)};
  if (launch.attributes[2] == 0) return inputs;
  const Dims& of_mask = shapes[mask];
  const auto stride = [&](int axis, std::int64_t whole) { return of_mask[axis] == 1 ? 0 : whole; };
  const std::int64_t row = of_mask[3];
  const std::int64_t matrix = of_mask[2] * row;
  inputs.mask.inner = shapes[0][1];
  inputs.mask.outer_stride = stride(0, of_mask[1] * matrix);
  inputs.mask.inner_stride = stride(1, matrix);
  inputs.mask.query_stride = stride(2, row);
  inputs.mask.key_stride = stride(3, 1);
  if (launch.dtypes[mask] == DType::boolean)
    inputs.mask.keep = static_cast<const bool*>(launch.operands[mask].data);
  else
    inputs.mask.added = at(mask);
  return inputs;
}

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&graph::attention_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    const int out = launch.attributes[2] != 0 ? 4 : 3;
    if (launch.shapes[out].elements() == 0) return;
    attention_forward(team, detail::attention_of<T>(launch, 3), static_cast<T*>(launch.operands[out].data),
                      static_cast<compute_t<T>*>(launch.operands[out + 1].data));
  }
};

template <> struct KernelOf<&graph::attention_backward_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    const auto at = [&](int i) { return static_cast<T*>(launch.operands[i].data); };
    const auto of_rows = [&](int i) { return static_cast<const compute_t<T>*>(launch.operands[i].data); };
    const bool has_out = launch.attributes[3] != 0;
    const int first = 6 + (launch.attributes[2] != 0 ? 1 : 0) + (has_out ? 1 : 0);
    attention_backward(team, detail::attention_of<T>(launch, 6),
                       kernel::AttentionGradients<T>{of_rows(3), of_rows(4), at(5), has_out ? at(first - 1) : nullptr,
                                                     at(first), at(first + 1), at(first + 2)});
  }
};

}}} // namespace twill::v0::TWILL_ISA
