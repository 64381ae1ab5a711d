#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Block of threads in which kernel bodies for a GPU are written, in phases: `each(f)` is a phase, in which every thread
// runs `f(thread)` once. Values that a thread keeps from phase to phase are in a `Local`, threads exchange values
// through shared memory and a `barrier`, and sums over neighbouring threads use `all_reduce`. On a GPU this is
// kernel/cuda/block.cuh, where `each` is a call and a `Local` a register. `HostBlock` runs a body on the host, one
// thread after the other, so that bodies are tested there, under sanitizers too. Read next: kernel/gpu/leaves.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/primitive.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

inline constexpr int warp_threads = 32;
inline constexpr int most_threads = 1024; ///< of a block

/// A block of a grid, simulated. Phases run the threads in order, so `barrier` is empty.
class HostBlock {
public:
  HostBlock(int block, int blocks, int threads, std::byte* shared)
      : block_{block}, blocks_{blocks}, threads_{threads}, shared_{shared} {}

  [[nodiscard]] constexpr int block() const { return block_; }   ///< the number of this block in the grid
  [[nodiscard]] constexpr int blocks() const { return blocks_; } ///< of the grid
  [[nodiscard]] constexpr int threads() const { return threads_; }

  /// One value for each thread. `local[thread]` is that thread's own; no thread may touch another's. It begins
  /// uninitialised, like a register: bytes of ones, which are NaN, -1 and no truth value, where the type gives none.
  template <class T> class Local {
  public:
    Local() : bytes_{std::make_unique<std::byte[]>(sizeof(T) * most_threads)} {
      static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
      std::memset(bytes_.get(), 0xff, sizeof(T) * most_threads);
      if constexpr (!std::is_trivially_default_constructible_v<T>)
        std::uninitialized_default_construct_n(values(), most_threads);
    }
    [[nodiscard]] T& operator[](int thread) { return values()[thread]; }
    [[nodiscard]] const T& operator[](int thread) const { return values()[thread]; }

  private:
    [[nodiscard]] T* values() const { return reinterpret_cast<T*>(bytes_.get()); }
    std::unique_ptr<std::byte[]> bytes_;
  };

  /// A phase.
  template <class F> void each(F&& f) const {
    for (int thread = 0; thread < threads_; ++thread) f(thread);
  }

  /// Earlier writes to shared or global memory are visible to the block's other threads afterwards.
  void barrier() const {}

  /// The block's shared memory, as many bytes as the launch asked for. requires: a multiple of alignof(T)
  template <class T> [[nodiscard]] T* shared(std::size_t offset_bytes = 0) const {
    return reinterpret_cast<T*>(shared_ + offset_bytes);
  }

  /// Combines the values of each group of `width` neighbouring threads (a power of two up to a warp); every thread of
  /// the group gets the result. The order is that of a butterfly, on every device.
  template <Reduction Op, class T> void all_reduce(Local<T>& values, int width) const {
    for (int step = width / 2; step > 0; step /= 2)
      for (int thread = 0; thread < threads_; ++thread) {
        const int partner = thread ^ step;
        if (partner < thread || partner >= threads_) continue;
        values[thread] = values[partner] = combine<Op>(values[thread], values[partner]);
      }
  }

  /// Adds one to a counter in global memory, after everything the block wrote is visible to the device; with one result
  /// for all threads. Returns whether this block was the last of `count`; the counter is zero again then.
  [[nodiscard]] bool is_last(unsigned* counter, unsigned count) const {
    if (++*counter < count) return false;
    *counter = 0;
    return true;
  }

private:
  int block_;
  int blocks_;
  int threads_;
  std::byte* shared_;
};

}}}} // namespace twill::v0::kernel::gpu
