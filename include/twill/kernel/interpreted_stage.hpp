#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stages of an interpreted program: lines as instructions over blocks of about a thousand values, which stay in the
// first-level cache. Operands are used in place where they can be; other values share a few slots of working memory on
// the stack, allocated like registers. Sums run in the accumulators, blocks and order of compiled stages.
// Not in the umbrella. Read next: kernel/interpret.hpp.

#include <twill/kernel/block_functions.hpp>
#include <twill/kernel/plan.hpp>
#include <twill/kernel/stage.hpp>
#include <twill/kernel/summary.hpp>
#include <twill/kernel/table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// A program's lines and the plans for them, from which stages are made.
struct PlannedLines {
  const Line* lines = nullptr;
  const LinePlan* plan = nullptr;
  const int* widths = nullptr; ///< of masks
  int count = 0;
  KernelShape shape = KernelShape::elementwise;
  int lanes = 0;
};

/// An instruction of a stage for one line, block by block.
struct BlockInstruction {
  enum class Kind : std::uint8_t { input, kept, indices, gather, shared, compute, reduce, output };
  Kind kind = Kind::compute;
  bool in_place = false;      ///< its values are used in place
  bool may_lie_apart = false; ///< rows of a column program may have gaps between them
  bool is_held = false;       ///< in the memory format of its elements
  bool is_contiguous = false; ///< along the row, whatever its stride says
  int value = 0;              ///< the value that it makes; of a reduction or an output: the value that it takes
  int line = 0;
  int operand = -1;
  int scratch = -1;       ///< the row of values that stages keep, which it reads or writes
  int direct_output = -1; ///< the operand of an output whose memory takes the values if it can
  std::int64_t slot = -1; ///< offset of its values in working memory
  int bytes = 0;          ///< of a value in a block
  int arity = 0;
  std::array<int, 4> arguments{}; ///< values
  std::array<bool, 4> moves{};
  BlockFunction run = nullptr;
  const ElementFunctions* elements = nullptr;
};

class InterpretedStage {
public:
  /// Lays out a stage. throws: ValueError when it reduces or computes more at once than there is room for
  InterpretedStage(const PlannedLines& program, int stage);

  [[nodiscard]] int block_bytes() const { return totals_.block_bytes; }
  [[nodiscard]] const vector_detail::StageTotals& totals() const { return totals_; }
  /// The offset of a reduction's accumulator within a block of accumulators.
  [[nodiscard]] int offset_of(int line) const;

  /// Runs the stage over part of a row: a `StageFunction`.
  void run(const Cursor& where, const std::byte* shared, std::byte* partial, const ScratchRows& scratch,
           std::int64_t begin, std::int64_t end, RowPart part) const;

  /// Runs the stage down columns: a `ColumnFunction`; `shared`: values that each row shares, `shared_row_bytes` apart.
  void run_columns(const Cursor& where, const std::int64_t* down, const std::byte* shared,
                   std::int64_t shared_row_bytes, std::int64_t height, std::int64_t begin, std::int64_t end, bool add,
                   std::byte* sums, std::int64_t column, std::int64_t row_bytes) const;

private:
  static constexpr std::int64_t working_bytes = 65536; ///< on the stack
  static constexpr std::int64_t cached_bytes = 24576;  ///< of blocks, better in the first-level cache
  static constexpr std::int64_t most_elements = 1024;  ///< of a block
  static constexpr std::int64_t wide_columns = 64;     ///< from which on each row is worth a call

  /// A value that the row shares, as a pack.
  struct SharedPack {
    int value = 0;
    int line = 0;
    int bytes = 0;
    bool is_reciprocal = false;
    std::int64_t offset = 0; ///< in working memory
  };
  /// A reduction of the stage.
  struct Reduced {
    ReductionFunctions functions;
    int line = 0;
    int offset = 0;            ///< in a block of accumulators
    std::int64_t sums = 0;     ///< of all accumulators, in working memory
    std::int64_t total = 0;    ///< of the blocks that are done, in working memory
    std::int64_t lane_row = 0; ///< bytes of one accumulator
    int ordinal = 0;           ///< among the reductions of the program
  };
  struct Frame;

  void add_instructions(const PlannedLines& program, int stage, const bool* is_active, const bool* is_shared);
  void add_instruction(const PlannedLines& program, int stage, int line);
  void note_memory_in_place();
  void note_rows();
  void assign_slots(const PlannedLines& program);

  void run_block(Frame& frame, std::int64_t j, std::int64_t count) const;
  void accumulate(const Reduced& own, std::byte* memory, const std::byte* values, std::int64_t count) const;
  void start(std::byte* memory, const std::byte* partial, RowPart part) const;
  void fold(std::byte* memory) const;
  void run_block_of_rows(Frame& frame, const std::int64_t* down, const std::byte* shared, std::int64_t shared_row_bytes,
                         std::int64_t height, std::int64_t j, std::int64_t width, bool add, std::byte* sums,
                         std::int64_t column, std::int64_t row_bytes) const;

  vector_detail::StageTotals totals_;
  int lanes_ = 0;
  int count_ = 0; ///< of the program's lines
  bool is_column_ = false;
  std::vector<int> offsets_;
  std::vector<BlockInstruction> code_;
  std::vector<SharedPack> shared_;
  std::vector<Reduced> reduced_;
  std::int64_t elements_ = 0; ///< of a block
  std::int64_t slot_bytes_ = 0;
};

}}}} // namespace twill::v0::kernel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/kernel/interpreted_layout.ipp>
#include <twill/kernel/interpreted_stage.ipp>
#endif
