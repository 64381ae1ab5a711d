#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Partial updates: errors of a GPU's driver in the middle of a run, in one slot or several. Before the first launch
// that changes weights the caller gets the error as it is and can repeat the run; after it the error says that weights
// are new and old. A captured run is one launch, done or refused as a whole. Read next: compile/run/gpu/capture.hpp.

#include <twill/compile/plan/binding.hpp>
#include <twill/compile/run/reserve.hpp>
#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <cstddef>
#include <new>
#include <string>

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
