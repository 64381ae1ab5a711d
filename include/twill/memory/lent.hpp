#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Lent memory: memory of another owner as a buffer, for example a mapped file or an array of another library. The
// buffer keeps the owner alive until its last handle is gone and the streams recorded as users have done their work;
// while a thread records a graph it cannot wait for them, so a dropped buffer stays until the recording ends. The pool
// does not count it. Read next: memory/buffer.hpp, memory/kept_back.hpp.

#include <twill/memory/buffer.hpp>
#include <twill/memory/kept_back.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace twill { inline namespace v0 { namespace memory {

namespace detail {
/// A block outside all pools, with the owner of its bytes.
template <class D> class LentBlock final : BlockKeeper {
public:
  LentBlock(const D& device, void* address, std::size_t bytes, std::shared_ptr<const void> owner)
      : device_{device}, owner_{std::move(owner)} {
    block_.address = static_cast<std::byte*>(address);
    block_.bytes = block_.rounded = block_.requested = bytes;
    block_.keeper = this;
    block_.lent = true;
  }
  [[nodiscard]] Block* block() { return &block_; }

private:
  void take_back(Block* block) noexcept override {
    if constexpr (PoolFor<D>::several_streams) {
      using Streams = typename PoolFor<D>::Streams;
      if constexpr (requires { Streams::may_wait(); })
        if (!Streams::may_wait()) return keep_back<Streams>(*block);
      if (block->stream_use != nullptr) pool(device_).wait_for_streams(*block); // a pool that has recorded them
    }
    delete this;
  }

  Block block_{};
  D device_;
  std::shared_ptr<const void> owner_;
};
} // namespace detail

/// A buffer of bytes that `owner` keeps alive. Write to them only if their owner allows it.
template <class D>
[[nodiscard]] Buffer<D> lend(const D& device, void* address, std::size_t bytes, std::shared_ptr<const void> owner) {
  if (bytes == 0) return Buffer<D>(device, 0);
  return Buffer<D>::of_block(device, (new detail::LentBlock<D>{device, address, bytes, std::move(owner)})->block());
}

}}} // namespace twill::v0::memory
