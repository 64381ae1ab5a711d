#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Working memory of kernels: one buffer for each thread, which grows to the largest row it has seen and stays, so that a
// steady step asks no allocator. A kernel that finds none stops in the midst of its step, so who changes weights rehearses
// first: kernels then take what they will need and do nothing else. Read next: kernel/rows.hpp, compile/rehearse.hpp.

#include <twill/core/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace twill::inline v0::kernel {

/// A thread's working memory, aligned to a cache line; a second call of the same slot may move it.
class Scratch {
public:
  static constexpr std::size_t alignment = 64;

  template <int Slot = 0> [[nodiscard]] static std::byte* of_thread(std::size_t bytes) {
    thread_local Scratch scratch;
    if (bytes > scratch.capacity_bytes_) scratch.grow(bytes + bytes / 2);
    return scratch.memory_.get();
  }

  /// A number that changes when the calling thread may have less than before: it is another thread, or some thread has lost
  /// its buffer for want of a larger one.
  [[nodiscard]] static std::uint64_t state_of_thread() {
    static constinit thread_local std::uint32_t number = 0;
    if (number == 0) [[unlikely]]
      number = threads_.fetch_add(1, std::memory_order_relaxed) + 1;
    return std::uint64_t{number} << 32 | losses_.load(std::memory_order_relaxed);
  }

private:
  /// throws: std::bad_alloc
  TWILL_COLD void grow(std::size_t capacity) {
    try {
      memory_.reset(taken(capacity));
    } catch (const std::bad_alloc&) {
      memory_.reset();
      capacity_bytes_ = 0;
      losses_.fetch_add(1, std::memory_order_relaxed);
#ifdef __GLIBC__
      ::malloc_trim(0); // what the C library keeps unused goes back to the system before a request is given up
#endif
      memory_.reset(taken(capacity));
    }
    capacity_bytes_ = capacity;
  }
  [[nodiscard]] static std::byte* taken(std::size_t bytes) {
    return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment}));
  }

  struct Release {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{alignment}); }
  };
  std::unique_ptr<std::byte, Release> memory_;
  std::size_t capacity_bytes_ = 0;

  TWILL_EXPORT static inline constinit std::atomic<std::uint32_t> threads_{0};
  TWILL_EXPORT static inline constinit std::atomic<std::uint32_t> losses_{0};
};

/// While one lives, programs that reduce, started by this thread, only take working memory, in each thread of their team.
class Rehearsal {
public:
  Rehearsal() : outer_{is_under_way_} { is_under_way_ = true; }
  ~Rehearsal() { is_under_way_ = outer_; }
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  [[nodiscard]] static bool is_under_way() { return is_under_way_; }

private:
  TWILL_EXPORT static inline constinit thread_local bool is_under_way_ = false;
  bool outer_;
};

} // namespace twill::inline v0::kernel
