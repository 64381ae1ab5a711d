#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Protection against partial updates, which leave some weights new and others old. Before the first run of a table that
// changes weights its working memory is reserved: threads start, take the memory and make the libraries' plans that its
// kernels need, once for each binding and each thread that starts runs, and again when a thread has lost its memory. An
// error of a GPU's driver before the first launch that changes weights reaches the caller as it is, and the run can be
// repeated; after it the error says that weights are new and old. Read next: compile/run/gpu/capture.hpp.

#include <twill/compile/plan/binding.hpp>
#include <twill/compile/program_type.hpp>
#include <twill/compile/run/bindings.hpp>
#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/device/gpu/runtime.hpp>
#include <twill/kernel/scratch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>

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

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// The first launch that changes weights, by its first instruction; in a loop, whose steps repeat, the loop's first;
/// the number of instructions where none does.
[[nodiscard]] std::size_t first_update(const TableView& table, const Binding& binding);

/// Progress of a run: whether a launch that changes weights has been given to a device.
class UpdateProgress {
public:
  explicit UpdateProgress(std::size_t first_update) : first_update_{first_update} {}

  /// Notes a launch that begins with this instruction.
  void given(std::size_t instruction) { is_updated_ = is_updated_ || instruction >= first_update_; }
  [[nodiscard]] bool is_updated() const { return is_updated_; }

private:
  std::size_t first_update_;
  bool is_updated_ = false;
};

/// Calls `run(progress)`. Errors of the driver after an update, and missing host memory there, are reported as a
/// partial update.
/// throws: PartialUpdateError, and what `run` throws before an update
template <class Run> void run_with_updates(std::size_t first_update, const Run& run) {
  UpdateProgress progress{first_update};
  try {
    run(progress);
  } catch (const PartialUpdateError&) {
    throw;
  } catch (const GpuError& error) {
    if (!progress.is_updated()) throw;
    throw PartialUpdateError(error);
  } catch (const std::bad_alloc& error) {
    if (!progress.is_updated()) throw;
    throw PartialUpdateError(std::string{error.what()});
  }
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run/partial_update.ipp>
#endif
