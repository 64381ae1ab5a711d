#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Launches of a segment on a GPU's queue. Instructions that share a launch are one kernel over all their grids. The
// progress of the run records the instructions given to the queue, since a driver that stops a run after the first
// update leaves some weights new and others old. Read next: compile/run/launch.hpp for hosts, compile/run/executor.hpp.

#include <twill/compile/passes/join.hpp>
#include <twill/compile/program_type.hpp>
#include <twill/compile/run/launch.hpp>
#include <twill/compile/run/partial_update.hpp>
#include <twill/compile/run/ranges.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/blocks.hpp>
#include <twill/kernel/gpu/index_sums.hpp>
#include <twill/kernel/gpu/joined.hpp>
#include <twill/kernel/gpu/row_orders.hpp>
#include <twill/kernel/program.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Gives a queue a launch, which begins with this instruction.
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

/// Gives a queue an instruction by itself.
template <gpu::Runtime R>
void run_alone(const gpu::Queue<R>& queue, const Binding& binding, const BoundInstruction& instruction,
               std::span<const StartedKernel<gpu::Queue<R>>> kernels) {
  kernels[instruction.kernel].run(queue, binding.call(instruction));
}

/// Gives a queue all launches of a segment.
template <gpu::Runtime R>
void run_segment(const gpu::Queue<R>& queue, Binding& binding, const Segment& segment,
                 std::span<const StartedKernel<gpu::Queue<R>>> kernels, detail::UpdateProgress& progress) {
  for_each_launch(binding, segment, [&](const BoundInstruction* launch) {
    run_launch(queue, binding, launch, kernels);
    progress.given(number_of(binding, *launch));
  });
}

}}}} // namespace twill::v0::compile::TWILL_ISA
