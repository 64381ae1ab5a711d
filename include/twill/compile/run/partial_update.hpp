#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU's driver stops in the midst of a run, in one slot or several. While no launch that changes weights was given to it,
// the error goes to the caller as it is and the run can be made again; behind it the caller learns of weights new and old.
// A captured run is one launch, which is done or refused as a whole. Read next: compile/run/gpu/capture.hpp.

#include <twill/compile/plan/binding.hpp>
#include <twill/compile/run/reserve.hpp>
#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <cstddef>
#include <new>
#include <string>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// The launch that is the first to change weights, by its first instruction; in a loop, whose steps come again, the loop's
/// first; behind all instructions where none does.
[[nodiscard]] std::size_t first_update(const TableView& table, const Binding& binding);

/// How far a run has come: whether a launch that changes weights has been given to a device.
class UpdateProgress {
public:
  explicit UpdateProgress(std::size_t first_update) : first_update_{first_update} {}

  /// A launch was given that begins with this instruction.
  void given(std::size_t instruction) { is_updated_ = is_updated_ || instruction >= first_update_; }
  [[nodiscard]] bool is_updated() const { return is_updated_; }

private:
  std::size_t first_update_;
  bool is_updated_ = false;
};

/// Calls `run(progress)`. What the driver refuses behind an update, and memory that is missing on the host there, is reported
/// as a partial one.
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
