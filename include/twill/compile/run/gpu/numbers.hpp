#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Run-time scalars of a program on GPUs: each device slot has a block of them in its device's memory, which a run
// writes first, in the order of the slot's stream; so a step can be captured as a graph and still take a new rate, seed
// or step number each time. Slots whose kernels read no number have none. Read next: compile/run/gpu/numbers_block.hpp,
// kernel/gpu/prologue.hpp.

#include <twill/compile/run/gpu/numbers_block.hpp>
#include <twill/compile/run/numbers.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/scope.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/kernel/gpu/prologue.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

template <ComputeDevice D>
requires gpu::GpuDevice<D>
class RunNumbers<D> {
  using R = typename D::Runtime;
  using Block = NumbersBlock<D>;
  using Copies = std::span<const kernel::gpu::CopiedInput>;

public:
  /// throws: GpuError when there is no memory for them
  RunNumbers(std::span<const D> devices, const TableView& table) : slot_of_operand_(table.operands.size()) {
    std::vector<bool> reads(devices.size());
    for (const Instruction& instruction : table.instructions)
      for (int k = 0; k < instruction.operand_count; ++k) {
        const auto operand = static_cast<std::size_t>(instruction.first_operand + k);
        const auto slot = devices.size() == 1 ? std::size_t{0} : static_cast<std::size_t>(instruction.slot);
        const OperandInfo& info = table.operands[operand];
        slot_of_operand_[operand] = slot;
        if (info.kind == OperandKind::memory)
          reads[slot] =
              reads[slot] || table.values[static_cast<std::size_t>(info.value)].storage == Storage::run_scalar;
      }
    for (std::size_t slot = 0; slot < devices.size(); ++slot)
      blocks_.push_back({devices[slot], reads[slot] ? std::make_unique<Block>(devices[slot], table.run_scalars.size())
                                                    : std::unique_ptr<Block>{}});
  }

  /// Gives each device its numbers, and a single one also the inputs of a captured graph, copied to their places.
  /// throws: GpuError; CaptureError in several slots while this thread records a graph
  void write(std::span<const std::uint64_t> numbers, Copies copies = {}) {
    for (const SlotBlock& slot : blocks_) {
      if (blocks_.size() > 1) gpu::require_no_recording<R>("a program in several device slots", slot.device.index);
      if (slot.block == nullptr && copies.empty()) continue;
      launch(slot.device, [&](const gpu::Queue<R>& queue) {
        if (slot.block != nullptr) slot.block->note_stream(queue.stream());
        kernel::gpu::enqueue_prologue(queue, slot.block == nullptr ? numbers.first(0) : numbers,
                                      slot.block == nullptr ? nullptr : slot.block->data(), copies);
      });
    }
  }

  /// Sets the addresses of the operands of a binding, which are those of every run.
  void place(Binding& binding) {
    for (const OutsideOperand& number : binding.numbers)
      binding.operands[number.operand].data = blocks_[slot_of_operand_[number.operand]].block->data() + number.index;
  }

private:
  struct SlotBlock {
    D device{};
    std::unique_ptr<Block> block{};
  };
  std::vector<std::size_t> slot_of_operand_;
  std::vector<SlotBlock> blocks_{};
};

}}}} // namespace twill::v0::compile::TWILL_ISA
