#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reductions over the threads that own a row: within a warp by exchanging registers, between a block's warps through
// one slot each in shared memory and a single barrier. The order is a tree that depends on the number of threads alone,
// so a result is equal in every run, and rounds no worse than a pairwise sum. Read next: kernel/gpu/rows.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/gpu/block.hpp>
#include <twill/kernel/primitive.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The number of warps that share a row, as a power of two.
[[nodiscard]] constexpr int warps_of(int threads) {
  int padded = 1;
  while (padded * warp_threads < threads) padded *= 2;
  return padded;
}

/// One reduction of a block. `slots`: 32 of them in shared memory, not in use by another one until the next barrier.
template <Reduction Op, class T> struct BlockReduction {
  /// Gives each thread of the warp, or of a part of it, the sum of all.
  template <class Block>
  static TWILL_INLINE constexpr void within_warps(const Block& block, typename Block::template Local<T>& values,
                                                  int width) {
    block.template all_reduce<Op>(values, width < warp_threads ? width : warp_threads);
  }

  /// Stores each warp's result, for `between_warps` after a barrier.
  template <class Block>
  static TWILL_INLINE constexpr void publish(const Block& block, const typename Block::template Local<T>& values,
                                             std::uint64_t* slots) {
    block.each([&](int thread) {
      if (thread % warp_threads == 0) *reinterpret_cast<T*>(slots + thread / warp_threads) = values[thread];
    });
  }

  /// Gives every thread of the block the sum of all.
  template <class Block>
  static TWILL_INLINE constexpr void between_warps(const Block& block, typename Block::template Local<T>& values,
                                                   const std::uint64_t* slots) {
    const int warps = block.threads() / warp_threads;
    const int padded = warps_of(block.threads());
    block.each([&](int thread) {
      const int mine = thread & (padded - 1);
      values[thread] = mine < warps ? *reinterpret_cast<const T*>(slots + mine) : identity<Op, T>();
    });
    block.template all_reduce<Op>(values, padded);
  }
};

}}}} // namespace twill::v0::kernel::gpu
