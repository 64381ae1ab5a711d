#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Graphs of a pipeline's stage, traced at run time by the sources of the programs that run it. Not in twill.hpp.
// Read next: parallel/fit/stage_plan.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/graph/graph.hpp>
#include <twill/nn/stage.hpp>
#include <twill/optim/update.hpp>
#include <twill/parallel/pipeline/model/programs.hpp>
#include <twill/parallel/pipeline/model/stage_rules.hpp>

#include <compare>
#include <cstddef>

namespace twill { inline namespace v0 { namespace parallel { namespace fit {

/// How the stages of a pipeline are computed.
struct StageForm {
  bool splits_gradients = false; ///< computes those of inputs and of weights apart
  bool is_reproducible = false;  ///< under `Reproducible`, where a loss takes images channels-last

  friend constexpr auto operator<=>(const StageForm&, const StageForm&) = default;
};

/// A stage of a pipeline as graphs. Those that its schedule does not need are empty.
struct StageGraphs {
  pipeline::StageCounts counts{};
  List<int> given{};         ///< the inputs of the batch that it takes
  List<char> results_kept{}; ///< whether the backward pass reads each result
  bool splits_gradients = false;
  bool is_on_gpu = false; ///< operations take working memory of a GPU's pool
  graph::Graph inference{};
  graph::Graph forward{};
  graph::Graph forward_again{};
  graph::Graph backward{};
  graph::Graph input_gradient{};
  graph::Graph weight_gradient{};
  graph::Graph update{};
  graph::Graph update_of_parts{};
};

}}}} // namespace twill::v0::parallel::fit

namespace twill { inline namespace v0 { namespace parallel { namespace fit::detail { inline namespace TWILL_ISA {

/// The results of a stage that its backward pass reads, by their number: the first of equal ones.
[[nodiscard]] inline List<char> results_kept(const pipeline::detail::StageJoint& joint) {
  const List<int> nodes = nn::kept_nodes(joint);
  List<char> found(joint.results, 0);
  for (std::size_t i = 0; i < joint.results; ++i) {
    bool is_repeated = false;
    for (std::size_t other = 0; other < i; ++other)
      is_repeated = is_repeated || joint.graph.outputs[other] == joint.graph.outputs[i];
    for (const int id : nodes)
      if (id == joint.graph.outputs[i] && !is_repeated) found.items[i] = 1;
  }
  return found;
}

}}}}} // namespace twill::v0::parallel::fit::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// The graphs of the stage that F traces, without its updates.
template <pipeline::StageSource F> [[nodiscard]] StageGraphs graphs_of_stage(const StageForm& form) {
  StageGraphs all{};
  all.splits_gradients = form.splits_gradients;
  all.counts = pipeline::detail::count<F>();
  graph::Graph whole = F::make_graph();
  all.given = F::build(whole).given;
  all.results_kept = detail::results_kept(pipeline::detail::joint<F>());
  all.inference = pipeline::StageInference<F>::trace();
  all.forward = pipeline::StageForward<F>::trace();
  all.forward_again = pipeline::StageForwardAgain<F>::trace();
  if (form.splits_gradients) {
    if (all.counts.received > 0) all.input_gradient = pipeline::StageInputGradient<F>::trace();
    if (all.counts.weights > 0) all.weight_gradient = pipeline::StageWeightGradient<F>::trace();
  } else {
    all.backward = pipeline::StageBackward<F>::trace();
  }
  return all;
}

/// Adds the updates by a rule of the weights of a model, which are the stage's.
template <class M, class T, class R> void add_updates(StageGraphs& stage) {
  stage.update = pipeline::detail::UpdateStage<M, T, R>::trace();
  stage.update_of_parts = pipeline::detail::UpdateStage<M, T, R, optim::Updated::parts>::trace();
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
