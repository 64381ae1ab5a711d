#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Table of a program for the loops around it: its operands, its reductions, and a few functions, one for each stage.
// All code that walks, shares out, copies tails and combines chunks reads this table and is compiled once for all
// programs; only the functions behind the pointers are a program's own. Read next: kernel/stage.hpp, which fills it.

#include <twill/core/config.hpp>
#include <twill/kernel/any_team.hpp>
#include <twill/kernel/program.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

inline constexpr int max_operands = 128;
inline constexpr int max_lines = 192;
inline constexpr int max_accumulator_bytes = 8192; ///< of the reductions in one stage

namespace vector_detail {
inline constexpr std::int64_t rows_at_once = 8; ///< of a column program, summed in a register
} // namespace vector_detail
inline constexpr int max_column_buffer_bytes = 65536; ///< of the rows of a column program that do not fill a pack

/// How an output is written. For a gathered leaf: how many lanes of a pack have elements, `plain` for all.
enum class StoreMode : std::uint8_t { plain, stream, scatter };

/// Addresses of the operands of a row, as integers; for `Iota` the number itself. Only the first entries, one for each
/// operand, ever hold a value: clearing the rest would cost more than a small kernel.
struct Cursor {
  std::int64_t at[max_operands];
  std::int64_t stride[max_operands]; ///< in elements, along the row
  StoreMode mode[max_operands];
};

/// Rows of values that are kept between stages.
struct ScratchRows {
  std::byte* first = nullptr;  ///< row 0: often the output itself
  std::byte* others = nullptr; ///< rows 1, 2, ...
  std::int64_t row_bytes = 0;  ///< whole packs

  template <class T> [[nodiscard]] TWILL_INLINE T* row(int number) const {
    return reinterpret_cast<T*>(number == 0 ? first : others + (number - 1) * row_bytes);
  }
};

/// The values that a row shares are in a block of bytes, each at eight times the number of its line.
inline constexpr int shared_slot_bytes = 8;

/// Properties of one operand.
struct OperandInfo {
  enum class Role : std::uint8_t { input, output, gather, iota, immediate };
  Role role = Role::input;
  int bytes = 0;            ///< of an element
  int unit = 0;             ///< what a stride of one adds to the address: an element's bytes, 1 for Iota
  bool contiguous = false;  ///< along the row, whatever its stride says
  std::uint32_t stages = 0; ///< bit s: stage s touches its elements one by one
  int source = 0;           ///< of an output: the line that it stores
  /// An output that the row shares: stores the value in a slot `count` times along the row.
  void (*store_shared)(const std::byte* slot, std::int64_t at, std::int64_t stride, std::int64_t count) = nullptr;
  /// An output of a column reduction: stores some of its sums.
  void (*store_sums)(const std::byte* sums, std::int64_t at, std::int64_t stride, std::int64_t count) = nullptr;
};

/// Properties of one reduction.
struct ReductionInfo {
  int line = 0;
  int stage = 0;
  int offset = 0;     ///< of its vector within a block of accumulators
  int lane_bytes = 0; ///< of its vector
  /// Combines the accumulators, then the lanes.
  void (*finish)(const std::byte* accumulators, int block_bytes, std::byte* slot) = nullptr;
  /// Combines results as a balanced tree, into the first.
  void (*tree)(std::byte* first, std::int64_t stride_bytes, std::int64_t count) = nullptr;
  /// Down the columns: initialises sums, and adds the sums of two chunks.
  void (*clear)(std::byte* sums, std::int64_t columns) = nullptr;
  void (*add)(std::byte* sums, const std::byte* more, std::int64_t columns) = nullptr;
};

struct ProgramTable;
class InterpretedProgram;

/// Part of a row that a stage runs over. The first and later parts leave accumulators, to which the next one adds; a
/// whole row leaves its reductions, in the slots of their lines.
enum class RowPart : std::uint8_t { first, later, whole };

/// Runs a stage over whole packs; leaves its accumulators, or its reductions, in `result`.
using StageFunction = void (*)(const ProgramTable& program, int stage, const Cursor& where, const std::byte* shared,
                               std::byte* result, const ScratchRows& scratch, std::int64_t begin, std::int64_t end,
                               RowPart part);

/// Computes the values that the row shares and that are known at a level.
using SharedFunction = void (*)(const ProgramTable& program, int level, std::byte* shared, const std::int64_t* at,
                                const Operand* bound);

/// Adds the columns [begin, end), whole packs, over a few rows to the sums from `column` on, or makes them the sums.
using ColumnFunction = void (*)(const ProgramTable& program, const Cursor& where, const std::int64_t* down,
                                const Operand* bound, std::int64_t height, std::int64_t begin, std::int64_t end,
                                bool add, std::byte* sums, std::int64_t column, std::int64_t row_bytes);

/// Runs a tabulated program on the threads of a team: the loops over rows or those over columns. A pointer, so that a
/// file without programs of one kind does not compile their loops.
using RunFunction = void (*)(const ProgramTable& program, const AnyTeam& team, const Grid& grid, const Operand* bound);

/// Runs a program in a way of its own, if its operands allow it. Returns whether they do.
using OwnFunction = bool (*)(const ProgramTable& program, const AnyTeam& team, const Grid& grid, const Operand* bound);

/// A program as its loops see it.
struct ProgramTable {
  int operands = 0;
  int reductions = 0;
  int lanes = 0;
  int stages = 0;
  int operations = 0; ///< for one element, in additions
  int scratch_rows = 0;
  int scratch_output = -1; ///< the output whose row can serve as the first scratch row
  bool reduces = false;
  bool stores_shared = false; ///< some output is a value that the row shares
  int shared_bytes = 0;
  const int* block_bytes = nullptr; ///< of one set of accumulators, for each stage
  const OperandInfo* operand = nullptr;
  const ReductionInfo* reduction = nullptr;
  const StageFunction* stage = nullptr;
  const SharedFunction* shared = nullptr; ///< for each level; null where nothing is known
  RunFunction run = nullptr;
  ColumnFunction columns = nullptr;
  OwnFunction transposed = nullptr;                ///< of a program that copies, see kernel/transpose.hpp
  const InterpretedProgram* interpreted = nullptr; ///< whose lines the functions above read; null for compiled ones
};

/// Counts of the elements that kernels load and store: none, but in test files that define TWILL_COUNT_ACCESS as a type
/// with these functions (tests/support/traffic.hpp). A short row stays in the cache for its later stages.
struct NoCounts {
  static void load(int /*operand*/, std::int64_t /*elements*/) {}
  static void store(int /*operand*/, std::int64_t /*elements*/) {}
  static void stage(const ProgramTable&, int /*stage*/, std::int64_t /*elements*/, const Cursor* /*short_row*/) {}
};
#if defined(TWILL_COUNT_ACCESS)
using AccessCounts = TWILL_COUNT_ACCESS;
#else
using AccessCounts = NoCounts;
#endif

}}}} // namespace twill::v0::kernel::TWILL_ISA
