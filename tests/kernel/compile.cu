// SPDX-License-Identifier: Apache-2.0
//
// Programs of every shape as host code under nvcc: this file only has to compile.

#include <twill/kernel/coalesce.hpp>
#include <twill/kernel/print.hpp>
#include <twill/kernel/product.hpp>
#include <twill/kernel/run.hpp>

namespace {

using namespace twill;
using namespace twill::kernel;

struct Alone {
  [[nodiscard]] int size() const { return 1; }
  template <class F> void parallel(F f) const { f(0, 1); }
};

using X = In<float, Access::contiguous>;
using Elementwise = Program<X, In<float, Access::strided>, Immediate<float>, Step<Primitive::multiply, 0, 1>,
                            Step<Primitive::tanh, 3>, Step<Primitive::add, 4, 2>, Out<float, 5>>;
using Softmax = Program<X, Reduce<Reduction::max, 0>, Step<Primitive::subtract, 0, 1>, Step<Primitive::exp, 2>,
                        Reduce<Reduction::sum, 3>, Step<Primitive::divide, 3, 4>, Out<float, 5>>;
using InOrder = Program<X, ReduceInOrder<Reduction::sum, 0>, Step<Primitive::divide, 0, 1>, Out<float, 2>>;
using ColumnSums =
    Program<In<half, Access::contiguous>, Cast<float, 0>, ReduceColumns<Reduction::sum, 1>, Out<float, 2>>;

} // namespace

void run_all(const Grid& grid, const Operand* operands) {
  run(Elementwise{}, Alone{}, grid, operands);
  run(Softmax{}, Alone{}, grid, operands);
  run(InOrder{}, Alone{}, grid, operands);
  run(ColumnSums{}, Alone{}, grid, operands);
}

void multiply(const float* a, const float* b, float* c) {
  product<float>(Alone{}, false, false, 4, 8, 2, 1.0F, a, 2, b, 8, 0.0F, c, 8);
}
