#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Interpreted programs: fused programs that are known at run time only, or that are not worth a kernel of their own. A
// program becomes a table like those that Tabulate makes of types, whose functions run its lines one after another over
// blocks of about a thousand values; the loops around them and the bits of the results are those of compiled programs.
// Not in the umbrella, because without the compiled library each file would compile all block functions. Read next:
// kernel/interpreted_stage.hpp.

#include <twill/kernel/interpreted_stage.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>
#include <twill/kernel/table.hpp>
#include <twill/kernel/tabulate.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// A fused program that runs line by line over blocks of values. Any number of threads may run it at once.
class InterpretedProgram {
public:
  /// Each line needs its kind, type (a leaf, a conversion, an output), access, primitive, reduction and arguments, in
  /// the form of `detail::line_of`; the rest is found.
  /// throws: ValueError for lines that break the rules of kernel/program.hpp or the limits of kernel/table.hpp
  explicit InterpretedProgram(std::span<const Line> lines);
  InterpretedProgram(const InterpretedProgram&) = delete;
  InterpretedProgram& operator=(const InterpretedProgram&) = delete;

  /// The program as the loops around it see it; valid as long as this object.
  [[nodiscard]] const ProgramTable& table() const { return table_; }
  [[nodiscard]] KernelShape shape() const { return summary_.shape; }
  /// Its lines, complete.
  [[nodiscard]] std::span<const Line> lines() const { return lines_; }

private:
  /// A line whose value the row shares.
  struct SharedLine {
    LineKind kind = LineKind::step;
    int line = 0;
    int operand = -1;
    int bytes = 0;        ///< of an element in memory
    bool is_word = false; ///< four bytes, computed with in their memory format
    int arity = 0;
    std::array<int, 4> arguments{};
    SharedValueFunction run = nullptr;
    const ElementFunctions* elements = nullptr;
  };

  void complete();
  void check_types() const;
  void note_operands();
  void note_reductions();
  void note_shared_lines();
  void note_functions();

  /// Computes a value that a row shares, whose operand is at `at` there.
  static void share(const SharedLine& own, std::byte* shared, std::int64_t at, const Operand* bound);
  static void run_stage(const ProgramTable& program, int stage, const Cursor& where, const std::byte* shared,
                        std::byte* result, const ScratchRows& scratch, std::int64_t begin, std::int64_t end,
                        RowPart part);
  static void run_shared(const ProgramTable& program, int level, std::byte* shared, const std::int64_t* at,
                         const Operand* bound);
  static void run_columns(const ProgramTable& program, const Cursor& where, const std::int64_t* down,
                          const Operand* bound, std::int64_t height, std::int64_t begin, std::int64_t end, bool add,
                          std::byte* sums, std::int64_t column, std::int64_t row_bytes);

  std::vector<Line> lines_;
  std::vector<LinePlan> plan_;
  SummaryTotals summary_;
  PlanTotals totals_;
  std::vector<InterpretedStage> stages_;
  std::vector<std::vector<SharedLine>> shared_lines_; ///< for each level
  std::vector<OperandInfo> operands_;
  std::vector<ReductionInfo> reductions_;
  std::vector<int> block_bytes_;
  std::vector<StageFunction> stage_functions_;
  std::vector<SharedFunction> shared_functions_;
  ProgramTable table_;
};

}}}} // namespace twill::v0::kernel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/kernel/interpret.ipp>
#endif
