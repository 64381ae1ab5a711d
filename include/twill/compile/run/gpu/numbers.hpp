#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Run-time scalars of a program on GPUs: each device slot has a block of them in its device's memory, which a run
// writes first, in the order of the slot's stream; so a step can be captured as a graph and still take a new rate, seed
// or step number each time. Slots whose kernels read no number have none. Read next:
// kernel/gpu/prologue.hpp.

#include <twill/compile/run/numbers.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/scope.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/kernel/gpu/prologue.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { namespace detail {

/// The spare blocks of one device. Never destroyed.
template <gpu::Runtime R> class NumberSlabs {
public:
  struct Spare {
    std::uint64_t* numbers = nullptr;
    std::size_t count = 0;
    std::optional<typename R::Stream> stream{}; ///< of its last use
  };

  /// A block of at least `count` numbers for work on a stream. throws: GpuError
  [[nodiscard]] Spare take(int device, std::size_t count, typename R::Stream stream) {
    const std::lock_guard lock{mutex_};
    for (std::size_t i = spare_.size(); i-- > 0;) {
      if (spare_[i].count < count || (spare_[i].count > usual_count && count <= usual_count)) continue;
      if (spare_[i].stream && !(*spare_[i].stream == stream)) continue;
      std::swap(spare_[i], spare_.back());
      Spare block = std::move(spare_.back());
      spare_.pop_back();
      return block;
    }
    const bool is_usual = count <= usual_count;
    const std::size_t each = is_usual ? usual_count : count;
    const std::size_t blocks = is_usual ? blocks_of_slab : 1;
    void* memory = nullptr;
    spare_.reserve(made_ + blocks); // so that all can come back, whatever fails then
    const gpu::Using<R> scope{device};
    gpu::check<R>(R::allocate(&memory, blocks * each * sizeof(std::uint64_t)), "allocate", device);
    made_ += blocks;
    for (std::size_t i = blocks; i-- > 1;)
      spare_.push_back({static_cast<std::uint64_t*>(memory) + i * each, each, std::nullopt});
    return {static_cast<std::uint64_t*>(memory), each, std::nullopt};
  }

  void give_back(Spare block) noexcept {
    const std::lock_guard lock{mutex_};
    spare_.push_back(std::move(block));
  }

  [[nodiscard]] static NumberSlabs& of(int device) {
    static auto* const all = new std::array<NumberSlabs, max_devices>{};
    return (*all)[static_cast<std::size_t>(device)];
  }

private:
  static constexpr std::size_t usual_count = 64;
  static constexpr std::size_t blocks_of_slab = 128;

  std::mutex mutex_{};
  std::vector<Spare> spare_{}; ///< with room for all blocks
  std::size_t made_ = 0;
};

}}}} // namespace twill::v0::compile::detail

namespace twill { inline namespace v0 { namespace compile {

/// Memory for some numbers of eight bytes.
template <gpu::GpuDevice D> class NumbersBlock {
  using R = typename D::Runtime;
  using Slabs = detail::NumberSlabs<R>;

public:
  /// throws: GpuError when there is no memory for it
  NumbersBlock(const D& device, std::size_t count) : device_{device} {
    if (count == 0) return;
    const auto stream = current_queue(device).stream();
    block_ = Slabs::of(device.index).take(device.index, count, stream);
    block_.stream = stream;
  }
  NumbersBlock(const NumbersBlock&) = delete;
  NumbersBlock& operator=(const NumbersBlock&) = delete;
  ~NumbersBlock() {
    if (block_.numbers != nullptr) Slabs::of(device_.index).give_back(std::move(block_));
  }

  /// Notes the stream on which the numbers are used from now on.
  void note_stream(typename R::Stream stream) { block_.stream = stream; }

  [[nodiscard]] std::uint64_t* data() const { return block_.numbers; }

private:
  D device_;
  typename Slabs::Spare block_{};
};

}}} // namespace twill::v0::compile

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
        const OperandBinding& info = table.operands[operand];
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
