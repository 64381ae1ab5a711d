#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stages of a model that is cut at run time: at its own marks, where there are as many, or else into stages of equal
// work, as `pipeline::Balanced` cuts it. Not in twill.hpp. Read next: parallel/fit/stage_plan.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/fit/options.hpp>
#include <twill/parallel/fit/stage_plan.hpp>
#include <twill/parallel/fit/traces.hpp>

#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// The places of the cuts in a model's trace: the first node of each stage but the first.
/// throws: ValueError if the model cannot be cut into as many stages
[[nodiscard]] std::vector<int> stage_places(const compile::ForwardTrace& model, int stages, const Sizes& sizes);

/// All stages of a model. throws: ValueError naming a stage that cannot be planned
[[nodiscard]] std::vector<StagePlan> plan_stages(const Traces& traces, int stages, const StageForm& form,
                                                 const Sizes& sizes);

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/stage_cuts.ipp>
#endif
