#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Execution of a fused program over a grid on the threads of a team. Elementwise and row programs (reductions over the
// last dimension, in order) share their loops, column programs (reductions over the first) have their own. Callers that
// merge dimensions first (kernel/coalesce.hpp) get longer inner loops. Read next: kernel/rows.hpp.

#include <twill/kernel/any_team.hpp>
#include <twill/kernel/columns.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/rows.hpp>
#include <twill/kernel/table.hpp>
#include <twill/kernel/tabulate.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Runs a tabulated program on the threads of a team.
inline void run_table(const ProgramTable& program, const AnyTeam& team, const Grid& grid, const Operand* operands) {
  program.run(program, team, grid, operands);
}

/// Takes the working memory of such a run in each thread that will need it, and starts them; computes nothing.
inline void reserve_table(const ProgramTable& program, const AnyTeam& team, const Grid& grid, const Operand* operands) {
  if (program.columns != nullptr)
    ColumnKernel{program, grid, operands}.reserve(team);
  else
    RowKernel{program, grid, operands}.reserve(team);
}

/// Runs the program at every index of the grid; operands in the order of the lines that take one.
/// An output may coincide exactly with an input. requires: `team.size()`, `team.parallel(f(rank, size))`
/// throws: std::bad_alloc when a thread's first long row needs working memory
template <class... Lines, class Team>
void run(Program<Lines...>, const Team& team, const Grid& grid, const Operand* operands) {
  run_table(table_of<Program<Lines...>>, AnyTeam{team}, grid, operands);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
