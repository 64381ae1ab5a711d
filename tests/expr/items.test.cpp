// SPDX-License-Identifier: Apache-2.0
//
// Expressions of one element as numbers: read in their own statement, on every kind of device, with the element type of the
// expression. What must not compile is in tests/misuse.

#include "tests/support/late_device.hpp"

#include <twill/expr.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <utility>

using namespace twill;
using twill::test::Late;

namespace {

template <class D> auto three(D device) { return tensor({1.5F, -2.F, 4.F}).to(device); }

template <class E>
concept ImplicitNumber = std::is_convertible_v<E, typename E::value_type>;

} // namespace

TEMPLATE_TEST_CASE("a full reduction is read as a number in its own statement", "[expr]", Cpu, Late) {
  const auto a = three(TestType{1});
  const auto b = tensor({2.F, 3.F, 0.5F}).to(TestType{1});
  CHECK(max(a).item() == 4);
  CHECK(min(a * b).item() == -6);
  CHECK(sum(a * b).item() == -1);
  CHECK(argmax(a).item() == 2);
  CHECK((sum(a) * 2 + max(b)).item() == 10);
  CHECK(matmul(a, b).item() == -1);
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", static_cast<double>(sum(a * b).item()));
  CHECK(std::string(text) == "-1.00");
}

TEST_CASE("the number has the element type of the expression", "[expr]") {
  const auto a = three(Cpu{0});
  const auto whole = tensor({1, 2, 3});
  static_assert(std::is_same_v<decltype(sum(a).item()), float>);
  static_assert(std::is_same_v<decltype(argmin(a).item()), std::int64_t>);
  static_assert(std::is_same_v<decltype(any(a > 3).item()), bool>);
  static_assert(std::is_same_v<decltype(sum(whole).item()), std::int64_t>);
  CHECK(static_cast<float>(sum(a)) == 3.5F);
  CHECK(static_cast<std::int64_t>(sum(whole)) == 6);
}

TEST_CASE("a comparison of numbers decides a condition", "[expr]") {
  const auto a = three(Cpu{0});
  bool taken = false;
  if (any(a > 3)) taken = true;
  CHECK(taken);
  if (sum(a) > 3.6 || all_of(a > 0)) taken = false;
  CHECK(taken);
}

TEST_CASE("an expression does not become a number by itself", "[expr]") {
  const auto a = three(Cpu{0});
  using Total = decltype(sum(a));
  static_assert(!ImplicitNumber<Total>);
  static_assert(std::is_constructible_v<float, Total>);
  static_assert(!std::is_constructible_v<float, decltype(a + a)>, "three elements are no number");
  static_assert(!std::is_convertible_v<Total, bool>, "a sum is no condition; tests/misuse has the sentence");
  const Tensor<float, Cpu, Shape<>> total = sum(a); // still a tensor where one is asked for
  const Tensor again(sum(a) * 2);
  CHECK(total.item() == 3.5F);
  CHECK(again.item() == 7);
}

TEST_CASE("one element of any rank has an item, its extents may be known only at run time", "[expr]") {
  const auto a = three(Cpu{0});
  CHECK(sum(a, keepdims).item() == 3.5F);
  const auto one = full<float, Shape<dyn, dyn>>(Dims(1, 1), 3);
  CHECK((one + 1).item() == 4);
  const auto two = full<float, Shape<dyn, dyn>>(Dims(1, 2), 3);
  CHECK_THROWS_AS((two + 1).item(), ShapeError);
  CHECK_THROWS_AS(max(full<float, Shape<dyn>>(Dims(0), 3)).item(), ValueError);
}

TEST_CASE("a stored lazy expression is read again and again", "[expr]") {
  auto a = three(Cpu{0});
  const auto total = lazy(sum(a * a));
  CHECK(total.item() == Approx(22.25));
  a.fill(1);
  CHECK(total.item() == 3);
  CHECK(static_cast<float>(total) == 3);
}

TEST_CASE("reading a number leaves no memory behind", "[expr][MEM-4]") {
  const auto a = three(Cpu{0});
  const auto before = memory_allocated(Cpu{0});
  for (int i = 0; i < 10; ++i) CHECK(sum(a + i).item() == 3.5F + 3 * static_cast<float>(i));
  CHECK(memory_allocated(Cpu{0}) == before);
}
