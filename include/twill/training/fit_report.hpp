#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Report of a model's memory budget: `constexpr auto report = fit_report<Fitted, nn::cross_entropy, optim::Sgd,
// Labels>();` has the peak of a planned step without and within the budget, by kind of memory, the recomputed parts,
// and the increase of the step's work. `to_string(report)` is a small table. Elements are float. Read next: nn/fit.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/fit.hpp>
#include <twill/training/inspect.hpp>

#include <cmath>
#include <cstdint>
#include <string>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The figures of a whole training step on targets of these tensor types. cost: that of compiling the step
template <nn::Model M, auto Loss, optim::Rule R, AnyTensor... Targets>
[[nodiscard]] constexpr compile::FitReport fit_report() {
  static_assert(compile::Budget<M>, "twill: fit_report: the model has no budget; wrap it, nn::Fit<Model, 2_GiB>");
  return compile::fit_report_of<training::StepOf<nn::unfitted_t<M>, Loss, R, Targets...>, M>;
}

/// The figures of staged runs, `forward` and `backward`, with gradients of the weights and the values kept between the
/// two; no optimiser, no loss.
template <nn::Model M> [[nodiscard]] constexpr compile::FitReport fit_report() {
  static_assert(compile::Budget<M>, "twill: fit_report: the model has no budget; wrap it, nn::Fit<Model, 2_GiB>");
  return compile::fit_report_of<nn::BothPasses<nn::ModelStage<nn::unfitted_t<M>, float, true>, 0>, M>;
}

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The figures, a line for each kind of memory.
[[nodiscard]] std::string to_string(const FitReport& report);

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/training/fit_report.ipp>
#endif
