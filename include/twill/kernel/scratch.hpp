#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Working memory of kernels: one buffer for each thread, which grows to the largest row it has seen and stays, so that
// a steady step asks no allocator. Buffers that one thread holds at the same time have slots of their own. A kernel
// that finds no memory stops half-way through its step, so a kernel that takes memory has a `reserve` beside its `run`,
// which code that changes weights calls first. Read next: kernel/rows.hpp, compile/run/reserve.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/recent_plans.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace twill { inline namespace v0 { namespace kernel {

/// The use of a thread's working memory. An outer kernel and one that it calls have different slots.
struct ScratchSlot {
  static constexpr int rows = 0;    ///< of a kernel that calls no other
  static constexpr int parts = 1;   ///< sums of each thread, before they are added
  static constexpr int widened = 2; ///< 16-bit numbers as float
  static constexpr int packed = 3;  ///< matrices in an order that no library reads
};

/// A thread's working memory, aligned to a cache line; a second call of the same slot may move it.
class Scratch {
public:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t most_spare_bytes = std::size_t{4} << 20; ///< taken beyond the request

  template <int Slot = ScratchSlot::rows> [[nodiscard]] static std::byte* of_thread(std::size_t bytes) {
    Scratch& scratch = in<Slot>();
    if (bytes > scratch.capacity_bytes_) scratch.grow(bytes + std::min(bytes / 2, most_spare_bytes));
    return scratch.memory_.get();
  }
  /// Working memory for a number of elements.
  template <class T, int Slot = ScratchSlot::rows> [[nodiscard]] static T* of_thread(std::int64_t count) {
    return reinterpret_cast<T*>(of_thread<Slot>(static_cast<std::size_t>(count) * sizeof(T)));
  }

  /// Gives the calling thread exactly this much, so that the next call for it cannot fail.
  template <int Slot = ScratchSlot::rows> static void reserve(std::size_t bytes) {
    if (Scratch& scratch = in<Slot>(); bytes > scratch.capacity_bytes_) scratch.grow(bytes);
  }
  template <class T, int Slot = ScratchSlot::rows> static void reserve(std::int64_t count) {
    reserve<Slot>(static_cast<std::size_t>(count) * sizeof(T));
  }

  /// How many bytes the calling thread has in a slot.
  template <int Slot = ScratchSlot::rows> [[nodiscard]] static std::size_t capacity_of_thread() {
    return in<Slot>().capacity_bytes_;
  }

  /// A number that changes when the calling thread may have less than before: it is another thread, or some thread has
  /// lost its buffer because there was no larger one, or a library's plan to another.
  [[nodiscard]] static std::uint64_t state_of_thread() {
    static constinit thread_local std::uint32_t number = 0;
    if (number == 0) [[unlikely]]
      number = threads_.fetch_add(1, std::memory_order_relaxed) + 1;
    return std::uint64_t{number} << 32 | losses();
  }
  /// The state of threads that stay the same, such as those of devices.
  [[nodiscard]] static std::uint64_t state_of_workers();

private:
  [[nodiscard]] static std::uint32_t losses();

  template <int Slot> [[nodiscard]] static Scratch& in() {
    thread_local Scratch scratch;
    return scratch;
  }

  /// throws: std::bad_alloc
  void grow(std::size_t capacity);
  [[nodiscard]] static std::byte* taken(std::size_t bytes);

  struct Release {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{alignment}); }
  };
  std::unique_ptr<std::byte, Release> memory_;
  std::size_t capacity_bytes_ = 0;

  TWILL_EXPORT static inline constinit std::atomic<std::uint32_t> threads_{0};
  TWILL_EXPORT static inline constinit std::atomic<std::uint32_t> losses_{0};
};

}}} // namespace twill::v0::kernel

#if TWILL_HEADER_ONLY
#include <twill/kernel/scratch.ipp>
#endif
