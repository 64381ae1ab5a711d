#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Programs of most networks in float32: layers with a bias and ReLU, cross entropy over labels, SGD and Adam. The
// compiled library holds their tables, so that a model compiles none of them. compile/passes/lower.hpp makes exactly
// these of such layers, as tests/training/common_programs.test.cpp checks. Read next: kernel/program.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/tabulate.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// The programs, named by their result.
struct CommonPrograms {
  using Each = In<float, Access::contiguous>;
  using One = In<float, Access::uniform>; ///< for the whole row
  using Number = Immediate<float>;
  using P = Primitive;
  template <int Value> using Stored = Out<float, Value>;

  /// relu(x + bias)
  using BiasRelu = Program<Each, Each, Step<P::add, 0, 1>, Number, Step<P::maximum, 2, 3>, Stored<4>>;
  /// The gradient that relu passes back, and its sums down the columns: the gradient of the bias.
  using BiasReluGradient = Program<Each, Number, Step<P::greater, 0, 1>, Each, Step<P::where, 2, 3, 1>,
                                   ReduceColumns<Reduction::sum, 4>, Stored<4>, Stored<5>>;
  using ColumnSums = Program<Each, ReduceColumns<Reduction::sum, 0>, Stored<1>>;
  /// The mean of the losses.
  using MeanLoss = Program<Each, Reduce<Reduction::sum, 0>, Number, Step<P::multiply, 1, 2>, One,
                           Step<P::multiply, 3, 4>, Stored<5>>;
  using Sgd = Program<Each, One, Each, One, Step<P::multiply, 3, 0>, Step<P::add, 2, 4>, Step<P::multiply, 1, 5>,
                      Step<P::subtract, 0, 6>, Stored<7>>;
  using Adam =
      Program<One, Each, Step<P::multiply, 0, 1>, One, Each, One, Each, Step<P::multiply, 5, 6>, Step<P::add, 4, 7>,
              Step<P::multiply, 3, 8>, Step<P::add, 2, 9>, One, Each, Step<P::multiply, 11, 12>, One,
              Step<P::multiply, 8, 8>, Step<P::multiply, 14, 15>, Step<P::add, 13, 16>, One, Step<P::multiply, 18, 10>,
              Step<P::sqrt, 17>, One, Step<P::multiply, 20, 21>, One, Step<P::add, 22, 23>, Step<P::divide, 19, 24>,
              Step<P::subtract, 6, 25>, Stored<10>, Stored<17>, Stored<26>>;
  using AdamW = Program<One, Each, Step<P::multiply, 0, 1>, One, Each, Step<P::multiply, 3, 4>, Step<P::add, 2, 5>, One,
                        Each, Step<P::multiply, 7, 8>, One, Step<P::multiply, 4, 4>, Step<P::multiply, 10, 11>,
                        Step<P::add, 9, 12>, Each, One, Step<P::multiply, 14, 15>, One, Step<P::multiply, 17, 6>,
                        Step<P::sqrt, 13>, One, Step<P::multiply, 19, 20>, One, Step<P::add, 21, 22>,
                        Step<P::divide, 18, 23>, Step<P::subtract, 16, 24>, Stored<6>, Stored<13>, Stored<25>>;
  /// The losses of x + bias and labels, and the gradient of their mean.
  using CrossEntropy =
      Program<In<std::int64_t, Access::uniform>, Immediate<std::int64_t>, Step<P::greater_equal, 0, 1>,
              Immediate<std::int64_t>, Step<P::less, 0, 3>, Step<P::logical_and, 2, 4>, Each, Each, Step<P::add, 6, 7>,
              Reduce<Reduction::max, 8>, Step<P::subtract, 8, 9>, Step<P::exp, 10>, Reduce<Reduction::sum, 11>,
              Step<P::log, 12>, Iota, Step<P::equal, 0, 14>, Number, Step<P::where, 15, 8, 16>,
              Reduce<Reduction::sum, 17>, Step<P::subtract, 18, 9>, Step<P::subtract, 13, 19>, Number,
              Step<P::where, 5, 20, 21>, One, Number, Step<P::multiply, 23, 24>, Step<P::where, 5, 25, 16>,
              Step<P::negate, 26>, Step<P::where, 15, 27, 16>, Step<P::divide, 26, 12>, Step<P::multiply, 29, 11>,
              Step<P::add, 28, 30>, Stored<22>, Stored<31>>;
};

#if !TWILL_HEADER_ONLY
TWILL_INSTANCE template struct TableOf<CommonPrograms::BiasRelu>;
TWILL_INSTANCE template struct TableOf<CommonPrograms::BiasReluGradient>;
TWILL_INSTANCE template struct TableOf<CommonPrograms::ColumnSums>;
TWILL_INSTANCE template struct TableOf<CommonPrograms::MeanLoss>;
TWILL_INSTANCE template struct TableOf<CommonPrograms::Sgd>;
TWILL_INSTANCE template struct TableOf<CommonPrograms::Adam>;
TWILL_INSTANCE template struct TableOf<CommonPrograms::AdamW>;
TWILL_INSTANCE template struct TableOf<CommonPrograms::CrossEntropy>;
#endif

}}}} // namespace twill::v0::kernel::TWILL_ISA
