#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Block of threads in which kernel bodies for a GPU are written, in phases: `each(f)` is a phase, in which every thread
// runs `f(thread)` once. Values that a thread keeps from phase to phase are in a `Local`, threads exchange values
// through shared memory and a `barrier`, and sums over neighbouring threads use `all_reduce`. Tests run bodies on the
// host, under sanitizers too. Read next: kernel/cuda/block.cuh, tests/support/host_block.hpp, kernel/gpu/leaves.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/primitive.hpp>

#include <concepts>
#include <cstddef>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

inline constexpr int warp_threads = 32;
inline constexpr int most_threads = 1024; ///< of a block

/// A block of a grid, as a body receives it.
/// - `each(f)`: a phase. `Local<T>`: one value for each thread, uninitialised; no thread may touch another's.
/// - `barrier()`: earlier writes to shared or global memory are visible to the block's other threads afterwards.
/// - `shared<T>(offset_bytes)`: shared memory, as many bytes as the launch asked for. requires: multiples of alignof(T)
/// - `all_reduce<Op>(values, width)`: combines the values of each group of `width` neighbouring threads, a power of two
///   up to a warp, in the order of a butterfly on every device; each thread of the group gets the result.
/// - `is_last(counter, count)`: adds one to a counter in global memory, after all that the block wrote is visible to
///   the device. All threads learn whether this block was the last of `count`; the counter is zero again then.
template <class B>
concept Block = requires(const B& block, typename B::template Local<float>& values, unsigned* counter) {
  { block.block() } -> std::same_as<int>; // its number in the grid
  { block.blocks() } -> std::same_as<int>;
  { block.threads() } -> std::same_as<int>;
  { values[0] } -> std::same_as<float&>;
  block.each([](int) {});
  block.barrier();
  { block.template shared<float>(std::size_t{0}) } -> std::same_as<float*>;
  block.template all_reduce<Reduction::sum>(values, warp_threads);
  { block.is_last(counter, 1U) } -> std::same_as<bool>;
};

}}}} // namespace twill::v0::kernel::gpu
