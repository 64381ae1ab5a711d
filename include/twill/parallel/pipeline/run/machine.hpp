#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Device in two numbers, the most arithmetic and the most memory traffic in a second, and the time that a program takes
// by them: its arithmetic at the first rate and the bytes that its launches read and write at the second, one after the
// other. Caches and the quality of a kernel are ignored. Read next: parallel/pipeline/run/costs.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline {

/// A device in two numbers, measured or from a data sheet, and the time of every launch.
struct Machine {
  double operations_per_s = 0; ///< a multiply-add is two
  double bytes_per_s = 0;      ///< of memory, read and written together
  double launch_s = 0;         ///< the least time of every launch
};

}}}} // namespace twill::v0::parallel::pipeline

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Seconds of a program, by its table and its trace, for these numbers of its symbols: arithmetic of products and the
/// like, for that of elementwise code is hidden by its traffic; bytes; launches. A rate of 0 is not counted.
[[nodiscard]] double counted_s(const compile::TableView& table, const graph::Graph& trace,
                               const graph::SymbolValues& symbols, const Machine& machine);

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/run/machine.ipp>
#endif
