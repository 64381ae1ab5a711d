#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a block remembers of streams that are not its home: those that use it, and the fences that a taker has to wait for. Most
// blocks have none, so it hangs off `Block::stream_use`. Read next: memory/stream_arenas.hpp.

#include <twill/memory/block.hpp>

#include <vector>

namespace twill { inline namespace v0 { namespace memory { namespace detail {

template <class Stream, class Event> struct StreamUse {
  std::vector<Stream> users{};
  std::vector<Event> fences{};

  /// Of a block, or null.
  [[nodiscard]] static StreamUse* of(const Block& block) { return static_cast<StreamUse*>(block.stream_use); }

  /// Of a block, made at need. throws: std::bad_alloc
  [[nodiscard]] static StreamUse& make(Block& block) {
    if (block.stream_use == nullptr) block.stream_use = new StreamUse;
    return *of(block);
  }

  /// The block remembers nothing any more.
  static void drop(Block& block) noexcept {
    delete of(block);
    block.stream_use = nullptr;
  }
};

}}}} // namespace twill::v0::memory::detail
