#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Working memory of kernels: one buffer for each thread, which grows to the largest row it has seen and stays, so that a
// steady step asks no allocator. Read next: kernel/rows.hpp.

#include <twill/core/config.hpp>

#include <cstddef>
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
    if (bytes > scratch.capacity_bytes_) {
      scratch.memory_.reset();
      scratch.capacity_bytes_ = 0;
      const std::size_t capacity = bytes + bytes / 2;
      scratch.memory_.reset(taken(capacity));
      scratch.capacity_bytes_ = capacity;
    }
    return scratch.memory_.get();
  }

private:
  /// A kernel that stops half-way leaves half of its step behind, so what the C library keeps unused goes back to the system
  /// before a request is given up. throws: std::bad_alloc
  [[nodiscard]] TWILL_COLD static std::byte* taken(std::size_t bytes) {
    try {
      return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment}));
    } catch (const std::bad_alloc&) {
#ifdef __GLIBC__
      ::malloc_trim(0);
#endif
      return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment}));
    }
  }

  struct Release {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{alignment}); }
  };
  std::unique_ptr<std::byte, Release> memory_;
  std::size_t capacity_bytes_ = 0;
};

} // namespace twill::inline v0::kernel
