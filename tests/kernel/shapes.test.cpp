// SPDX-License-Identifier: Apache-2.0
//
// Every kernel shape beside the reference: all sizes that matter to packs, all kinds of access mixed, all element types.

#include "harness.hpp"

#include <catch2/catch.hpp>

using namespace kernel_test;

namespace {

using enum twill::kernel::Primitive;

constexpr double exact = 0.0;
constexpr double few_ulp = 1e-6;

using Chain = Program<Along<float>, Along<float>, Along<float>, Along<float>, Step<multiply, 0, 1>, Step<add, 4, 2>,
                      Step<tanh, 5>, Step<multiply, 6, 3>, Immediate<float>, Step<multiply, 8, 0>, Step<subtract, 7, 9>,
                      Out<float, 10>>;
using Mixed = Program<Along<float>, Apart<float>, Shared<float>, Immediate<float>, Step<add, 0, 1>,
                      Step<multiply, 4, 2>, Step<maximum, 5, 3>, Out<float, 6>, Out<float, 4>>;
using Softmax = Program<Along<float>, Reduce<Reduction::max, 0>, Step<subtract, 0, 1>, Step<exp, 2>,
                        Reduce<Reduction::sum, 3>, Step<divide, 3, 4>, Out<float, 5>>;
template <class T>
using LayerNorm =
    Program<Along<T>, Immediate<T>, Immediate<T>, Along<T>, Along<T>, Reduce<Reduction::sum, 0>, Step<multiply, 5, 1>,
            Step<subtract, 0, 6>, Step<square, 7>, Reduce<Reduction::sum, 8>, Step<square, 1>, Step<multiply, 9, 10>,
            Step<square, 2>, Step<add, 11, 12>, Step<Primitive::abs, 13>, Immediate<T>, Step<Primitive::square, 15>,
            Step<add, 14, 16>, Step<rsqrt, 17>, Step<multiply, 7, 18>, Step<multiply, 19, 3>, Step<add, 20, 4>,
            Out<T, 21>, Out<T, 6>, Out<T, 18>>;
using ArgMax = Program<Along<float>, Reduce<Reduction::max, 0>, Step<equal, 0, 1>, Iota, Immediate<std::int64_t>,
                       Step<where, 2, 3, 4>, Reduce<Reduction::min, 5>, Out<std::int64_t, 6>, Out<float, 1>>;
using ColumnSums = Program<Along<float>, Shared<float>, Step<multiply, 0, 1>, ReduceColumns<Reduction::sum, 2>,
                           ReduceColumns<Reduction::max, 0>, Out<float, 2>, Out<float, 3>, Out<float, 4>>;
template <class T> using Total = Program<Along<T>, Reduce<Reduction::sum, 0>, Out<T, 1>>;
template <class T>
using Largest = Program<Apart<T>, Reduce<Reduction::max, 0>, Reduce<Reduction::min, 0>, Out<T, 1>, Out<T, 2>>;
using AnyAll = Program<Along<float>, Immediate<float>, Step<greater, 0, 1>, Reduce<Reduction::any, 2>,
                       Reduce<Reduction::all, 2>, Out<bool, 3>, Out<bool, 4>>;
using ColumnTruth = Program<Along<bool>, ReduceColumns<Reduction::any, 0>, ReduceColumns<Reduction::all, 0>,
                            Out<bool, 1>, Out<bool, 2>>;
using OneHot = Program<Shared<std::int64_t>, Iota, Step<equal, 0, 1>, Along<float>, Immediate<float>,
                       Step<where, 2, 3, 4>, Cast<float, 2>, Step<add, 5, 6>, Out<float, 7>, Out<bool, 2>>;
using Dropout = Program<Along<float>, Immediate<std::int64_t>, Immediate<std::int64_t>, Immediate<std::int64_t>, Iota,
                        Step<random_uniform, 1, 2, 3, 4>, Immediate<float>, Step<less, 5, 6>, Immediate<float>,
                        Step<where, 7, 0, 8>, Out<float, 9>, Out<float, 5>>;
using Fill = Program<Immediate<float>, Shared<float>, Step<add, 0, 1>, Out<float, 2>, Out<float, 0>>;

// sizes around a pack of any instruction set, primes among them
const std::int64_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 127, 257, 1009};

} // namespace

