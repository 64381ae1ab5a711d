#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Where the pool of a GPU gets its segments: from the driver's plain allocator. Read next: memory/pool.hpp.

#include <twill/device/gpu/gpu.hpp>

#include <concepts>
#include <cstddef>
#include <new>

namespace twill::inline v0::gpu {

template <Runtime R> class SegmentUpstream {
public:
  template <class D>
  requires std::same_as<typename D::Runtime, R>
  explicit SegmentUpstream(const D& device) : device_{device.index} {}

  /// throws: std::bad_alloc when the device has no room, GpuError for any other failure
  [[nodiscard]] void* allocate(std::size_t bytes) {
    const Using<R> scope{device_};
    void* memory = nullptr;
    const Status status = R::allocate(&memory, bytes);
    if (R::is_out_of_memory(status)) throw std::bad_alloc{};
    check<R>(status, "allocate", device_);
    return memory;
  }

  /// Waits for the device, as the driver does. A device that failed loses its memory anyway.
  void release(void* memory, std::size_t) noexcept {
    if (detail::process_is_ending) return;
    try {
      const Using<R> scope{device_};
      static_cast<void>(R::release(memory));
    } catch (...) { // no context, no memory
    }
  }

  [[nodiscard]] std::size_t total_bytes() const { return info().total; }
  [[nodiscard]] std::size_t free_bytes() const { return info().free; }

private:
  struct Info {
    std::size_t free = 0;
    std::size_t total = 0;
  };
  [[nodiscard]] Info info() const {
    const Using<R> scope{device_};
    Info found{};
    check<R>(R::memory_info(&found.free, &found.total), "memory_info", device_);
    return found;
  }

  int device_;
};

} // namespace twill::inline v0::gpu
