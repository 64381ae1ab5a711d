// SPDX-License-Identifier: Apache-2.0
//
// A fused program that reduces along its rows and down its columns.
// nvcc
// expect: a program reduces rows or columns, not both; split it in two

#include <twill/device/cpu/team.hpp>
#include <twill/kernel/run.hpp>

using namespace twill;
using namespace twill::kernel;

using Rows = Program<In<float, Access::contiguous>, Reduce<Reduction::sum, 0>, Out<float, 1>>;
#ifdef MISUSE
using Columns = Program<In<float, Access::contiguous>, Reduce<Reduction::sum, 0>, ReduceColumns<Reduction::sum, 0>,
                        Out<float, 1>, Out<float, 2>>;
#else
using Columns = Program<In<float, Access::contiguous>, ReduceColumns<Reduction::sum, 0>, Out<float, 1>>;
#endif

void sums(const Operand* rows, const Operand* columns) {
  run(Rows{}, Team::serial(), Dims(3, 4), rows);
  run(Columns{}, Team::serial(), Dims(3, 4), columns);
}
