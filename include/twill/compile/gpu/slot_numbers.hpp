#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The run-time numbers of a program whose device slots are GPUs: each slot has a block of them in its device's memory, which a
// run writes first, in the order of the slot's stream. Slots whose kernels read no number have none written. Read next:
// compile/gpu/numbers_block.hpp, compile/slot_executor.hpp.

#include <twill/compile/gpu/numbers_block.hpp>
#include <twill/compile/slot_numbers.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/scope.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/kernel/gpu/prologue.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

template <ComputeDevice D>
requires gpu::GpuDevice<D>
class SlotNumbers<D> {
  using R = typename D::Runtime;

public:
  /// throws: GpuError when there is no memory for them
  SlotNumbers(std::span<const D> devices, const TableView& table) : slot_of_operand_(table.operands.size()) {
    std::vector<bool> reads(devices.size());
    for (const Instruction& instruction : table.instructions)
      for (int k = 0; k < instruction.operand_count; ++k) {
        const auto operand = static_cast<std::size_t>(instruction.first_operand + k);
        const auto slot = static_cast<std::size_t>(instruction.slot);
        const OperandInfo& info = table.operands[operand];
        slot_of_operand_[operand] = slot;
        if (info.kind == OperandKind::memory)
          reads[slot] = reads[slot] || table.values[static_cast<std::size_t>(info.value)].storage == Storage::knob;
      }
    for (std::size_t slot = 0; slot < devices.size(); ++slot)
      blocks_.push_back({devices[slot], reads[slot]
                                            ? std::make_unique<NumbersBlock<D>>(devices[slot], table.knobs.size())
                                            : std::unique_ptr<NumbersBlock<D>>{}});
  }

  /// Gives each device its numbers. throws: GpuError, CaptureError while this thread records a graph
  void write(std::span<const std::uint64_t> numbers) {
    for (const SlotBlock& slot : blocks_) {
      gpu::require_no_recording<R>("a program in several device slots", slot.device.index);
      if (!slot.block) continue;
      launch(slot.device, [&](const gpu::Queue<R>& queue) {
        slot.block->note_stream(queue.stream());
        kernel::gpu::enqueue_prologue(queue, numbers, slot.block->data(), {});
      });
    }
  }

  /// Tells the operands of a binding where they lie.
  void place(Bound& bound) {
    for (const OutsideOperand& number : bound.numbers.numbers)
      bound.numbers.operands[number.operand].data =
          blocks_[slot_of_operand_[number.operand]].block->data() + number.index;
  }

private:
  struct SlotBlock {
    D device{};
    std::unique_ptr<NumbersBlock<D>> block{};
  };
  std::vector<std::size_t> slot_of_operand_;
  std::vector<SlotBlock> blocks_{};
};

} // namespace twill::inline v0::compile::inline TWILL_ISA
