#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Shares of a column program's rows and columns for blocks and threads, from the shape alone. Plain numbers, tested on
// the host. Read next: kernel/gpu/columns.hpp.

#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/parameters.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

inline constexpr int column_threads = 256; ///< of a block

/// Rows that a thread loads before it adds the first: about 64 bytes.
[[nodiscard]] constexpr int rows_of_thread(int chunk_bytes) {
  return chunk_bytes == 0 ? 1 : chunk_bytes <= 16 ? 4 : chunk_bytes <= 32 ? 2 : 1;
}

/// The shares of a launch's rows, for its kernel.
struct ColumnShare {
  std::int64_t rows = 0;
  std::int64_t share_rows = 0;   ///< of a block
  std::uint32_t shares = 1;      ///< of the rows
  Divisor groups{};              ///< of column chunks that blocks own
  std::int32_t column_lanes = 1; ///< threads of a block side by side, a power of two
  std::int32_t column_shift = 0; ///< its logarithm
  std::int32_t row_lanes = 1;    ///< threads of a block one below the other, a power of two
  std::byte* partial = nullptr;
  unsigned* counters = nullptr;
};

/// The parameters of a launch of a column program.
template <int Count> struct ColumnParameters : ColumnShare {
  Parameters<Count> grid{}; ///< the columns
};

/// The shares of a launch's work.
struct ColumnShares {
  std::uint32_t groups = 1;
  std::uint32_t shares = 1;
  std::int64_t share_rows = 1;
  int column_lanes = 1;
  int row_lanes = 1;
  friend constexpr bool operator==(const ColumnShares&, const ColumnShares&) = default;
};

/// Blocks as wide as a warp of chunks; about a thousand share the rows, as many as large devices hold at once, unless
/// that leaves a thread fewer than four rows or needs too much memory for sums. `chunk_bytes`: of a chunk's sums.
[[nodiscard]] constexpr ColumnShares share_columns(std::int64_t rows, std::uint32_t chunks, int chunk_bytes,
                                                   std::size_t memory_bytes, int counters) {
  constexpr std::int64_t wanted_blocks = 1024;
  constexpr std::int64_t least_rows = 4; // of a thread
  ColumnShares result{};
  while (result.column_lanes < 32 && static_cast<std::uint32_t>(result.column_lanes) < chunks) result.column_lanes *= 2;
  result.row_lanes = column_threads / result.column_lanes;
  const auto wide = static_cast<std::uint32_t>(result.column_lanes);
  result.groups = (chunks + wide - 1) / wide;
  std::int64_t shares = wanted_blocks / result.groups;
  const std::int64_t most_by_rows = rows / (least_rows * result.row_lanes);
  const std::int64_t most_by_memory = static_cast<std::int64_t>(memory_bytes) / (std::int64_t{chunks} * chunk_bytes);
  if (shares > most_by_rows) shares = most_by_rows;
  if (shares > most_by_memory) shares = most_by_memory;
  if (shares < 1 || result.groups > static_cast<std::uint32_t>(counters)) shares = 1;
  // whole rounds of a block's threads
  result.share_rows = ((rows + shares - 1) / shares + result.row_lanes - 1) / result.row_lanes * result.row_lanes;
  if (result.share_rows == 0) result.share_rows = 1;
  result.shares = static_cast<std::uint32_t>((rows + result.share_rows - 1) / result.share_rows);
  if (result.shares == 0) result.shares = 1;
  return result;
}

/// Writes the shares into the kernel's parameters. `sum_bytes`: of all sums of a column.
[[nodiscard]] inline twill::gpu::LaunchShape share_columns(ColumnShare& to, const Walk& walk, std::int64_t rows,
                                                           int lanes, int sum_bytes,
                                                           const twill::gpu::WorkingMemory& working) {
  const ColumnShares shares =
      share_columns(rows, walk.chunks, lanes * sum_bytes, working.size().bytes, working.size().counter_count);
  to.rows = rows;
  to.share_rows = shares.share_rows;
  to.shares = shares.shares;
  to.groups = Divisor{shares.groups};
  to.column_lanes = shares.column_lanes;
  to.row_lanes = shares.row_lanes;
  to.column_shift = 0;
  while ((1 << to.column_shift) < shares.column_lanes) ++to.column_shift;
  to.partial = static_cast<std::byte*>(working.memory());
  to.counters = working.counters();
  return {.blocks = shares.groups * shares.shares,
          .threads = column_threads,
          .shared_bytes = std::size_t{column_threads} * static_cast<std::size_t>(lanes) * 8};
}

}}}} // namespace twill::v0::kernel::gpu
