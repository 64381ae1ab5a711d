#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory that the shards of a rank take beside what an ordinary step of the rank holds, before anything runs: places in
// which gradients are summed, copies of buffers, arenas, and rows that are copied. Not in twill.hpp. Read next:
// parallel/data/reproducible_step.hpp, parallel/fit/replica.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/data/buckets.hpp>
#include <twill/parallel/data/reproducible.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The places of one rank's sums, in elements. Buckets are padded, so that each has an equal part for each rank.
struct ShardPlaces {
  /// `at_once`: all shards of a rank write their results before the first of them is added.
  ShardPlaces(const Buckets& layout, const Reproducible& policy, int ranks, bool at_once, std::int64_t element_bytes);

  std::size_t places = 1;              ///< on every rank
  std::size_t sent = 1;                ///< nodes that a rank sends, at most
  std::int64_t place = 0;              ///< one of them
  std::int64_t received = 0;           ///< of all ranks' nodes
  std::vector<std::int64_t> offsets{}; ///< of each bucket in a place
  std::vector<std::int64_t> padded{};  ///< each bucket
};

/// What the shards of one rank take, in bytes of allocations.
struct ShardMemory {
  /// The rows of shards, for each arena: it is as large as any of its shards needs, not always the one of most rows.
  std::vector<std::vector<std::int64_t>> arenas{};
  std::vector<std::int64_t> kept{};   ///< from the first step on
  std::vector<std::int64_t> during{}; ///< and during the runs that take most
};

/// A rank and its batch.
struct ShardSetting {
  Reproducible policy{};
  int rank = 0;
  int ranks = 1;
  std::int64_t all_rows = 0;                 ///< of the batch of all ranks
  std::span<const std::int64_t> row_bytes{}; ///< of each tensor of the batch
  std::int64_t element_bytes = 0;            ///< of the network's elements
};

/// The memory of shards that run a program of loss and gradients, whose shapes have these numbers.
[[nodiscard]] ShardMemory shard_memory(const compile::TableView& table, const graph::SymbolValues& symbols,
                                       const Buckets& layout, const ShardSetting& setting);

/// The smallest batch of which a rank has this number of rows.
[[nodiscard]] std::int64_t rows_of_all(const Reproducible& policy, std::int64_t rows, int rank, int ranks);

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/data/shard_memory.ipp>
#endif
