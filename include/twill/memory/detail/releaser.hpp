#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Keeper for a pool's own blocks that were kept back during a graph recording. Read next: memory/kept_back.hpp.

#include <twill/memory/block.hpp>

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
