#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Costs of a pipeline's stages by counting, for `simulate`: bytes, exact, of the replay that `pipeline::memory` makes,
// and times on a device given by two numbers. Both are of programs that are traced and planned at run time.
// Not in twill.hpp. Read next: parallel/pipeline/schedule/predict.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/fit/plans_of.hpp>
#include <twill/parallel/fit/stage_plan.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/run/machine.hpp>
#include <twill/parallel/pipeline/run/step_options.hpp>
#include <twill/parallel/pipeline/schedule/predict.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The bytes of a stage.
[[nodiscard]] StageCost bytes_of_stage(const fit::StagePlan& stage, const graph::SymbolValues& symbols,
                                       Checkpointing checkpointing);
/// Adds the times of its programs.
void count_times(const fit::StagePlan& stage, const graph::SymbolValues& symbols, const Machine& machine,
                 StageCost& cost);

/// Calls `f(plan, symbols, stage)` for each stage of a pipeline P on inputs of these shapes.
template <class P, std::size_t N, class F> void for_each_plan(const std::array<Dims, N>& shapes, F f) {
  const std::vector<fit::StagePlan> plans = fit::plans_of<P>();
  P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    f(plans[I], P::Plan::template symbols<std::tuple_element_t<I, typename P::Stages>>(shapes, shapes[0][0]),
      static_cast<int>(I));
  });
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The bytes of each stage of a pipeline P for micro-batches whose inputs have these shapes. Times are left at zero.
/// Kept bytes are those of a recomputed micro-batch, if all are.
template <class P, std::size_t N>
[[nodiscard]] List<StageCost> stage_bytes(const std::array<Dims, N>& shapes,
                                          const StageCheckpointing& checkpointing = {}) {
  List<StageCost> costs;
  detail::for_each_plan<P>(shapes, [&](const auto& plan, const graph::SymbolValues& symbols, int stage) {
    costs.push_back(detail::bytes_of_stage(plan, symbols, checkpointing(stage)));
  });
  return costs;
}

/// The costs of a pipeline P's stages on a machine that need not be here, for micro-batches whose inputs have these
/// shapes.
template <class P, std::size_t N>
[[nodiscard]] List<StageCost> counted_costs(const std::array<Dims, N>& shapes, const Machine& machine) {
  List<StageCost> costs;
  detail::for_each_plan<P>(shapes, [&](const auto& plan, const graph::SymbolValues& symbols, int) {
    costs.push_back(detail::bytes_of_stage(plan, symbols, Checkpointing::never));
    detail::count_times(plan, symbols, machine, costs.back());
  });
  return costs;
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/run/costs.ipp>
#endif
