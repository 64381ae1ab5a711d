#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Joined launches: several launches of one elementwise program as one kernel, for a step that updates all of its
// weights. Each block belongs to one launch and works like a block of it alone, so the bits are equal. Launches beyond
// one kernel's parameters take several kernels. Read next: kernel/gpu/elementwise.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/elementwise.hpp>
#include <twill/kernel/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The kernel of several launches of an elementwise program.
template <class P> struct JoinedElementwise {
  using One = Elementwise<P>;
  static constexpr int most_threads = One::most_threads;
  static constexpr int most_members = std::clamp(8000 / static_cast<int>(sizeof(typename One::Own)), 2, 32);

  struct Own {
    int count = 0;
    std::uint32_t first_block[most_members]{};
    typename One::Own members[most_members]{};
  };

  template <class Block> constexpr void operator()(const Block& block, const Own& parameters) const {
    const auto number = static_cast<std::uint32_t>(block.block());
    int member = 0;
    while (member + 1 < parameters.count && parameters.first_block[member + 1] <= number) ++member;
    One::run_block(block, parameters.members[member], number - parameters.first_block[member]);
  }
};

/// Collects launches, and starts a kernel whenever no more fit into one.
template <class P, class Queue> class JoinedLaunches {
  using Body = JoinedElementwise<P>;
  using One = typename Body::One;

public:
  explicit JoinedLaunches(const Queue& queue) : queue_{queue} {}

  /// throws: what `enqueue` throws
  void add(const Grid& grid, const Operand* operands, std::int64_t most) {
    if (grid.elements() == 0) return;
    OperandCopies<P> copies{operands};
    const auto append = [](const void* context, const Grid&) {
      static_cast<JoinedLaunches*>(const_cast<void*>(context))->append();
    };
    launch_pieces(grid, {copies.bound(), 0, One::L::lanes, &next_.walk, next_.operands, {append, this}}, most);
  }

  /// Starts the collected launches.
  void start() {
    if (parameters_.count == 0) return;
    twill::gpu::LaunchShape shape = elementwise_shape(chunks_, One::chunks, queue_.properties().processors);
    const std::uint32_t chunks_of_block = shape.threads * static_cast<std::uint32_t>(One::chunks);
    shape.blocks = 0;
    for (int i = 0; i < parameters_.count; ++i) {
      parameters_.first_block[i] = shape.blocks;
      shape.blocks += (parameters_.members[i].walk.chunks + chunks_of_block - 1) / chunks_of_block;
    }
    enqueue(queue_, Body{}, shape, parameters_);
    parameters_.count = 0;
    chunks_ = 0;
  }

private:
  /// Takes the planned launch.
  void append() {
    constexpr std::uint32_t chunks_of_a_launch = 1U << 31;
    if (parameters_.count == Body::most_members || next_.walk.chunks > chunks_of_a_launch - chunks_) start();
    parameters_.members[parameters_.count] = next_;
    ++parameters_.count;
    chunks_ += next_.walk.chunks;
  }

  const Queue& queue_;
  typename Body::Own parameters_{};
  typename One::Own next_{};
  std::uint32_t chunks_ = 0; ///< of all collected launches
};

}}}} // namespace twill::v0::kernel::gpu

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Runs an elementwise program at every index of several grids, none of which reads another's results.
/// throws: GpuError    cost: one kernel for a dozen grids
template <class... Lines, twill::gpu::Runtime R>
void run_joined(Program<Lines...>, const twill::gpu::Queue<R>& queue, const JoinedLaunch* launches, std::size_t count,
                std::int64_t most = gpu::most_elements) {
  gpu::JoinedLaunches<Program<Lines...>, twill::gpu::Queue<R>> joined{queue};
  for (std::size_t i = 0; i < count; ++i) joined.add(*launches[i].grid, launches[i].operands, most);
  joined.start();
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
