#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of training/fit_report.hpp.

#include <twill/training/fit_report.hpp>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY std::string to_string(const FitReport& report) {
  const auto line = [](const char* what, std::int64_t without, std::int64_t with) {
    return std::string{what} + std::to_string(without) + " -> " + std::to_string(with) + "\n";
  };
  const MemoryUse& a = report.without;
  const MemoryUse& b = report.with;
  return "budget " + std::to_string(report.budget_bytes) + " bytes" + (report.fits() ? "" : ", not met") + "\n" +
         line("peak ", a.total(), b.total()) + line("  weights ", a.weights, b.weights) +
         line("  optimiser ", a.states, b.states) + line("  results ", a.kept, b.kept) +
         line("  activations ", a.arena, b.arena) +
         (a.working + b.working > 0 ? line("  working ", a.working, b.working) : std::string{}) +
         line("operations ", report.work_without.operations, report.work_with.operations) + "parts computed again " +
         std::to_string(report.parts.count) + ", extra time " + std::to_string(std::lround(report.extra_time() * 100)) +
         "%\n";
}

}}}} // namespace twill::v0::compile::TWILL_ISA
