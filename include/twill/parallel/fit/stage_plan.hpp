#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Plan of one stage of a pipeline, made at run time: its programs, which values they read, and its weights. Stages are
// those of a model's own marks, where there are as many, or else those of equal work, as `pipeline::Balanced` cuts
// them. Not in twill.hpp. Read next: parallel/fit/stage_replay.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/fit/planned.hpp>
#include <twill/parallel/fit/traces.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// One stage.
struct StagePlan {
  pipeline::StageCounts counts{};
  List<char> results_kept{};
  bool splits_gradients = false;
  bool updates_buffers = false;
  PlannedProgram inference{};
  PlannedProgram forward{};
  PlannedProgram forward_again{};
  PlannedProgram backward{};
  PlannedProgram input_gradient{};
  PlannedProgram weight_gradient{};
  PlannedProgram update{};
  PlannedProgram update_of_parts{};

  /// Whether a backward program reads an input: of the stage, the batch's first, a gradient of a result, or a value
  /// that the forward pass keeps.
  [[nodiscard]] bool reads_after_forward(std::size_t input) const;
  /// Whether the gradients of the weights read it, after those of the inputs.
  [[nodiscard]] bool weights_read(std::size_t input) const;
};

/// The places of the cuts in a model's trace: the first node of each stage but the first.
/// throws: ValueError if the model cannot be cut into as many stages
[[nodiscard]] std::vector<int> stage_places(const compile::ForwardTrace& model, int stages, const Sizes& sizes);

/// All stages of a model. throws: ValueError naming a stage that cannot be planned
[[nodiscard]] std::vector<StagePlan> plan_stages(const Traces& traces, int stages, bool splits_gradients,
                                                 const Sizes& sizes);

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/stage_plan.ipp>
#endif
