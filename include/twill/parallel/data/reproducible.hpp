#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reproducible data parallelism, a policy whose bits do not depend on the number of ranks: a batch is divided into a
// fixed number of shards, each shard's loss and gradients are computed by calls of one shape, and these are added along
// one binary tree over the shards. A rank has a run of shards; it adds what makes a node of the tree, and nodes of
// several ranks meet in the order of the tree. The tree is that of parallel/group/reduction_tree.hpp for as many ranks
// as shards. Not in twill.hpp. Read next: parallel/data/reproducible_step.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/parallel/data/chunk.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Shards [begin, end) of a batch.
struct ShardRange {
  int begin = 0; ///< the first shard
  int end = 0;   ///< after the last shard

  /// The number of shards.
  [[nodiscard]] constexpr int count() const { return end - begin; }
  friend constexpr bool operator==(const ShardRange&, const ShardRange&) = default;
};

/// The last argument of `train_step`: training to the same bits on any number of ranks, threads or processes, with any
/// stage of ZeRO, of the same kind of device, program and libraries. The number of shards is part of the result.
struct Reproducible {
  int shards = 8; ///< of each batch: at least as many as ranks, at most as many as rows

  /// The shards of a rank: runs whose lengths differ by one at most.
  [[nodiscard]] constexpr ShardRange shards_of(int rank, int ranks) const {
    const auto place = [&](std::int64_t before) { return static_cast<int>(before * shards / ranks); };
    return {place(rank), place(rank + 1)};
  }
  /// The rows of a shard in a batch of this number of rows.
  [[nodiscard]] constexpr Rows rows_of_shard(std::int64_t rows, int shard) const {
    const std::int64_t begin = rows * shard / shards;
    return {begin, rows * (shard + 1) / shards - begin};
  }
  /// The rows of a batch that a rank brings to its step.
  [[nodiscard]] constexpr Rows rows_of(std::int64_t rows, int rank, int ranks) const {
    const ShardRange own = shards_of(rank, ranks);
    const std::int64_t begin = rows * own.begin / shards;
    return {begin, rows * own.end / shards - begin};
  }
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// Whether two neighbours are the children of one node of the tree over this number of shards. A left child is a full
/// tree at a multiple of twice its size; a right child ends with its parent.
[[nodiscard]] constexpr bool are_siblings(const ShardRange& left, const ShardRange& right, int shards) {
  const int size = left.count();
  if (!std::has_single_bit(static_cast<unsigned>(size)) || left.begin % (2 * size) != 0) return false;
  return right.end == (shards - left.end < size ? shards : left.end + size);
}

/// Adds up nodes in order of shards: `push(node)` after node number `size()` was written to the place of that number.
/// Where two neighbours are siblings, `add(left, right)` adds place `right` to place `left`, which becomes the parent.
class ShardStack {
public:
  constexpr explicit ShardStack(int shards) : shards_{shards} {}

  template <class Add> constexpr void push(const ShardRange& node, const Add& add) {
    nodes_.push_back(node);
    while (nodes_.size() > 1) {
      const std::size_t left = nodes_.size() - 2;
      if (!are_siblings(nodes_[left], nodes_[left + 1], shards_)) return;
      add(left, left + 1);
      nodes_.items[left].end = nodes_[left + 1].end;
      nodes_.resize(left + 1);
    }
  }

  /// Nodes that wait for their siblings.
  [[nodiscard]] constexpr std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] constexpr const List<ShardRange>& nodes() const { return nodes_; }
  constexpr void clear() { nodes_ = {}; }

private:
  int shards_;
  List<ShardRange> nodes_{};
};

/// The nodes to which a rank adds up its shards, and how many there are at once on the way.
struct RankNodes {
  List<ShardRange> nodes{};
  std::size_t most = 0;

  constexpr RankNodes() = default;
};

[[nodiscard]] constexpr RankNodes nodes_of(const ShardRange& own, int shards) {
  ShardStack stack{shards};
  RankNodes result{};
  for (int shard = own.begin; shard < own.end; ++shard) {
    if (stack.size() + 1 > result.most) result.most = stack.size() + 1;
    stack.push({shard, shard + 1}, [](std::size_t, std::size_t) {});
  }
  result.nodes = stack.nodes();
  return result;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
