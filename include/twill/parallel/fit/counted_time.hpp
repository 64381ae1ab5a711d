#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Seconds of a program that was planned at run time, counted like `pipeline::counted_costs` counts those of compiled
// ones: its arithmetic at the device's first rate and the bytes that its launches read and write at the second, one
// after the other. Not in twill.hpp. Read next: parallel/fit/estimate.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/fit/planned.hpp>
#include <twill/parallel/pipeline/run/costs.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// Seconds of one run on a machine, for these numbers of its symbols.
[[nodiscard]] double counted_s(const PlannedProgram& program, const graph::SymbolValues& symbols,
                               const pipeline::Machine& machine);

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/counted_time.ipp>
#endif
