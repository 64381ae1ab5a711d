#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The order of launches when some of them run for every step of a loop. Between steps the operands of those launches move:
// to the next slice of what was stacked, to the next positions of random draws. Afterwards they stand where they stood.
// Read next: compile/run_joined.hpp.

#include <twill/compile/binding.hpp>
#include <twill/core/config.hpp>

#include <cstddef>
#include <cstdint>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Moves the operands of a loop by so many steps.
void move_operands(Binding& binding, const BoundLoop& loop, std::int64_t steps);

/// Calls `run(launch)` for every launch, the first of its instructions, in the order of execution, of the instructions from
/// `begin` to before `end`, which cut no launch and no loop.
template <class Run> void for_each_launch(Binding& binding, std::size_t begin, std::size_t end, const Run& run) {
  const auto run_between = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; i += binding.instructions[i].members) run(&binding.instructions[i]);
  };
  std::size_t done = begin;
  for (const BoundLoop& loop : binding.loops) {
    if (loop.first < begin || loop.end > end) continue;
    run_between(done, loop.first);
    for (std::int64_t step = 0; step < loop.count; ++step) {
      if (step > 0) move_operands(binding, loop, 1);
      run_between(loop.first, loop.end);
    }
    if (loop.count > 1) move_operands(binding, loop, 1 - loop.count);
    done = loop.end;
  }
  run_between(done, end);
}

/// How many launches those are.
[[nodiscard]] std::size_t launches_between(const Binding& binding, std::size_t begin, std::size_t end);

/// Calls `run(launch)` for all of them.
template <class Run> void for_each_launch(Binding& binding, const Run& run) {
  for_each_launch(binding, 0, binding.instructions.size(), run);
}

} // namespace twill::inline v0::compile::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run_loops.ipp>
#endif
