// SPDX-License-Identifier: Apache-2.0
//
// What a program consists of, how it prints, and how often each operand is passed over.

#define TWILL_COUNT_ACCESS ::twill::test::CountAccess
#include "tests/support/traffic.hpp"

#include "harness.hpp"

#include <twill/kernel/coalesce.hpp>
#include <twill/kernel/print.hpp>

#include <catch2/catch.hpp>

using namespace kernel_test;

namespace {

// lines that no other test file has: counting code must not meet other code for the same program
using Chain = Program<Along<double>, Along<double>, Shared<double>, Step<Primitive::multiply, 0, 1>,
                      Step<Primitive::add, 3, 2>, Step<Primitive::negate, 4>, Out<double, 5>>;
using Mean = Program<Along<double>, Immediate<double>, Reduce<Reduction::sum, 0>, Step<Primitive::multiply, 2, 1>,
                     Step<Primitive::negate, 3>, Out<double, 4>>;

} // namespace

TEST_CASE("a fused program is described as a value and printed line by line", "[kernel]") {
  constexpr auto summary = describe(Chain{});
  STATIC_REQUIRE(summary.fault == -1);
  STATIC_REQUIRE(summary.leaves == 3);
  STATIC_REQUIRE(summary.outputs == 1);
  STATIC_REQUIRE(summary.steps == 3);
  STATIC_REQUIRE(summary.shape == KernelShape::elementwise);
  STATIC_REQUIRE(describe(Mean{}).shape == KernelShape::row);
  STATIC_REQUIRE(describe(Program<Along<float>, Along<double>, Step<Primitive::add, 0, 1>>{}).fault == 2);
  STATIC_REQUIRE(describe(Program<Along<float>, Reduce<Reduction::sum, 0>, ReduceColumns<Reduction::sum, 0>>{}).mixed);
  STATIC_REQUIRE(!describe(Mean{}).mixed);
  CHECK(to_string(Chain{}) == "elementwise kernel: 3 leaves, 3 steps, 0 reductions, 1 outputs\n"
                              "  %0 = in #0 contiguous : float64\n"
                              "  %1 = in #1 contiguous : float64\n"
                              "  %2 = in #2 uniform : float64 uniform\n"
                              "  %3 = multiply %0 %1 : float64\n"
                              "  %4 = add %3 %2 : float64\n"
                              "  %5 = negate %4 : float64\n"
                              "  %6 = out #3 %5 : float64\n");
}

TEST_CASE("a fused program passes once over each operand", "[kernel]") {
  twill::test::access_counts().clear();
  const Bound<Chain> chain{Dims(7, 101), 1};
  run(Chain{}, Threads{2}, Dims(7, 101), chain.operands.data());
  CHECK(twill::test::access_counts().loads[0] == 707);
  CHECK(twill::test::access_counts().loads[1] == 707);
  CHECK(twill::test::access_counts().stores[3] == 707);
  twill::test::access_counts().clear();
  const Bound<Mean> mean{Dims(7, 101), 1};
  run(Mean{}, Threads{2}, Dims(7, 101), mean.operands.data());
  CHECK(twill::test::access_counts().loads[0] == 707);
  CHECK(twill::test::access_counts().stores[2] == 7);
}

TEST_CASE("dimensions that all operands walk alike become one", "[kernel]") {
  Operand operands[] = {{nullptr, 0, {12, 4, 1}}, {nullptr, 0, {12, 4, 1}}};
  Grid grid(2, 3, 4);
  coalesce(grid, operands, 2, false);
  CHECK(grid == Dims(24));
  CHECK(operands[0].strides[0] == 1);

  Operand rows[] = {{nullptr, 0, {12, 4, 1}}, {nullptr, 0, {3, 1, 0}}};
  Grid kept(2, 3, 4);
  coalesce(kept, rows, 2, true);
  CHECK(kept == Dims(6, 4));
  CHECK(rows[1].strides[0] == 1);

  Operand broadcast[] = {{nullptr, 0, {12, 4, 1}}, {nullptr, 0, {0, 4, 1}}};
  Grid apart(2, 3, 4);
  coalesce(apart, broadcast, 2, false);
  CHECK(apart == Dims(2, 12));

  Operand ones[] = {{nullptr, 0, {5, 5, 1, 1}}};
  Grid one(1, 1, 5, 1);
  coalesce(one, ones, 1, false);
  CHECK(one.elements() == 5);
}
