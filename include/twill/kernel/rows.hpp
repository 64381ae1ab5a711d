#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise and row programs. Each row runs the program's stages in order; a stage knows the reductions of earlier
// ones. Rows longer than a chunk are reduced chunk by chunk, and the results combined as a balanced tree, so neither
// the error nor the bits depend on the number of threads. Compiled once for all programs. Read next: kernel/run.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/any_team.hpp>
#include <twill/kernel/bytes.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/scratch.hpp>
#include <twill/kernel/streaming.hpp>
#include <twill/kernel/table.hpp>
#include <twill/kernel/tail.hpp>
#include <twill/kernel/walk.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

namespace vector_detail {
inline constexpr std::int64_t chunk_elements = 16384; ///< of a row that is reduced piece by piece
inline constexpr std::int64_t max_shared_bytes = std::int64_t{max_lines} * shared_slot_bytes;
inline constexpr std::int64_t block_elements = 512;   ///< of rows that are run like one
inline constexpr std::int64_t repeated_bytes = 16384; ///< of the operands that all rows of such a block share
} // namespace vector_detail

/// A program on a grid.
class RowKernel {
public:
  RowKernel(const ProgramTable& program, const Grid& grid, const Operand* bound);

  void run(const AnyTeam& team);

  /// Reserves the memory that each rank will need in a run; the caller holds that of long rows that the team shares.
  void reserve(const AnyTeam& team) const;

private:
  [[nodiscard]] bool is_shared_by(const AnyTeam& team) const;
  /// Of the whole grid, in additions.
  [[nodiscard]] std::int64_t operations() const;
  /// Whether each thread has rows of its own, where the team shares the work.
  [[nodiscard]] bool shares_rows(const AnyTeam& team) const;
  /// The number of chunks of a long row.
  [[nodiscard]] std::int64_t chunks() const;

  void some_rows(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) const;

  /// Runs rows that do not fill packs but follow one another in memory in blocks, each like one long row; shared
  /// operands are repeated in a buffer. Returns whether the operands allow it.
  [[nodiscard]] bool rows_as_one(std::int64_t first, std::int64_t last) const;

  /// Streams only aligned outputs.
  void align(Cursor& at) const;

  struct Working {
    ScratchRows rows;
    std::byte* partial; ///< the values that each chunk of a long row shares
  };
  [[nodiscard]] std::int64_t scratch_row_bytes() const;
  [[nodiscard]] std::size_t scratch_bytes(std::int64_t chunks) const;
  [[nodiscard]] Working scratch_rows(std::int64_t chunks) const;

  void short_row(const Cursor& at, std::byte* shared, ScratchRows scratch) const;

  /// One row in chunks, which the team shares.
  void long_row(const Cursor& row, const AnyTeam& team) const;

  /// Stores the values that a row shares: once where the output has no stride along the row, otherwise all along it.
  void finish_row(const Cursor& at, std::byte* shared) const;

  const ProgramTable& program_;
  const Grid& grid_;
  const Operand* bound_;
  std::int64_t n_;
  RowWalk walk_;
  Cursor start_;
  bool streams_ = false;
  bool packs_ = false; ///< some operand has gaps unknown to its program
};

namespace vector_detail {

/// An elementwise program on a single row that does not fill a pack, with one look at each operand: for kernels of this
/// size only overhead counts. Returns whether the operands allow it.
bool run_short_row(const ProgramTable& program, std::int64_t n, const Operand* bound);

} // namespace vector_detail

/// Runs an elementwise or row program.
void run_rows(const ProgramTable& program, const AnyTeam& team, const Grid& grid, const Operand* bound);

}}}} // namespace twill::v0::kernel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/kernel/rows.ipp>
#endif
