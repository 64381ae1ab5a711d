// SPDX-License-Identifier: Apache-2.0
//
// Interpreted programs beside compiled ones, bit for bit: every shape, type, access and primitive, rows of all lengths, and
// teams of several threads.

#include "interpret_harness.hpp"

using namespace interpret_test;

namespace {

using enum twill::kernel::Primitive;

using Chain = Program<Along<float>, Along<float>, Along<float>, Along<float>, Step<multiply, 0, 1>, Step<add, 4, 2>,
                      Step<Primitive::tanh, 5>, Step<multiply, 6, 3>, Immediate<float>, Step<multiply, 8, 0>,
                      Step<subtract, 7, 9>, Out<float, 10>>;
using Mixed = Program<Along<float>, Apart<float>, Shared<float>, Immediate<float>, Step<add, 0, 1>,
                      Step<multiply, 4, 2>, Step<maximum, 5, 3>, Out<float, 6>, Out<float, 4>>;
template <class T>
using Softmax = Program<Along<T>, Reduce<Reduction::max, 0>, Step<subtract, 0, 1>, Step<Primitive::exp, 2>,
                        Reduce<Reduction::sum, 3>, Step<divide, 3, 4>, Out<T, 5>>;
using SoftmaxAndTerms =
    Program<Along<float>, Reduce<Reduction::max, 0>, Step<subtract, 0, 1>, Step<Primitive::exp, 2>,
            Reduce<Reduction::sum, 3>, Step<divide, 3, 4>, Out<float, 5>, Out<float, 3>, Out<float, 0>, Out<float, 4>>;
template <class T>
using LayerNorm =
    Program<Along<T>, Immediate<T>, Immediate<T>, Along<T>, Along<T>, Reduce<Reduction::sum, 0>, Step<multiply, 5, 1>,
            Step<subtract, 0, 6>, Step<square, 7>, Reduce<Reduction::sum, 8>, Step<square, 1>, Step<multiply, 9, 10>,
            Step<square, 2>, Step<add, 11, 12>, Step<Primitive::abs, 13>, Immediate<T>, Step<Primitive::square, 15>,
            Step<add, 14, 16>, Step<Primitive::rsqrt, 17>, Step<multiply, 7, 18>, Step<multiply, 19, 3>,
            Step<add, 20, 4>, Out<T, 21>, Out<T, 6>, Out<T, 18>>;
using ArgMax = Program<Along<float>, Reduce<Reduction::max, 0>, Step<equal, 0, 1>, Iota, Immediate<std::int64_t>,
                       Step<where, 2, 3, 4>, Reduce<Reduction::min, 5>, Out<std::int64_t, 6>, Out<float, 1>>;
using AnyAll = Program<Along<float>, Immediate<float>, Step<greater, 0, 1>, Reduce<Reduction::any, 2>,
                       Reduce<Reduction::all, 2>, Reduce<Reduction::sum, 0>, Out<bool, 3>, Out<bool, 4>, Out<float, 5>>;
template <class T>
using Extremes = Program<Apart<T>, Reduce<Reduction::max, 0>, Reduce<Reduction::min, 0>, Reduce<Reduction::sum, 0>,
                         Reduce<Reduction::product, 0>, Out<T, 1>, Out<T, 2>, Out<T, 3>, Out<T, 4>>;
using SoftmaxInOrder = Program<Along<float>, Reduce<Reduction::max, 0>, Step<subtract, 0, 1>, Step<Primitive::exp, 2>,
                               ReduceInOrder<Reduction::sum, 3>, Step<divide, 3, 4>, Out<float, 5>>;
using SharedSum =
    Program<Shared<float>, Along<float>, Reduce<Reduction::sum, 0>, Step<multiply, 1, 2>, Out<float, 3>, Out<float, 0>>;
using OneHot = Program<Shared<std::int64_t>, Iota, Step<equal, 0, 1>, Along<float>, Immediate<float>,
                       Step<where, 2, 3, 4>, Cast<float, 2>, Step<add, 5, 6>, Out<float, 7>, Out<bool, 2>>;
using Dropout = Program<Along<float>, Immediate<std::int64_t>, Immediate<std::int64_t>, Immediate<std::int64_t>, Iota,
                        Step<Primitive::random_uniform, 1, 2, 3, 4>, Immediate<float>, Step<less, 5, 6>,
                        Immediate<float>, Step<where, 7, 0, 8>, Out<float, 9>, Out<float, 5>>;
using Draws =
    Program<Immediate<std::int64_t>, Along<std::int64_t>, Iota, Iota, Step<Primitive::random_uniform, 0, 1, 2, 3>,
            Immediate<std::int64_t>, Step<Primitive::random_integer, 0, 1, 5, 3>,
            Step<Primitive::random_integer, 0, 0, 5, 3>, Out<float, 4>, Out<std::int64_t, 6>, Out<std::int64_t, 7>>;
using Fill = Program<Immediate<float>, Shared<float>, Step<add, 0, 1>, Out<float, 2>, Out<float, 0>>;
template <class T> using Copy = Program<Along<T>, Out<T, 0>>;
template <class T>
using ColumnSums = Program<Along<T>, Shared<T>, Step<multiply, 0, 1>, ReduceColumns<Reduction::sum, 2>,
                           ReduceColumns<Reduction::max, 0>, Out<T, 2>, Out<T, 3>, Out<T, 4>>;
template <class T> using ColumnTotals = Program<Along<T>, ReduceColumns<Reduction::sum, 0>, Out<T, 1>>;
using ColumnTruth = Program<Along<bool>, ReduceColumns<Reduction::any, 0>, ReduceColumns<Reduction::all, 0>,
                            Out<bool, 1>, Out<bool, 2>>;
using ColumnsOfAll =
    Program<Apart<half>, Along<double>, Iota, Immediate<std::int64_t>, Step<less, 2, 3>, Cast<double, 0>,
            Step<where, 4, 5, 1>, ReduceColumns<Reduction::sum, 6>, ReduceColumns<Reduction::product, 1>,
            ReduceColumns<Reduction::any, 4>, ReduceColumns<Reduction::min, 3>, Out<double, 7>, Out<double, 8>,
            Out<bool, 9>, Out<std::int64_t, 10>>;
template <class T>
using EachType = Program<Along<T>, Shared<T>, Apart<T>, Step<add, 0, 1>, Step<multiply, 3, 2>, Step<less, 0, 2>,
                         Step<where, 5, 3, 4>, Cast<float, 6>, Cast<double, 4>, Cast<std::int64_t, 0>, Cast<bool, 4>,
                         Cast<std::int32_t, 9>, Out<T, 6>, Out<float, 7>, Out<double, 8>, Out<std::int64_t, 9>,
                         Out<bool, 10>, Out<std::int32_t, 11>, Out<bool, 5>>;
template <class T>
using FromFloats = Program<Along<float>, Along<double>, Along<std::int64_t>, Along<bool>, Cast<T, 0>, Cast<T, 1>,
                           Cast<T, 2>, Cast<T, 3>, Out<T, 4>, Out<T, 5>, Out<T, 6>, Out<T, 7>>;

/// One primitive on all arguments that are its own, and on one that the row shares.
template <Primitive P, class T> auto program_of() {
  using Result = std::conditional_t<info(P).boolean_result, bool, T>;
  if constexpr (info(P).arity == 1)
    return Program<Along<T>, Shared<T>, Step<P, 0>, Step<P, 1>, Out<Result, 2>, Out<Result, 3>>{};
  else
    return Program<Along<T>, Shared<T>, Apart<T>, Step<P, 0, 1>, Step<P, 1, 2>, Step<P, 2, 0>, Step<P, 1, 1>,
                   Out<Result, 3>, Out<Result, 4>, Out<Result, 5>, Out<Result, 6>>{};
}
template <class T, Primitive... P> void check_primitives() {
  const auto check = []<Primitive Q>() {
    CAPTURE(info(Q).name);
    using Program = decltype(program_of<Q, T>());
    for (const std::int64_t n : {1, 17, 1031}) CHECK(agrees<Program>(Dims(2, n)));
  };
  (check.template operator()<P>(), ...);
}

} // namespace

