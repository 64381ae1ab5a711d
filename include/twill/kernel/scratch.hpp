#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Working memory of kernels: one buffer for each thread, which grows to the largest row it has seen and stays, so that a
// steady step asks no allocator. Read next: kernel/rows.hpp.

#include <cstddef>
#include <memory>
#include <new>

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
      scratch.memory_.reset(static_cast<std::byte*>(::operator new (capacity, std::align_val_t{alignment})));
      scratch.capacity_bytes_ = capacity;
    }
    return scratch.memory_.get();
  }

private:
  struct Release {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{alignment}); }
  };
  std::unique_ptr<std::byte, Release> memory_;
  std::size_t capacity_bytes_ = 0;
};

} // namespace twill::inline v0::kernel
