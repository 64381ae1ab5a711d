#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reference-counted handle to a block of a device's pool; the count is in the block's record, so sharing costs no
// allocation. The last owner returns the block to the pool, where work queued earlier on the block's stream may still
// use it. Any thread may copy and drop handles. Read next: tensor/tensor.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/memory.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/memory/registry.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace memory {

/// Counted ownership of bytes of a device's pool: the last of the handles that share them returns them.
template <class D> class Buffer {
public:
  /// Owns nothing.
  Buffer() = default;

  /// Uninitialised memory on a device; no block at all for zero bytes. throws: OutOfMemoryError
  Buffer(const D& device, std::size_t bytes);

  Buffer(const Buffer& other) noexcept;
  Buffer(Buffer&& other) noexcept : block_{std::exchange(other.block_, nullptr)}, device_{other.device_} {}
  /// Releases its own bytes, then shares the other's.
  Buffer& operator=(const Buffer& other) noexcept;
  /// Releases its own bytes, then takes the other's.
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer() { reset(); }

  void swap(Buffer& other) noexcept;

  /// Drops this handle's share; the memory returns to the pool if it was the last.
  void reset() noexcept;

  /// For a keeper of memory: a handle to one of its blocks, as its only owner.
  [[nodiscard]] static Buffer of_block(const D& device, Block* block) noexcept;

  /// The first byte, or null when there is none. On devices without memory it must not be dereferenced.
  [[nodiscard]] void* data() const noexcept { return block_ != nullptr ? block_->address : nullptr; }

  /// The requested size.
  [[nodiscard]] std::size_t bytes() const noexcept { return block_ != nullptr ? block_->requested : 0; }

  /// The device that has the memory.
  [[nodiscard]] const D& device() const noexcept { return device_; }

  /// The number of handles that share the block; 0 without one.
  [[nodiscard]] std::uint32_t use_count() const noexcept;

  /// Whether there are any bytes.
  [[nodiscard]] explicit operator bool() const noexcept { return block_ != nullptr; }

  /// True when both handles share one block.
  [[nodiscard]] bool shares_with(const Buffer& other) const noexcept;

  /// True for memory that belongs to another owner: a mapped file, an array of another library.
  [[nodiscard]] bool is_lent() const noexcept { return block_ != nullptr && block_->lent; }

  /// Records that work on another stream of the device uses the block: the block is not reused, and lent memory is not
  /// given back, before that work is done.
  template <class Stream> void record_stream(Stream stream) requires PoolFor<D>::several_streams {
    if (block_ != nullptr) pool(device_).record_stream(*block_, stream);
  }

private:
  Block* block_ = nullptr;
  D device_{};
};

template <class D> Buffer<D>::Buffer(const D& device, std::size_t bytes) : device_{device} {
  if (bytes > 0) block_ = pool(device).allocate(bytes);
}

template <class D> Buffer<D>::Buffer(const Buffer& other) noexcept : block_{other.block_}, device_{other.device_} {
  if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
}

template <class D> Buffer<D>& Buffer<D>::operator=(const Buffer& other) noexcept {
  Buffer(other).swap(*this);
  return *this;
}

template <class D> Buffer<D>& Buffer<D>::operator=(Buffer&& other) noexcept {
  Buffer(std::move(other)).swap(*this);
  return *this;
}

template <class D> void Buffer<D>::swap(Buffer& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(device_, other.device_);
}

template <class D> void Buffer<D>::reset() noexcept {
  Block* block = std::exchange(block_, nullptr);
  if (block == nullptr) return;
  // a count of one needs no atomic decrement: no other thread can copy from this handle meanwhile
  if (block->owners.load(std::memory_order_acquire) == 1 ||
      block->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    if (block->keeper != nullptr) [[unlikely]]
      block->keeper->take_back(block);
    else
      pool(device_).release(block);
  }
}

template <class D> Buffer<D> Buffer<D>::of_block(const D& device, Block* block) noexcept {
  Buffer buffer;
  block->owners.store(1, std::memory_order_relaxed);
  buffer.block_ = block;
  buffer.device_ = device;
  return buffer;
}

template <class D> std::uint32_t Buffer<D>::use_count() const noexcept {
  return block_ != nullptr ? block_->owners.load(std::memory_order_relaxed) : 0;
}

template <class D> bool Buffer<D>::shares_with(const Buffer& other) const noexcept {
  return block_ != nullptr && block_ == other.block_;
}

}}} // namespace twill::v0::memory

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace memory {
TWILL_INSTANCE template class Pool<Cpu::Upstream, DeviceStream<Cpu>>;
TWILL_INSTANCE template PoolFor<Cpu>& detail::make_pool(const Cpu& device);
TWILL_INSTANCE template class Buffer<Cpu>;
}}} // namespace twill::v0::memory
#endif
