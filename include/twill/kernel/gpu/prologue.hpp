#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Prologue of a planned step on a GPU: one small kernel writes the run-time scalars of this step into their block, and
// copies its inputs to the addresses of a captured graph. The scalars are the kernel's parameters, which a launch
// copies, so no host memory has to outlive the call and no thread waits. Read next: compile/run/gpu/capture.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/block.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// Bytes to be copied within a device.
struct CopiedInput {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t bytes = 0;
};

struct PrologueParameters {
  static constexpr int most_numbers = 64;
  static constexpr int most_inputs = 8;

  std::uint64_t numbers[most_numbers]{};
  CopiedInput inputs[most_inputs]{};
  std::uint64_t* block = nullptr; ///< where the numbers go
  int number_count = 0;
  int input_count = 0;
};

inline namespace TWILL_ISA {

struct PrologueBody {
  static constexpr int most_threads = 256;

  template <class Block> constexpr void operator()(const Block& block, const PrologueParameters& p) const {
    block.each([&](int thread) {
      const std::int64_t first = std::int64_t{block.block()} * block.threads() + thread;
      const std::int64_t step = std::int64_t{block.blocks()} * block.threads();
      for (std::int64_t i = first; i < p.number_count; i += step) p.block[i] = p.numbers[i];
      for (int i = 0; i < p.input_count; ++i) {
        const CopiedInput& input = p.inputs[i];
        const auto either = reinterpret_cast<std::uintptr_t>(input.from) | reinterpret_cast<std::uintptr_t>(input.to);
        if (either % sizeof(Quad) == 0)
          copy<Quad>(input, first, step);
        else if (either % sizeof(Word) == 0)
          copy<Word>(input, first, step);
        else
          copy<Byte>(input, first, step);
      }
    });
  }

private:
  struct [[gnu::may_alias]] alignas(16) Quad {
    std::uint64_t halves[2];
  };
  struct [[gnu::may_alias]] Word {
    std::uint32_t value;
  };
  struct [[gnu::may_alias]] Byte {
    unsigned char value;
  };

  /// Copies whole units first, four at a time for each thread, then the remaining bytes.
  template <class Unit> static constexpr void copy(const CopiedInput& input, std::int64_t first, std::int64_t step) {
    const std::int64_t units = input.bytes / static_cast<std::int64_t>(sizeof(Unit));
    const auto* const from = static_cast<const Unit*>(input.from);
    auto* const to = static_cast<Unit*>(input.to);
    std::int64_t i = first;
    for (; i + 3 * step < units; i += 4 * step) {
      const Unit a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
      to[i] = a;
      to[i + step] = b;
      to[i + 2 * step] = c;
      to[i + 3 * step] = d;
    }
    for (; i < units; i += step) to[i] = from[i];
    const std::int64_t done = units * static_cast<std::int64_t>(sizeof(Unit));
    for (std::int64_t byte = done + first; byte < input.bytes; byte += step)
      static_cast<Byte*>(input.to)[byte] = static_cast<const Byte*>(input.from)[byte];
  }
};

/// Gives the queue the scalars and the copies of a step; more than fit one launch take several.
/// throws: GpuError    cost: one launch, none when there is nothing to do
template <class Queue>
void enqueue_prologue(const Queue& queue, std::span<const std::uint64_t> numbers, std::uint64_t* block,
                      std::span<const CopiedInput> inputs) {
  while (!numbers.empty() || !inputs.empty()) {
    PrologueParameters parameters{};
    parameters.block = block;
    parameters.number_count = static_cast<int>(std::min<std::size_t>(numbers.size(), PrologueParameters::most_numbers));
    parameters.input_count = static_cast<int>(std::min<std::size_t>(inputs.size(), PrologueParameters::most_inputs));
    std::int64_t bytes = 0;
    for (int i = 0; i < parameters.number_count; ++i) parameters.numbers[i] = numbers[static_cast<std::size_t>(i)];
    for (int i = 0; i < parameters.input_count; ++i) {
      parameters.inputs[i] = inputs[static_cast<std::size_t>(i)];
      bytes += parameters.inputs[i].bytes;
    }
    constexpr std::int64_t bytes_of_block = std::int64_t{PrologueBody::most_threads} * 4 * 16;
    constexpr std::int64_t blocks_of_processor = 8; // all that can be resident
    const std::int64_t most = blocks_of_processor * queue.properties().processors;
    const std::int64_t blocks = std::clamp<std::int64_t>((bytes + bytes_of_block - 1) / bytes_of_block, 1, most);
    enqueue(queue, PrologueBody{},
            twill::gpu::LaunchShape{static_cast<unsigned>(blocks), PrologueBody::most_threads, 0}, parameters);
    numbers = numbers.subspan(static_cast<std::size_t>(parameters.number_count));
    inputs = inputs.subspan(static_cast<std::size_t>(parameters.input_count));
    block += parameters.number_count;
  }
}

} // namespace TWILL_ISA

}}}} // namespace twill::v0::kernel::gpu
