#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Working memory of a run, reserved before the first run of a table that changes weights: its threads start, take the
// memory and make the libraries' plans that its kernels need. Without memory the run ends there, with every weight
// unchanged; later it would leave some weights updated and others not. Reserved once for each binding and each thread
// that starts runs, and again when a thread has lost its memory. Read next: compile/run/executor.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/compile/run/bindings.hpp>
#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/scratch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// Whether some instruction from `begin` to before `end` writes memory that outlives the run.
[[nodiscard]] bool changes_parameters(const TableView& table, std::size_t begin, std::size_t end);
[[nodiscard]] bool changes_parameters(const TableView& table);

/// Reserves for the instructions of a slot, each once. requires: the operands are placed
void reserve_working_memory(const Team& team, const TableView& table, const Binding& binding,
                            std::span<const KernelFunction> kernels, int slot);

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Lets the team and the calling thread take the memory that a run of this binding needs, unless they have it.
/// throws: std::bad_alloc    cost: a comparison, when they have it
void reserve_working_memory(const Team& team, const TableView& table, Bound& bound,
                            std::span<const KernelFunction> kernels);

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run/reserve.ipp>
#endif
