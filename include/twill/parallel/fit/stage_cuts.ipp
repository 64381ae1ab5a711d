#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/stage_cuts.hpp.

#include <twill/compile/passes/divisions.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/fit/stage_cuts.hpp>
#include <twill/parallel/pipeline/model/balance.hpp>

#include <cstddef>
#include <string>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

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

TWILL_BODY std::vector<StagePlan> plan_stages(const Traces& traces, int stages, const StageForm& form,
                                              const Sizes& sizes) {
  if (traces.stage == nullptr)
    throw ValueError("fit: a pipeline takes one target, the step has another number of them");
  const compile::ForwardTrace model = traces.model();
  std::vector<int> places = stage_places(model, stages, sizes);
  places.insert(places.begin(), 0);
  places.push_back(model.graph.size());
  std::vector<StagePlan> plans{};
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    StageGraphs graphs = traces.stage(places[i], places[i + 1], form);
    graphs.is_on_gpu = traces.is_for_gpus;
    plans.push_back(plan_stage(std::move(graphs), "stage " + std::to_string(i)));
  }
  return plans;
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
