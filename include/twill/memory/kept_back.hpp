#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Blocks released while their thread records a graph. Work of several streams may be using them; it can neither be
// waited for during a recording nor be marked by an event, which might become a part of the graph. So they stay
// reserved until the recording ends, and are released then, on the same thread. Read next: memory/gpu/capture.hpp.

#include <twill/core/config.hpp>
#include <twill/memory/block.hpp>

#include <utility>

namespace twill { inline namespace v0 { namespace memory {

namespace detail {
/// The kept blocks of this thread in the pools of one stream policy, linked by `next_free`.
template <class Streams> TWILL_EXPORT inline constinit thread_local Block* kept_back = nullptr;
} // namespace detail

/// Keeps a block without owners until the thread's recording ends; then its keeper takes it back.
template <class Streams> void keep_back(Block& block) noexcept {
  block.next_free = std::exchange(detail::kept_back<Streams>, &block);
}

/// Called when the recording has ended: the keepers take back the blocks that were kept for it.
template <class Streams> void give_up_kept_back() noexcept {
  while (detail::kept_back<Streams> != nullptr) {
    Block* const block = detail::kept_back<Streams>;
    detail::kept_back<Streams> = std::exchange(block->next_free, nullptr);
    block->keeper->take_back(block);
  }
}

}}} // namespace twill::v0::memory

namespace twill { inline namespace v0 { namespace memory { namespace detail {

/// Releases blocks of a pool that were kept back.
template <class Pool> class Releaser final : public BlockKeeper {
public:
  explicit Releaser(Pool& pool) : pool_{pool} {} ///< for the blocks of this pool, which outlives it

  /// Releases the block, now that the recording has ended.
  void take_back(Block* block) noexcept override;

private:
  Pool& pool_;
};

template <class Pool> void Releaser<Pool>::take_back(Block* block) noexcept {
  block->keeper = nullptr;
  pool_.release(block);
}

}}}} // namespace twill::v0::memory::detail
