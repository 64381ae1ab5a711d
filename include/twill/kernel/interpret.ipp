#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/interpret.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/kernel/interpret.hpp>
#include <twill/kernel/tail.hpp>

#include <cstring>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

TWILL_COLD TWILL_BODY InterpretedProgram::InterpretedProgram(std::span<const Line> lines)
    : lines_(lines.begin(), lines.end()) {
  if (lines.size() > static_cast<std::size_t>(max_lines))
    throw ValueError(join_text({"interpret: a program has ", lines.size(), " lines, ", max_lines, " at most"}));
  complete();
  check_types();
  const int count = static_cast<int>(lines_.size());
  plan_.resize(lines_.size());
  // before the plan, which has a bit for each stage
  const int stages = detail::assign_levels(lines_.data(), std::vector<LinePlan>(lines_.size()).data(), count);
  if (stages > detail::max_stages)
    throw ValueError(join_text({"interpret: a program has ", stages, " stages, ", detail::max_stages, " at most"}));
  totals_ = make_plan(lines_.data(), plan_.data(), count, summary_.shape);
  const int lanes = vector_bytes / totals_.element_bytes;
  std::vector<int> widths(lines_.size());
  vector_detail::mask_widths(lines_.data(), count, lanes, widths.data());
  for (int stage = 0; stage < totals_.stages; ++stage) {
    stages_.emplace_back(PlannedLines{lines_.data(), plan_.data(), widths.data(), count, summary_.shape, lanes}, stage);
    block_bytes_.push_back(stages_.back().block_bytes());
  }
  table_ = vector_detail::table_numbers(lines_.data(), plan_.data(), count, summary_, totals_);
  note_operands();
  note_reductions();
  note_shared_lines();
  note_functions();
}

TWILL_COLD TWILL_BODY void InterpretedProgram::complete() {
  for (Line& line : lines_) {
    line.operand = -1;
    line.uniform = line.column = false;
    line.arity = line.kind == LineKind::step ? info(line.primitive).arity : line.kind <= LineKind::iota ? 0 : 1;
    if (line.kind == LineKind::iota) line.type = DType::int64;
  }
  summary_ = describe(lines_.data(), static_cast<int>(lines_.size()));
  if (summary_.fault >= 0)
    throw ValueError(
        join_text({"interpret: line ", summary_.fault, " has to name earlier values of the types that it takes"}));
  if (summary_.mixed) throw ValueError("interpret: a program reduces rows or columns, not both; split it in two");
  if (summary_.operands > max_operands)
    throw ValueError(
        join_text({"interpret: a program has ", summary_.operands, " operands, ", max_operands, " at most"}));
  if (summary_.shape != KernelShape::column) return;
  const int lanes = vector_bytes / detail::element_bytes(lines_.data(), static_cast<int>(lines_.size()));
  if (vector_detail::row_bytes(lines_.data(), static_cast<int>(lines_.size())) * lanes * vector_detail::rows_at_once >
      max_column_buffer_bytes)
    throw ValueError("interpret: a program that reduces columns has too many operands");
}

/// Every primitive and reduction has to take the type that it is given.
TWILL_COLD TWILL_BODY void InterpretedProgram::check_types() const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    if (line.arity == 0) continue;
    const DType type = lines_[static_cast<std::size_t>(line.arguments[static_cast<std::size_t>(line.arity - 1)])].type;
    if (line.kind == LineKind::step && functions_of(line.primitive, type).block == nullptr)
      throw ValueError(
          join_text({"interpret: line ", i, ": ", info(line.primitive).name, " does not take ", name(type)}));
    const bool needs_truth = line.reduction == Reduction::any || line.reduction == Reduction::all;
    if (is_reduction(line) && needs_truth && type != DType::boolean)
      throw ValueError(join_text(
          {"interpret: line ", i, ": ", name(line.reduction), " does not take ", name(type), "; cast first"}));
  }
}

TWILL_COLD TWILL_BODY void InterpretedProgram::note_operands() {
  operands_.resize(static_cast<std::size_t>(summary_.operands) + 1);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    if (line.operand < 0) continue;
    OperandInfo& own = operands_[static_cast<std::size_t>(line.operand)];
    own = vector_detail::operand_of(line, plan_[i]);
    if (vector_detail::is_summed_output(line)) own.store_sums = functions_of_elements(line.type).store_sums;
    if (vector_detail::is_shared_output(line) && summary_.shape == KernelShape::row)
      own.store_shared = functions_of_elements(line.type).store_shared;
  }
}

TWILL_COLD TWILL_BODY void InterpretedProgram::note_reductions() {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    if (!is_reduction(line)) continue;
    ReductionInfo own{};
    own.line = static_cast<int>(i);
    own.stage = vector_detail::stage_of(line, plan_[i]);
    const InterpretedStage& stage = stages_[static_cast<std::size_t>(own.stage)];
    own.offset = stage.offset_of(own.line);
    own.lane_bytes = vector_detail::block_bytes(line.type);
    const ReductionFunctions functions =
        functions_of(line.reduction, line.type, table_.lanes, stage.totals().accumulators);
    if (summary_.shape == KernelShape::column) {
      own.clear = functions.clear;
      own.add = functions.add;
    } else {
      own.finish = functions.finish;
      own.tree = functions.tree;
    }
    reductions_.push_back(own);
  }
}

