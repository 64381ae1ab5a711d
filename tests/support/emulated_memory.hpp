#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The memory of an emulated GPU: addresses from one range of the process, closed but while work of the device runs. Fresh
// memory is full of garbage. Garbage follows each allocation, too, up to the end of its last page, so that whoever reads there
// gets wrong numbers, and whoever writes there is found out. Read next: emulated_machine.hpp.

#include <cstddef>
#include <cstring>
#include <map>

#include <sys/mman.h>

namespace twill { inline namespace v0 { namespace emulation {

/// The memory of one device.
class DeviceMemory {
public:
  static constexpr std::size_t capacity = std::size_t{8} << 30;

  [[nodiscard]] void* allocate(std::size_t wanted) {
    const std::size_t bytes = pages(wanted);
    if (bytes > limit - used_ || bytes > capacity - used_) return nullptr;
    if (base_ == nullptr) {
      void* const range = mmap(nullptr, capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (range == MAP_FAILED) return nullptr;
      base_ = static_cast<std::byte*>(range);
    }
    std::size_t offset = 0; // first fit
    for (const auto& [begin, size] : blocks_) {
      if (begin - offset >= bytes) break;
      offset = begin + pages(size);
    }
    if (offset + bytes > capacity) return nullptr;
    blocks_.emplace(offset, wanted);
    used_ += bytes;
    if (offset + bytes > top_) top_ = offset + bytes;
    std::byte* const block = base_ + offset;
    const std::size_t garbage = bytes < most_garbage ? bytes : most_garbage;
    mprotect(block, bytes, PROT_READ | PROT_WRITE);
    std::memset(block, garbage_byte, garbage);
    std::memset(block + wanted, garbage_byte, bytes - wanted);
    if (!open_) mprotect(block, bytes, PROT_NONE);
    return block;
  }

  [[nodiscard]] bool release(void* memory) {
    const auto found = blocks_.find(static_cast<std::size_t>(static_cast<std::byte*>(memory) - base_));
    if (base_ == nullptr || found == blocks_.end()) return false;
    madvise(memory, pages(found->second), MADV_DONTNEED);
    used_ -= pages(found->second);
    blocks_.erase(found);
    return true;
  }

  void open(bool wanted) {
    if (open_ == wanted) return;
    open_ = wanted;
    if (top_ > 0) mprotect(base_, top_, wanted ? PROT_READ | PROT_WRITE : PROT_NONE);
  }

  [[nodiscard]] bool is_inside(const void* address) const {
    const auto* const byte = static_cast<const std::byte*>(address);
    return base_ != nullptr && byte >= base_ && byte < base_ + capacity;
  }

  /// Whether a range lies within one allocation.
  [[nodiscard]] bool is_allocated(const void* address, std::size_t bytes) const {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - base_);
    auto after = blocks_.upper_bound(offset);
    if (after == blocks_.begin()) return false;
    --after;
    return offset + bytes <= after->first + after->second;
  }

  /// Whether nothing was written between the ends of allocations and those of their pages. requires: open(true)
  [[nodiscard]] bool ends_are_intact() const {
    for (const auto& [begin, size] : blocks_)
      for (const std::byte* byte = base_ + begin + size; byte != base_ + begin + pages(size); ++byte)
        if (*byte != std::byte{garbage_byte}) return false;
    return true;
  }

  [[nodiscard]] std::size_t used() const { return used_; }
  [[nodiscard]] std::size_t live_blocks() const { return blocks_.size(); }
  std::size_t limit = capacity; ///< what a test lets the device have

private:
  static constexpr std::size_t most_garbage = std::size_t{4} << 20;
  static constexpr unsigned char garbage_byte = 0xff;
  [[nodiscard]] static constexpr std::size_t pages(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    return bytes == 0 ? page : (bytes + page - 1) / page * page;
  }
  std::byte* base_ = nullptr;
  std::map<std::size_t, std::size_t> blocks_{};
  std::size_t used_ = 0;
  std::size_t top_ = 0;
  bool open_ = false;
};

}}} // namespace twill::v0::emulation
