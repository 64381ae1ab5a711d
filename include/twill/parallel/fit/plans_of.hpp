#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Plans of the stages of a pipeline that is a type, made at run time of the compiler's traces, those that run: a second
// trace could differ, since C++ leaves open in which order operands are evaluated. Not in twill.hpp. Read next:
// parallel/pipeline/run/memory.hpp, parallel/pipeline/run/costs.hpp.

#include <twill/compile/traced.hpp>
#include <twill/core/config.hpp>
#include <twill/optim/update.hpp>
#include <twill/parallel/fit/stage_graphs.hpp>
#include <twill/parallel/fit/stage_plan.hpp>
#include <twill/parallel/pipeline/model/plan.hpp>
#include <twill/parallel/pipeline/model/programs.hpp>
#include <twill/parallel/pipeline/model/stage_rules.hpp>

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// The graphs of a stage that is a type, without its updates.
template <class Stage, bool SplitsGradients> [[nodiscard]] StageGraphs graphs_of_type() {
  using F = typename Stage::Source;
  StageGraphs all{};
  all.splits_gradients = SplitsGradients;
  all.counts = Stage::counts;
  for (const int input : pipeline::given_inputs<F>) all.given.push_back(input);
  for (const bool is_kept : Stage::results_kept) all.results_kept.push_back(is_kept ? 1 : 0);
  all.inference = compile::trace_of<pipeline::StageInference<F>>();
  all.forward = compile::trace_of<pipeline::StageForward<F>>();
  if constexpr (Stage::updates_buffers) all.forward_again = compile::trace_of<pipeline::StageForwardAgain<F>>();
  if constexpr (!SplitsGradients) all.backward = compile::trace_of<pipeline::StageBackward<F>>();
  if constexpr (SplitsGradients && Stage::counts.received > 0)
    all.input_gradient = compile::trace_of<pipeline::StageInputGradient<F>>();
  if constexpr (SplitsGradients && Stage::counts.weights > 0)
    all.weight_gradient = compile::trace_of<pipeline::StageWeightGradient<F>>();
  return all;
}

/// The plans of a pipeline's stages, with updates by a rule R, of parts of weights for a stage of ZeRO; without, if it
/// is void. throws: ValueError naming a stage that cannot be planned
template <class P, class R = void, int ZeroStage = 0> [[nodiscard]] std::vector<StagePlan> plans_of() {
  std::vector<StagePlan> plans{};
  P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    using Stage = std::tuple_element_t<I, typename P::Stages>;
    StageGraphs graphs =
        graphs_of_type<Stage, pipeline::detail::splits_gradients<typename P::ScheduleType, P::ranks>()>();
    graphs.is_on_gpu = requires { typename Stage::Network::device_type::Runtime; };
    if constexpr (!std::is_void_v<R>) {
      using pipeline::detail::UpdateStage;
      using M = typename Stage::Network::model_type;
      using T = typename P::Element;
      if constexpr (ZeroStage == 0)
        graphs.update = compile::trace_of<UpdateStage<M, T, R>>();
      else
        graphs.update_of_parts = compile::trace_of<UpdateStage<M, T, R, optim::Updated::parts>>();
    }
    plans.push_back(plan_stage(std::move(graphs), "stage " + std::to_string(I)));
  });
  return plans;
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