TEST_CASE("interpreted elementwise programs give the bits of compiled ones", "[kernel][interpret]") {
  check_programs<Chain, Mixed, OneHot, Dropout, Draws, Fill, Copy<float>, Copy<half>, Copy<bool>>();
}

TEST_CASE("interpreted row programs give the bits of compiled ones", "[kernel][interpret]") {
  check_programs<Softmax<float>, Softmax<double>, Softmax<half>, SoftmaxAndTerms, LayerNorm<float>, LayerNorm<double>,
                 LayerNorm<bfloat16>, ArgMax, AnyAll, SharedSum, SoftmaxInOrder, Extremes<float>, Extremes<double>,
                 Extremes<half>, Extremes<std::int32_t>, Extremes<std::int64_t>, Extremes<std::uint8_t>>();
}

TEST_CASE("interpreted column programs give the bits of compiled ones", "[kernel][interpret]") {
  check_programs<ColumnSums<float>, ColumnSums<double>, ColumnSums<std::int32_t>, ColumnTotals<float>,
                 ColumnTotals<bfloat16>, ColumnTotals<std::uint8_t>, ColumnTruth, ColumnsOfAll>();
  for (const int threads : {1, 3}) {
    CHECK(agrees<ColumnSums<float>>(Dims(2500, 37), threads));
    CHECK(agrees<ColumnSums<float>>(Dims(50'003, 10), threads));
    CHECK(agrees<ColumnTotals<float>>(Dims(301, 3001), threads));
    CHECK(agrees<ColumnsOfAll>(Dims(1301, 101), threads));
  }
}

TEMPLATE_TEST_CASE("interpreted programs take every type", "[kernel][interpret]", std::int32_t, std::int64_t, half,
                   bfloat16, float, double) {
  check_programs<EachType<TestType>, FromFloats<TestType>>();
}

TEST_CASE("long rows and several threads change no bit of interpreted programs", "[kernel][interpret]") {
  for (const int threads : {1, 2, 3}) {
    CHECK(agrees<Softmax<float>>(Dims(2, 100'003), threads));
    CHECK(agrees<LayerNorm<float>>(Dims(1, 70'001), threads));
    CHECK(agrees<LayerNorm<double>>(Dims(501, 103), threads));
    CHECK(agrees<Chain>(Dims(400'003), threads));
    CHECK(agrees<Extremes<half>>(Dims(2, 40'001), threads));
    CHECK(agrees<ArgMax>(Dims(300'007), threads));
  }
  CHECK(agrees<Mixed>(Dims(3'000'003), 2)); // whose outputs are streamed
}

TEST_CASE("interpreted primitives give the bits of compiled ones", "[kernel][interpret]") {
  check_primitives<float, Primitive::negate, Primitive::abs, Primitive::sign, Primitive::square, Primitive::sqrt,
                   Primitive::rsqrt, Primitive::reciprocal, Primitive::floor, Primitive::ceil, Primitive::round,
                   Primitive::trunc, Primitive::exp, Primitive::expm1, Primitive::exp2, Primitive::log,
                   Primitive::log1p, Primitive::log2, Primitive::log10, Primitive::cbrt, Primitive::sin, Primitive::cos,
                   Primitive::tan, Primitive::asin, Primitive::acos, Primitive::atan, Primitive::sinh, Primitive::cosh,
                   Primitive::tanh, Primitive::asinh, Primitive::acosh, Primitive::atanh, Primitive::erf,
                   Primitive::erfc, Primitive::lgamma, Primitive::digamma, Primitive::tanh_accurate,
                   Primitive::erf_accurate, Primitive::logical_not, Primitive::isnan, Primitive::isinf,
                   Primitive::isfinite, Primitive::add, Primitive::subtract, Primitive::multiply, Primitive::divide,
                   Primitive::floor_divide, Primitive::remainder, Primitive::fmod, Primitive::power, Primitive::maximum,
                   Primitive::minimum, Primitive::atan2, Primitive::hypot, Primitive::copysign, Primitive::nextafter,
                   Primitive::equal, Primitive::not_equal, Primitive::less, Primitive::less_equal, Primitive::greater,
                   Primitive::greater_equal, Primitive::logical_and, Primitive::logical_or, Primitive::logical_xor>();
  check_primitives<double, Primitive::exp, Primitive::log, Primitive::sin, Primitive::tanh, Primitive::erf,
                   Primitive::lgamma, Primitive::divide, Primitive::power, Primitive::remainder, Primitive::maximum,
                   Primitive::less, Primitive::logical_and>();
  check_primitives<std::int32_t, Primitive::negate, Primitive::abs, Primitive::sign, Primitive::square,
                   Primitive::invert, Primitive::add, Primitive::subtract, Primitive::multiply, Primitive::divide,
                   Primitive::floor_divide, Primitive::remainder, Primitive::fmod, Primitive::maximum,
                   Primitive::minimum, Primitive::equal, Primitive::less, Primitive::bitwise_and, Primitive::bitwise_or,
                   Primitive::bitwise_xor, Primitive::left_shift, Primitive::right_shift, Primitive::gcd,
                   Primitive::logical_not, Primitive::isnan>();
  check_primitives<std::int64_t, Primitive::negate, Primitive::multiply, Primitive::floor_divide, Primitive::power,
                   Primitive::maximum, Primitive::less_equal, Primitive::bitwise_xor>();
  check_primitives<std::uint8_t, Primitive::add, Primitive::subtract, Primitive::multiply, Primitive::floor_divide,
                   Primitive::minimum, Primitive::greater, Primitive::bitwise_or>();
  check_primitives<bool, Primitive::logical_not, Primitive::invert, Primitive::add, Primitive::multiply,
                   Primitive::maximum, Primitive::minimum, Primitive::equal, Primitive::not_equal, Primitive::less,
                   Primitive::less_equal, Primitive::greater, Primitive::greater_equal, Primitive::bitwise_and,
                   Primitive::bitwise_or, Primitive::bitwise_xor, Primitive::logical_xor>();
}
