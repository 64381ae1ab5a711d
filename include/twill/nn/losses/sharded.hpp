#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cross entropy with classes divided over the ranks along an axis: three numbers for each row are communicated, never
// the logits. Read next: nn/tensor_parallel.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/losses/loss.hpp>
#include <twill/ops/collective.hpp>

#include <limits>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

template <AnyRankAxis A> struct ShardedCrossEntropyFormula {
  /// logits: (..., classes / ranks), labels: (...), of all classes.
  /// loss = log sum exp(logits) - logit of the label, with maximum, sum and logit over all ranks
  [[nodiscard]] constexpr graph::Value operator()(graph::Value logits, graph::Value labels) const {
    graph::Graph& graph = logits.graph();
    const graph::Value wide = widened(logits);
    const std::int64_t share = logits.size(-1, {});
    graph.require_within(labels.id(), {.what = "a label", .end = {share * A::size, 0}});
    const graph::Value largest = graph::all_reduce<A>(
        graph::stop_gradient(graph::max(wide, {-1}, graph::KeepDims::yes)), kernel::Reduction::max);
    const graph::Value total =
        graph::reduce_from<A>(graph::sum(graph::exp(wide - largest), {-1}, graph::KeepDims::yes));
    graph::Extents classes{};
    classes.append({share, 0});
    const graph::Value label = graph::unsqueeze(graph::cast(labels, DType::int64), -1);
    const graph::Value own = A::size == 1 ? label : label - graph::rank_along<A>(graph) * share;
    const graph::Value is_label = graph::equal(own, graph::iota(graph, classes));
    const graph::Value of_label =
        graph::reduce_from<A>(graph::sum(graph::where(is_label, wide, 0), {-1}, graph::KeepDims::yes));
    const graph::Value losses = graph::log(total) - (of_label - largest);
    const graph::Value is_class = graph::logical_and(label >= 0, label < share * A::size);
    return graph::mean(graph::where(is_class, losses, std::numeric_limits<double>::infinity()));
  }
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The mean cross entropy of logits divided by classes over the ranks.
template <AnyRankAxis A> inline constexpr Loss<detail::ShardedCrossEntropyFormula<A>> sharded_cross_entropy{};

}}}} // namespace twill::v0::nn::TWILL_ISA
