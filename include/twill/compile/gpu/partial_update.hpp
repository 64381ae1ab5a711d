#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU's driver stops in the midst of a run, in one slot or several. While no launch that changes weights was given to it,
// the error goes to the caller as it is and the run can be made again; behind it the caller learns of weights new and old.
// A captured run is one launch, which is done or refused as a whole. Read next: compile/gpu/executor.hpp.

#include <twill/compile/binding.hpp>
#include <twill/compile/rehearse.hpp>
#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <algorithm>
#include <cstddef>
#include <new>
#include <string>

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

/// The first instruction behind the launch that is the first to change weights; in a loop, whose steps come again, the loop's
/// first; the number of instructions where none does.
[[nodiscard]] inline std::size_t behind_first_update(const TableView& table, const Binding& binding) {
  const std::size_t count = binding.instructions.size();
  for (std::size_t i = 0, end = 0; i < count; i = end) {
    end = i + binding.instructions[i].members;
    if (!changes_parameters(table, i, end)) continue;
    for (const BoundLoop& loop : binding.loops)
      if (loop.first <= i && i < loop.end) return loop.first;
    return end;
  }
  return count;
}

/// Calls `run()`. What the driver refuses there, and memory that is missing on the host, is reported as a partial update.
/// throws: PartialUpdateError
template <class Run> void run_behind_update(const Run& run) {
  try {
    run();
  } catch (const PartialUpdateError&) {
    throw;
  } catch (const GpuError& error) {
    throw PartialUpdateError(error);
  } catch (const std::bad_alloc& error) {
    throw PartialUpdateError(std::string{error.what()});
  }
}

/// Calls `run(begin, end)` for the instructions before the given one and for those from there on, which are behind an update.
template <class Run>
void run_around_update(std::size_t behind_update, std::size_t begin, std::size_t end, const Run& run) {
  const std::size_t cut = std::clamp(behind_update, begin, end);
  if (begin < cut) run(begin, cut);
  if (cut < end) run_behind_update([&] { run(cut, end); });
}

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA
