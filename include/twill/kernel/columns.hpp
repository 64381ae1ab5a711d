#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Column programs: reductions down the first dimension of the grid, such as bias gradients and batch statistics. A
// block of columns stays in the first-level cache while the rows stream by, a few at a time in registers. Rows are
// summed in fixed chunks, so the bits do not depend on the number of threads. Read next: kernel/run.hpp.

#include <twill/core/bits.hpp>
#include <twill/core/config.hpp>
#include <twill/kernel/any_team.hpp>
#include <twill/kernel/bytes.hpp>
#include <twill/kernel/rows.hpp>
#include <twill/kernel/scratch.hpp>
#include <twill/kernel/table.hpp>
#include <twill/kernel/tail.hpp>
#include <twill/kernel/walk.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

namespace vector_detail {
inline constexpr std::int64_t rows_of_chunk = 1024; ///< summed before chunks are combined
inline constexpr std::int64_t block_columns = 2048; ///< whose sums stay in the first-level cache
} // namespace vector_detail

/// A column program on a grid.
class ColumnKernel {
public:
  ColumnKernel(const ProgramTable& program, const Grid& grid, const Operand* bound);

  void run(const AnyTeam& team);

  /// Reserves the memory that each rank will need in a run, equal for all slices.
  void reserve(const AnyTeam& team) const;

private:
  [[nodiscard]] std::int64_t chunks() const;
  [[nodiscard]] bool is_shared_by(const AnyTeam& team) const;
  /// Whether each thread has columns of its own where the team shares the work; otherwise it has chunks of rows.
  [[nodiscard]] bool shares_columns(const AnyTeam& team) const;

  void one_slice(const AnyTeam& team) const;

  /// Bytes of the sums of a block of `columns` columns: one set for each level of the tree.
  [[nodiscard]] std::size_t block_bytes(std::int64_t columns) const;

  /// Combines sums of chunks as a balanced tree, as soon as two of one size exist: in the order of the loop, with room
  /// for a few.
  void some_columns(std::int64_t begin, std::int64_t end) const;

  /// The bytes of the sums of `columns` columns, whole packs for each reduction.
  [[nodiscard]] std::int64_t row_bytes(std::int64_t columns) const;
  [[nodiscard]] std::int64_t sums_bytes(std::int64_t columns) const { return program_.reductions * row_bytes(columns); }
  void clear(std::byte* sums, std::int64_t columns) const;
  void add(std::byte* sums, const std::byte* more, std::int64_t columns) const;

  void sum_chunk(std::int64_t chunk, std::int64_t begin, std::int64_t end, std::byte* sums) const;

  /// Computes columns that do not fill a pack, or whose operands have gaps, in a buffer.
  void last_columns(const Cursor& base, std::int64_t height, std::int64_t begin, std::int64_t end, bool add,
                    std::byte* sums, std::int64_t column, std::int64_t bytes) const;

  void fill_rows(std::byte* to, std::int64_t to_row, const OperandInfo& info, const Cursor& base, int operand,
                 std::int64_t height, std::int64_t begin, std::int64_t end) const;

  /// The bytes of a row that is copied: a pack, in whole registers.
  [[nodiscard]] std::int64_t room_of(const OperandInfo& info) const;

  /// Stores the sums of a block of columns.
  void finish(std::int64_t begin, std::int64_t end, const std::byte* sums) const;

  const ProgramTable& program_;
  const Operand* bound_;
  std::int64_t rows_;
  std::int64_t n_;
  RowWalk walk_;
  Cursor start_;
  std::int64_t down_[max_operands];
  bool packs_ = false; ///< some operand has gaps unknown to its program
};

/// Runs a column program.
void run_columns(const ProgramTable& program, const AnyTeam& team, const Grid& grid, const Operand* bound);

}}}} // namespace twill::v0::kernel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/kernel/columns.ipp>
#endif
