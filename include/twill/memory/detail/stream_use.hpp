#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Use of a block by streams that are not its home: the using streams, and the fences that a taker has to wait for. Most
// blocks have none, so `Block::stream_use` points to it. Read next: memory/stream_arenas.hpp.

#include <twill/memory/block.hpp>

#include <vector>

namespace twill { inline namespace v0 { namespace memory { namespace detail {

template <class Stream, class Event> struct StreamUse {
  std::vector<Stream> users{};
  std::vector<Event> fences{};

  /// The record of a block, or null.
  [[nodiscard]] static StreamUse* of(const Block& block) { return static_cast<StreamUse*>(block.stream_use); }

  /// The record of a block, made if there is none. throws: std::bad_alloc
  [[nodiscard]] static StreamUse& make(Block& block) {
    if (block.stream_use == nullptr) block.stream_use = new StreamUse;
    return *of(block);
  }

  /// Deletes the record of a block.
  static void drop(Block& block) noexcept {
    delete of(block);
    block.stream_use = nullptr;
  }
};

}}}} // namespace twill::v0::memory::detail