TWILL_COLD TWILL_BODY void InterpretedProgram::note_shared_lines() {
  const int levels = summary_.shape == KernelShape::column ? 1 : totals_.stages + 1;
  shared_lines_.resize(static_cast<std::size_t>(levels));
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    const int level = plan_[i].level;
    if (level >= levels || !vector_detail::is_known_at(line, plan_[i], level)) continue;
    SharedLine own{.kind = line.kind,
                   .line = static_cast<int>(i),
                   .operand = line.operand,
                   .bytes = static_cast<int>(size_of(line.type)),
                   .is_word = line.type == DType::float32 || line.type == DType::int32,
                   .arity = line.arity,
                   .arguments = line.arguments,
                   .elements = &functions_of_elements(line.type)};
    if (line.kind == LineKind::cast || line.kind == LineKind::step) {
      const DType type =
          lines_[static_cast<std::size_t>(line.arguments[static_cast<std::size_t>(line.arity - 1)])].type;
      own.run = line.kind == LineKind::cast ? functions_of_cast(line.type, type).shared
                                            : functions_of(line.primitive, type).shared;
    }
    shared_lines_[static_cast<std::size_t>(level)].push_back(own);
  }
}

TWILL_COLD TWILL_BODY void InterpretedProgram::note_functions() {
  const bool is_column = summary_.shape == KernelShape::column;
  stage_functions_.assign(static_cast<std::size_t>(totals_.stages), is_column ? nullptr : &run_stage);
  for (const auto& level : shared_lines_) shared_functions_.push_back(level.empty() ? nullptr : &run_shared);
  table_.block_bytes = block_bytes_.data();
  table_.operand = operands_.data();
  table_.reduction = reductions_.data();
  table_.stage = stage_functions_.data();
  table_.shared = shared_functions_.data();
  table_.run = is_column ? &kernel::run_columns : &run_rows;
  if (is_column) table_.columns = &run_columns;
  if (vector_detail::is_copy(lines_.data(), static_cast<int>(lines_.size()))) {
    const std::size_t bytes = size_of(lines_[0].type);
    table_.transposed = bytes == 1   ? &vector_detail::run_transposed<integer_t<1>>
                        : bytes == 2 ? &vector_detail::run_transposed<integer_t<2>>
                        : bytes == 4 ? &vector_detail::run_transposed<integer_t<4>>
                                     : &vector_detail::run_transposed<integer_t<8>>;
  }
  table_.interpreted = this;
}

TWILL_BODY void InterpretedProgram::run_stage(const ProgramTable& program, int stage, const Cursor& where,
                                              const std::byte* shared, std::byte* result, const ScratchRows& scratch,
                                              std::int64_t begin, std::int64_t end, RowPart part) {
  const InterpretedStage& own = program.interpreted->stages_[static_cast<std::size_t>(stage)];
  if (part != RowPart::whole) return own.run(where, shared, result, scratch, begin, end, part);
  alignas(64) std::byte accumulators[max_accumulator_bytes];
  own.run(where, shared, accumulators, scratch, begin, end, RowPart::first);
  finish_reductions(program, stage, accumulators, result);
}

TWILL_BODY void InterpretedProgram::share(const SharedLine& own, std::byte* shared, std::int64_t at,
                                          const Operand* bound) {
  std::byte* const to = shared + own.line * shared_slot_bytes;
  if (own.kind == LineKind::input) {
    const void* const address = reinterpret_cast<const void*>(at);
    if (own.is_word)
      std::memcpy(to, address, sizeof(std::uint32_t));
    else
      own.elements->load_shared(to, address);
    return;
  }
  const std::byte* from[4];
  for (std::size_t a = 0; a < static_cast<std::size_t>(own.arity); ++a)
    from[a] = shared + own.arguments[a] * shared_slot_bytes;
  if (own.kind == LineKind::gather) {
    const std::int64_t offset = *reinterpret_cast<const std::int64_t*>(from[0]);
    own.elements->load_shared(to, reinterpret_cast<const void*>(at + offset * own.bytes));
  } else if (own.kind == LineKind::immediate) {
    own.elements->load_shared(to, &bound[own.operand].bits);
  } else {
    own.run(to, from);
  }
}

TWILL_BODY void InterpretedProgram::run_shared(const ProgramTable& program, int level, std::byte* shared,
                                               const std::int64_t* at, const Operand* bound) {
  for (const SharedLine& own : program.interpreted->shared_lines_[static_cast<std::size_t>(level)])
    share(own, shared, own.operand < 0 ? 0 : at[own.operand], bound);
}

TWILL_BODY void InterpretedProgram::run_columns(const ProgramTable& program, const Cursor& where,
                                                const std::int64_t* down, const Operand* bound, std::int64_t height,
                                                std::int64_t begin, std::int64_t end, bool add, std::byte* sums,
                                                std::int64_t column, std::int64_t row_bytes) {
  alignas(64) std::byte shared[vector_detail::rows_at_once * vector_detail::max_shared_bytes];
  const InterpretedProgram& own = *program.interpreted;
  for (const SharedLine& line : own.shared_lines_[0]) {
    std::int64_t at = line.operand < 0 ? 0 : where.at[line.operand];
    const std::int64_t step = line.operand < 0 ? 0 : down[line.operand];
    for (std::int64_t row = 0; row < height; ++row, at += step)
      share(line, shared + row * program.shared_bytes, at, bound);
  }
  own.stages_[0].run_columns(where, down, shared, program.shared_bytes, height, begin, end, add, sums, column,
                             row_bytes);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
