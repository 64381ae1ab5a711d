#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The loop over bound instructions on a GPU's queue. Instructions that share a launch are one kernel over all their grids. Who
// asks is told which instructions the queue has been given, since a driver that stops a run behind the first update leaves
// weights new and old. Read next: compile/run_joined.hpp for hosts, compile/gpu/executor.hpp.

#include <twill/compile/binding.hpp>
#include <twill/compile/gpu/partial_update.hpp>
#include <twill/compile/join.hpp>
#include <twill/compile/program_type.hpp>
#include <twill/compile/ranges.hpp>
#include <twill/compile/run_loops.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/program.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Gives a queue a launch, which begins with this instruction. Instructions that share a launch are one kernel.
template <gpu::Runtime R>
void run_launch(const gpu::Queue<R>& queue, const Binding& binding, const BoundInstruction* launch,
                std::span<const StartedKernel<gpu::Queue<R>>> kernels) {
  [[maybe_unused]] const LaunchRange range{binding, launch};
  const StartedKernel<gpu::Queue<R>>& started = kernels[launch->kernel];
  if (launch->members == 1) {
    started.run(queue, binding.call(*launch));
    return;
  }
  const kernel::Operand* const operands = binding.operands.data();
  std::array<kernel::JoinedLaunch, most_joined_launches> joined{};
  for (std::size_t i = 0; i < launch->members; ++i) joined[i] = {&launch[i].grid, operands + launch[i].first_operand};
  started.run_joined(queue, joined.data(), launch->members);
}

/// The place of an instruction among those of its program.
[[nodiscard]] inline std::size_t number_of(const Binding& binding, const BoundInstruction& instruction) {
  return static_cast<std::size_t>(&instruction - binding.instructions.data());
}

/// Gives a queue the instructions from `begin` to before `end` once, in order; loops as often as they have steps.
template <gpu::Runtime R>
void run_instructions(const gpu::Queue<R>& queue, Binding& binding, std::size_t begin, std::size_t end,
                      std::span<const StartedKernel<gpu::Queue<R>>> kernels,
                      detail::UpdateProgress* progress = nullptr) {
  for_each_launch(binding, begin, end, [&](const BoundInstruction* launch) {
    run_launch(queue, binding, launch, kernels);
    if (progress != nullptr) progress->given(number_of(binding, *launch));
  });
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
