#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/stage_plan.hpp.

#include <twill/compile/passes/divisions.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/fit/stage_plan.hpp>

#include <string>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

TWILL_BODY bool StagePlan::reads_after_forward(std::size_t input) const {
  if (!splits_gradients) return backward.reads_input(input);
  return input_gradient.reads_input(input) || weights_read(input);
}

TWILL_BODY bool StagePlan::weights_read(std::size_t input) const { return weight_gradient.reads_input(input); }

TWILL_BODY std::vector<int> stage_places(const compile::ForwardTrace& model, int stages, const Sizes& sizes) {
  const graph::Graph& graph = model.graph;
  std::vector<int> places{};
  if (static_cast<int>(graph.stage_boundaries.size()) == stages - 1) {
    places.assign(graph.stage_boundaries.begin(), graph.stage_boundaries.end());
    return places;
  }
  const graph::SymbolValues symbols = symbols_of(graph, sizes);
  const compile::Cuts candidates{graph, model.root, symbols};
  const int first = pipeline::detail::first_place(graph, model.root, candidates);
  const int found = candidates.count() - 1 - first;
  if (found < stages - 1)
    throw ValueError(join_text({"fit: a pipeline of ", stages, " stages needs ", stages - 1,
                                " places to cut the model, and it has ", found, "; take fewer stages"}));
  for (const int cut : pipeline::detail::balanced(candidates, stages, first)) places.push_back(candidates.node(cut));
  return places;
}

TWILL_BODY std::vector<StagePlan> plan_stages(const Traces& traces, int stages, bool splits_gradients,
                                              const Sizes& sizes) {
  if (traces.stage == nullptr)
    throw ValueError("fit: a pipeline takes one target, the step has another number of them");
  const compile::ForwardTrace model = traces.model();
  std::vector<int> places = stage_places(model, stages, sizes);
  places.insert(places.begin(), 0);
  places.push_back(model.graph.size());
  std::vector<StagePlan> plans{};
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    StageGraphs graphs = traces.stage(places[i], places[i + 1], splits_gradients);
    const std::string what = "stage " + std::to_string(i);
    StagePlan& plan = plans.emplace_back();
    plan.counts = graphs.counts;
    plan.results_kept = graphs.results_kept;
    plan.splits_gradients = splits_gradients;
    plan.inference = {std::move(graphs.inference), what};
    plan.forward = {std::move(graphs.forward), what};
    plan.forward_again = {std::move(graphs.forward_again), what};
    plan.backward = {std::move(graphs.backward), what};
    plan.input_gradient = {std::move(graphs.input_gradient), what};
    plan.weight_gradient = {std::move(graphs.weight_gradient), what};
    plan.update = {std::move(graphs.update), what};
    plan.update_of_parts = {std::move(graphs.update_of_parts), what};
    for (const graph::ParameterInfo& info : plan.inference.view().parameters)
      plan.updates_buffers = plan.updates_buffers || info.role == graph::Role::buffer;
  }
  return plans;
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
