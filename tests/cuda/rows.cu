// SPDX-License-Identifier: Apache-2.0
//
// Row programs as kernels: a sum, a softmax and a layer norm. Their PTX and the compiler's report are checked by
// check_ptx.py; nothing here needs a GPU to be compiled.

#include <tests/cuda/rows.hpp>

#include <twill/kernel/cuda/block.cuh>
#include <twill/kernel/gpu/rows.hpp>

namespace {

using namespace twill;
using kernel::Access;
using kernel::Immediate;
using kernel::In;
using kernel::Out;
using kernel::Primitive;
using kernel::Program;
using kernel::Reduce;
using kernel::Reduction;
using kernel::Step;

template <class T> using Along = In<T, Access::contiguous>;

using Sum = Program<Along<float>, Reduce<Reduction::sum, 0>, Out<float, 1>>;
using Softmax =
    Program<Along<float>, Reduce<Reduction::max, 0>, Step<Primitive::subtract, 0, 1>, Step<Primitive::exp, 2>,
            Reduce<Reduction::sum, 3>, Step<Primitive::divide, 3, 4>, Out<float, 5>>;
// (x - mean) / sqrt(variance + epsilon) * weight + bias; 4: 1 / length, 5: epsilon
using LayerNorm = Program<Along<float>, Along<float>, Along<float>, Immediate<float>, Immediate<float>,
                          Reduce<Reduction::sum, 0>, Step<Primitive::multiply, 5, 3>, Step<Primitive::subtract, 0, 6>,
                          Step<Primitive::square, 7>, Reduce<Reduction::sum, 8>, Step<Primitive::multiply, 9, 3>,
                          Step<Primitive::add, 10, 4>, Step<Primitive::rsqrt, 11>, Step<Primitive::multiply, 7, 12>,
                          Step<Primitive::fma, 13, 1, 2>, Out<float, 14>>;

} // namespace

void launch_row_programs(const gpu::Queue<CudaRuntime>& queue, const kernel::Grid& grid,
                         const kernel::Operand* operands, int which) {
  if (which == 0) kernel::gpu::run_row_program(Sum{}, queue, grid, operands);
  if (which == 1) kernel::gpu::run_row_program(Softmax{}, queue, grid, operands);
  if (which == 2) kernel::gpu::run_row_program(LayerNorm{}, queue, grid, operands);
}
