#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Blocks whose last owner went while its thread recorded a graph. Work of several streams may be using them, which can neither
// be waited for then nor be marked by an event, since one that is recorded meanwhile may become a part of the graph. So
// they stay reserved until the recording ends, on the same thread, and are given up there. Read next: memory/gpu/capture.hpp.

#include <twill/core/config.hpp>
#include <twill/memory/block.hpp>

#include <utility>

namespace twill { inline namespace v0 { namespace memory {

namespace detail {
/// Those of this thread in the pools of one policy of streams, linked by `next_free`.
template <class Streams> TWILL_EXPORT inline constinit thread_local Block* kept_back = nullptr;
} // namespace detail

/// Keeps a block without owners until the thread's recording ends; its keeper takes it back then.
template <class Streams> void keep_back(Block& block) noexcept {
  block.next_free = std::exchange(detail::kept_back<Streams>, &block);
}

/// The recording has ended: the keepers take back what was kept for it.
template <class Streams> void give_up_kept_back() noexcept {
  while (detail::kept_back<Streams> != nullptr) {
    Block* const block = detail::kept_back<Streams>;
    detail::kept_back<Streams> = std::exchange(block->next_free, nullptr);
    block->keeper->take_back(block);
  }
}

}}} // namespace twill::v0::memory
