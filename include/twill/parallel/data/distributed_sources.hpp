#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Programs of local gradient sums on one rank: a batch that is only added to sums, and the last one, whose results are
// the sums with its own gradients, all times a common factor. Sums are float32 at least. Read next:
// parallel/data/distributed_step.hpp.

#include <twill/core/config.hpp>
#include <twill/training/accumulation.hpp>

#include <string_view>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The traced sums, each with the next gradient added; that of the loss comes last.
struct SummedTrace {
  graph::Graph graph{};
  List<int> sums{};
  List<int> totals{};
  int loss = -1; ///< of only this batch

  constexpr SummedTrace() = default;
};

/// The traced weight of the loss.
[[nodiscard]] constexpr graph::Value loss_weight(graph::Graph& graph) {
  DType dtype = graph.element;
  for (const graph::RunScalarInfo& run_scalar : graph.run_scalars)
    if (run_scalar.name.view() == training::loss_weight_scalar) dtype = run_scalar.dtype;
  return graph::run_scalar(graph, training::loss_weight_scalar, 1, dtype);
}

template <class M, class T, class L, class R, class... Targets>
[[nodiscard]] constexpr SummedTrace trace_sums(const graph::Parts& parts) {
  training::LossTrace trace = training::trace_loss<M, T, L, R, Targets...>(parts);
  SummedTrace result{};
  result.graph = static_cast<graph::Graph&&>(trace.graph);
  graph::Graph& graph = result.graph;
  if (graph.fault.any()) return result;
  result.sums = training::declare_sums(graph, trace.weights);
  const graph::Value continues = graph::run_scalar(graph, training::continues_scalar, 0, DType::boolean);
  const graph::Value weighted = graph::reshape(graph::Value{graph, trace.loss}, graph::Extents{});
  const graph::Value weight = graph::cast(loss_weight(graph), weighted.dtype());
  List<int> terms = trace.gradients;
  terms.push_back(weighted.id());
  for (std::size_t i = 0; i < result.sums.size(); ++i) {
    const graph::Value sum{graph, result.sums[i]};
    const graph::Value term = graph::cast(graph::Value{graph, terms[i]}, sum.dtype());
    // A rank without rows adds nothing, and a mean over no rows is not a number.
    result.totals.push_back((graph::where(continues, sum, 0) + graph::where(weight > 0, term, 0)).id());
  }
  result.loss = (weighted / weight).id();
  return result;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Adds the weighted loss and its gradients to the sums. The loss of the batch is the output.
template <class M, class T, class L, class R, class... Targets>
struct AddToSums : training::DividedSource<AddToSums, M, T, L, R, Targets...> {
  static constexpr graph::Graph trace_with(const graph::Parts& parts) {
    detail::SummedTrace trace = detail::trace_sums<M, T, L, R, Targets...>(parts);
    graph::Graph& graph = trace.graph;
    for (std::size_t i = 0; i < trace.sums.size(); ++i) graph.add_assign(trace.sums[i], trace.totals[i]);
    if (!graph.fault.any()) graph.outputs.push_back(trace.loss);
    return static_cast<graph::Graph&&>(graph);
  }
  static constexpr compile::TableSizes room() { return nn::ModelStage<M, T, true>::room(); }
};

/// The results of `LossGradient` plus the sums, all times a factor. The sums stay unchanged.
template <class M, class T, class L, class R, class... Targets>
struct FinishSums : training::DividedSource<FinishSums, M, T, L, R, Targets...> {
  static constexpr graph::Graph trace_with(const graph::Parts& parts) {
    detail::SummedTrace trace = detail::trace_sums<M, T, L, R, Targets...>(parts);
    graph::Graph& graph = trace.graph;
    if (graph.fault.any()) return static_cast<graph::Graph&&>(graph);
    const auto scaled = [&](int id, DType dtype) {
      const graph::Value total{graph, id};
      const graph::Value factor = graph::run_scalar(graph, training::sum_scale_scalar, 1, total.dtype());
      return graph::cast(total * factor, dtype).id();
    };
    graph.outputs.push_back(scaled(trace.totals.back(), graph.element));
    const List<int> weights = nn::trainable_weights(graph);
    for (std::size_t i = 0; i < weights.size(); ++i)
      graph.outputs.push_back(scaled(trace.totals[i], graph.node(weights[i]).dtype));
    return static_cast<graph::Graph&&>(graph);
  }
  static constexpr compile::TableSizes room() { return nn::ModelStage<M, T, true>::room(); }
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
