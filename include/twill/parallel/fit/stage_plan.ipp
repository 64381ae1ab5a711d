#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/stage_plan.hpp.

#include <twill/parallel/fit/stage_plan.hpp>

#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

TWILL_BODY bool StagePlan::reads_after_forward(std::size_t input) const {
  if (!splits_gradients) return backward.reads_input(input);
  return input_gradient.reads_input(input) || weights_read(input);
}

TWILL_BODY bool StagePlan::weights_read(std::size_t input) const { return weight_gradient.reads_input(input); }

TWILL_BODY StagePlan plan_stage(StageGraphs graphs, std::string_view what) {
  StagePlan plan{};
  for (graph::Graph* const each : {&graphs.inference, &graphs.forward, &graphs.forward_again, &graphs.backward,
                                   &graphs.input_gradient, &graphs.weight_gradient})
    each->suits_gpus = graphs.is_on_gpu;
  plan.counts = graphs.counts;
  plan.given = graphs.given;
  plan.results_kept = graphs.results_kept;
  plan.splits_gradients = graphs.splits_gradients;
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
  return plan;
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
