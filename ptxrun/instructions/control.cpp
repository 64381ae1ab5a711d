// SPDX-License-Identifier: Apache-2.0
//
// Branches, ends, barriers, and instructions that only hint.

#include "ptxrun/findings.hpp"
#include "ptxrun/instructions/barrier_operands.hpp"
#include "ptxrun/instructions/families.hpp"
#include "ptxrun/instructions/handlers.hpp"
#include "ptxrun/instructions/ordering.hpp"
#include "ptxrun/text.hpp"

#include <bit>

namespace ptxrun {
namespace {

void end_by_trap(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  Grid& grid = warp.block->grid;
  report_finding("trap", &grid.kernel, &instruction, describe_thread(warp, std::countr_zero(mask)));
  grid.fail(Outcome::trap);
}

void do_nothing(Warp&, const Instruction&, std::uint32_t) {}

void synchronize_warp(Warp& warp, const Instruction&, std::uint32_t) { warp.sync_time = warp.block->grid.now++; }

/// The first source, which is a register or a number.
void take_number(Statement& statement, std::size_t source, std::string_view text) {
  statement.source(source, text, Type::u32);
}

void decode_warp_barrier(Statement& statement) {
  statement.source(0, statement.argument(0), Type::u32);
  statement.instruction.flow = Flow::warp_wide;
  statement.instruction.handler = &synchronize_warp;
}

} // namespace

void decode_branch(Statement& statement) {
  if (statement.opcode == "brx") {
    statement.source(0, statement.argument(0), Type::u32);
    statement.instruction.flow = Flow::indexed_branch; // the parser knows the table
    return;
  }
  statement.instruction.flow = Flow::branch;
  statement.labels = {statement.argument(0)};
}

void decode_end(Statement& statement) {
  if (statement.opcode == "ret" || statement.opcode == "exit") {
    statement.instruction.flow = Flow::exit;
    return;
  }
  statement.instruction.flow = Flow::fail;
  statement.instruction.handler = &end_by_trap;
}

void decode_barrier(Statement& statement) {
  Instruction& instruction = statement.instruction;
  if (statement.has("warp")) return decode_warp_barrier(statement);
  if (statement.has("cluster")) statement.reject("a barrier of a cluster");
  instruction.flow = statement.has("arrive") ? Flow::arrive : Flow::barrier;
  instruction.is_aligned = statement.opcode == "bar" || statement.has("aligned");
  std::size_t next = 0;
  const bool has_vote = statement.has("red");
  if (has_vote) {
    instruction.mode = statement.has("popc") ? votes_count : statement.has("and") ? votes_all : votes_any;
    if (instruction.mode == votes_count)
      statement.destination(0, statement.argument(0), Type::u32);
    else
      statement.predicate_destination(0, statement.argument(0));
    next = 1;
  }
  const std::size_t end = statement.arguments.size() - (has_vote ? 1 : 0);
  take_number(statement, 0, next < end ? statement.argument(next) : "0");
  if (next + 1 < end) {
    take_number(statement, 1, statement.argument(next + 1));
    instruction.counts = true;
  }
  if (has_vote) statement.predicate_source(instruction.source_count, statement.arguments.back());
}

void decode_nothing(Statement& statement) {
  if (statement.opcode == "nanosleep")
    statement.instruction.handler = [](Warp& warp, const Instruction&, std::uint32_t) { poll(warp); };
  else
    statement.instruction.handler = &do_nothing;
}

} // namespace ptxrun