TEST_CASE("an elementwise chain equals the reference at every size", "[kernel]") {
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    CHECK(difference<Chain>(Dims(n)) <= few_ulp);
    CHECK(difference<Chain>(Dims(3, n), 2) <= few_ulp);
  }
  CHECK(difference<Chain>(Dims{}) <= few_ulp);
}

TEST_CASE("contiguous, uniform, strided and immediate leaves mix in one program", "[kernel]") {
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    CHECK(difference<Mixed>(Dims(n)) <= exact);
    CHECK(difference<Mixed>(Dims(2, 3, n)) <= exact);
    CHECK(difference<Fill>(Dims(4, n)) <= exact);
  }
  CHECK(difference<Mixed>(Dims(0, 5)) <= exact);
}

TEST_CASE("row programs reduce in order and store varying and uniform outputs", "[kernel]") {
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    CHECK(difference<Softmax>(Dims(5, n)) <= few_ulp);
    CHECK(difference<Softmax>(Dims(n)) <= few_ulp);
    if (n > 0) CHECK(difference<LayerNorm<float>>(Dims(2, 2, n), 2) <= 1e-5);
    if (n > 0) CHECK(difference<LayerNorm<double>>(Dims(3, n)) <= 1e-12);
    CHECK(difference<ArgMax>(Dims(3, n)) <= exact);
    CHECK(difference<AnyAll>(Dims(3, n)) <= exact);
    CHECK(difference<Largest<float>>(Dims(3, n)) <= exact);
  }
  CHECK(difference<Softmax>(Dims{}) <= few_ulp);
}

TEST_CASE("column programs reduce the first dimension", "[kernel]") {
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    CHECK(difference<ColumnSums>(Dims(5, n)) <= few_ulp);
    CHECK(difference<ColumnSums>(Dims(n, 3)) <= 1e-5);
    CHECK(difference<ColumnSums>(Dims(19, 2, n), 2) <= 1e-5);
    CHECK(difference<ColumnTruth>(Dims(19, n)) <= exact);
  }
  CHECK(difference<ColumnSums>(Dims(2500, 37), 2) <= 1e-5);
  CHECK(difference<ColumnSums>(Dims(7)) <= few_ulp);
}

TEST_CASE("indices, truth values and random draws vary along the row", "[kernel]") {
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    CHECK(difference<OneHot>(Dims(3, n)) <= exact);
    CHECK(difference<Dropout>(Dims(3, n)) <= exact);
  }
}

TEST_CASE("long rows are reduced in chunks, and the number of threads changes no bit", "[kernel]") {
  CHECK(difference<Total<float>>(Dims(100'003), 2) <= 1e-4);
  CHECK(difference<Softmax>(Dims(2, 40'001), 3) <= few_ulp);
  for (const int threads : {2, 3}) {
    CHECK(same_bits<Total<float>>(Dims(1'000'003), threads));
    CHECK(same_bits<Softmax>(Dims(2, 100'003), threads));
    CHECK(same_bits<LayerNorm<float>>(Dims(1, 70'001), threads));
    CHECK(same_bits<LayerNorm<float>>(Dims(501, 103), threads));
    CHECK(same_bits<Chain>(Dims(100'003), threads));
    CHECK(same_bits<ColumnSums>(Dims(50'003, 10), threads));
    CHECK(same_bits<ColumnSums>(Dims(301, 1009), threads));
  }
}

TEST_CASE("an output may lie where an input lies", "[kernel]") {
  std::vector<float> x(1009), y(1009);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = y[i] = static_cast<float>(i % 13) - 6;
  Operand operands[] = {{x.data(), 0, {1}}, {x.data(), 0, {1}}};
  run(Softmax{}, Threads{1}, Dims(1009), operands);
  Operand expected[] = {{y.data(), 0, {1}}, {y.data(), 0, {1}}};
  std::vector<float> z(1009);
  expected[1].data = z.data();
  run(Softmax{}, Threads{1}, Dims(1009), expected);
  CHECK(x == z);
}
