// SPDX-License-Identifier: Apache-2.0
//
// One statement is one pass over memory: a counting build counts every element that a kernel loads or stores. The element
// types and constants are such that no other test of this executable has the same programs, because counting code must not
// meet other code.

#define TWILL_COUNT_ACCESS ::twill::test::CountAccess
#include "tests/support/traffic.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

using namespace twill;
using twill::test::Traffic;
using twill::test::traffic;

namespace {

template <class S> auto values(const Dims& shape) { return full<bfloat16, S>(shape, bfloat16(0.5F)); }

} // namespace

TEST_CASE("an elementwise chain reads each operand once and writes once", "[expr]") {
  const auto a = values<Shape<dyn, dyn>>(Dims(7, 101));
  const auto b = a.clone();
  auto c = a.clone();
  const auto row = values<Shape<dyn>>(Dims(101));
  CHECK(traffic([&] { c = atan(sinh(a * b) + cosh(b)) - expm1(a); }) == Traffic{4 * 707, 707});
  CHECK(traffic([&] { c += atan(sinh(a) * row); }) == Traffic{3 * 707, 707});
  CHECK(traffic([&] { Tensor turned = atan(sinh(a.transpose()) - 3); }) == Traffic{707, 707});
}

TEST_CASE("a reduction and what it reduces read memory once and write only the result", "[expr]") {
  const auto a = values<Shape<dyn, dyn>>(Dims(7, 101));
  const auto b = a.clone();
  CHECK(traffic([&] { Tensor s = sum(atan(sinh(a) * b)); }) == Traffic{2 * 707, 1});
  CHECK(traffic([&] { Tensor s = sum<1>(atan(sinh(a) - b)); }) == Traffic{2 * 707, 7});
  CHECK(traffic([&] { Tensor s = sum<0>(atan(sinh(a) + b)); }) == Traffic{2 * 707, 101});
  CHECK(traffic([&] { Tensor s = sqrt(mean<1>(square(atan(sinh(a))))); }) == Traffic{707, 7});
}
