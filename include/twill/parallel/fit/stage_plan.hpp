#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Plan of one stage of a pipeline, made at run time: its programs, which values they read, and its weights.
// Not in twill.hpp. Read next: parallel/fit/stage_cuts.hpp, parallel/fit/stage_replay.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/fit/planned.hpp>
#include <twill/parallel/fit/stage_graphs.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// One stage.
struct StagePlan {
  pipeline::StageCounts counts{};
  List<int> given{}; ///< the inputs of the batch that it takes
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

/// The plan of a stage. throws: ValueError naming `what` for a stage that cannot be planned
[[nodiscard]] StagePlan plan_stage(StageGraphs graphs, std::string_view what);

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/stage_plan.ipp>
#endif
