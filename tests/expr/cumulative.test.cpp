// SPDX-License-Identifier: Apache-2.0
//
// Cumulative functions, differences and integrals against loops: along every axis, over all elements, of strided views and
// expressions, of every element type; and the bits of long rows for any number of threads.

#include "tests/kernel/harness.hpp"
#include "tests/support/numbers.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/expr.hpp>
#include <twill/kernel/scan.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

using namespace twill;
using twill::test::numbers;

namespace {

/// The running combination of row-major values along an axis.
template <class F> std::vector<double> running(std::vector<double> values, const Dims& shape, int axis, F combine) {
  const Dims strides = contiguous_strides(shape);
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    if (i / strides[axis] % shape[axis] != 0)
      values[static_cast<std::size_t>(i)] =
          combine(values[static_cast<std::size_t>(i - strides[axis])], values[static_cast<std::size_t>(i)]);
  return values;
}
double plus(double a, double b) { return a + b; }
double times(double a, double b) { return a * b; }
double larger_of(double a, double b) { return std::max(a, b); }
double smaller_of(double a, double b) { return std::min(a, b); }
double log_plus(double a, double b) { return std::log(std::exp(a) + std::exp(b)); }

void check(const std::vector<double>& found, const std::vector<double>& expected, double epsilon = 1e-12) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).epsilon(epsilon).margin(epsilon));
}
template <int Axis, class X> void check_axis(const X& x) {
  check(numbers(cumsum<Axis>(x)), running(numbers(x), x.shape(), Axis, plus));
  check(numbers(cumprod<Axis>(x)), running(numbers(x), x.shape(), Axis, times));
  check(numbers(cummax<Axis>(x)), running(numbers(x), x.shape(), Axis, larger_of));
  CHECK(cumsum<Axis>(x).shape() == x.shape());
}
} // namespace

TEST_CASE("sums, products and extremes run along every axis", "[expr]") {
  const auto x = randn<double, Shape<3, 7, 67>>();
  check_axis<0>(x);
  check_axis<1>(x);
  check_axis<2>(x);
  check_axis<1>(x.permute<2, 0, 1>());
  check_axis<2>(x(all, slice{.step = -3}, slice{1, {}, 2}));
  check(numbers(cummin<-1>(x)), running(numbers(x), x.shape(), 2, smaller_of));
  check(numbers(logcumsumexp<1>(x)), running(numbers(x), x.shape(), 1, log_plus));
  check(numbers(cumsum<0>(x * 2 + 1)), running(numbers(eval(x * 2 + 1)), x.shape(), 0, plus));
  check(numbers(cumsum(x)), running(numbers(x), Dims(x.elements()), 0, plus), 1e-10);
  static_assert(decltype(cumsum(x))::rank == 1);
  CHECK(cumsum<0>(zeros<float, Shape<0, 3>>()).elements() == 0);
  CHECK(cumsum<1>(zeros<float, Shape<3, 0>>()).elements() == 0);
  CHECK(cumsum(scalar(3.F)).item() == 3);
}

TEMPLATE_TEST_CASE("running sums of every element type", "[expr]", bool, std::uint8_t, std::int32_t, std::int64_t, half,
                   bfloat16, float) {
  const auto x = eval(cast<TestType>(arange(35).reshape<Shape<5, 7>>() % 3));
  static_assert(std::is_same_v<typename decltype(cumsum<1>(x))::value_type, sum_t<TestType>>);
  static_assert(std::is_same_v<typename decltype(cummax<1>(x))::value_type, TestType>);
  check(numbers(cumsum<1>(x)), running(numbers(x), x.shape(), 1, plus));
  check(numbers(cumsum<0>(x)), running(numbers(x), x.shape(), 0, plus));
  check(numbers(cummax<1>(x)), running(numbers(x), x.shape(), 1, larger_of));
}

TEST_CASE("NaN stays in running extremes and sums, infinities in log-sum-exp", "[expr]") {
  constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto x = numbers(cummax(tensor({1.0, nan_value, 5.0})));
  CHECK(x[0] == 1);
  CHECK((std::isnan(x[1]) && std::isnan(x[2])));
  CHECK(numbers(logcumsumexp(tensor({-infinite, -infinite, 0.0, infinite}))) ==
        std::vector<double>{-infinite, -infinite, 0, infinite});
  CHECK(numbers(logcumsumexp(tensor({1000.0, 1000.0})))[1] == Approx(1000 + std::log(2.0)));
}

TEST_CASE("a long running sum has the same bits for any number of threads", "[expr]") {
  std::mt19937 random{twill::test::test_seed()};
  std::uniform_real_distribution<float> uniform{-1, 1};
  std::vector<float> from(3'000'017);
  for (float& x : from) x = uniform(random);
  const auto count = static_cast<std::int64_t>(from.size());
  const auto scan = [&](const kernel::ScanShape& shape, int threads) {
    std::vector<float> to(from.size());
    kernel::scan<kernel::Running<kernel::Reduction::sum>>(kernel_test::Threads{threads}, from.data(), to.data(), shape);
    return to;
  };
  for (const kernel::ScanShape shape : {kernel::ScanShape{1, count, 1}, kernel::ScanShape{2, count / 2, 1},
                                        kernel::ScanShape{11, count / 11, 1}, kernel::ScanShape{3, count / 300, 100}}) {
    const std::vector<float> one = scan(shape, 1);
    for (const int threads : {2, 3}) {
      const std::vector<float> many = scan(shape, threads);
      CHECK(std::memcmp(one.data(), many.data(), one.size() * sizeof(float)) == 0);
    }
  }
  double sum = 0, worst = 0;
  const std::vector<float> found = scan({1, count, 1}, 3);
  for (std::size_t i = 0; i < from.size(); ++i) {
    sum += static_cast<double>(from[i]);
    worst = std::max(worst, std::abs(sum - static_cast<double>(found[i])));
  }
  CHECK(worst < 1e-2);
}

TEST_CASE("neighbours differ, and integrals add their means", "[expr]") {
  const auto x = randn<double, Shape<4, 6>>();
  const Tensor rows = diff<0>(x);
  const Tensor columns = diff(x * 2);
  CHECK(rows.shape() == Dims(3, 6));
  CHECK(columns.shape() == Dims(4, 5));
  CHECK(rows(1, 2).item() == Approx(x(2, 2).item() - x(1, 2).item()));
  CHECK(columns(3, 4).item() == Approx(2 * (x(3, 5).item() - x(3, 4).item())));
  CHECK(numbers(diff(tensor({1, 4, 9, 16}), 2)) == std::vector<double>{2, 2});
  CHECK(numbers(diff(tensor({1, 4, 9}), 0)) == std::vector<double>{1, 4, 9});
  CHECK(numbers(diff(tensor({true, true, false}))) == std::vector<double>{0, 1});
  CHECK(diff(tensor({1.F})).elements() == 0);
  CHECK(ediff1d(x).elements() == 23);
  CHECK_THROWS_AS(diff(x, -1), ValueError);
  CHECK(trapezoid(tensor({1.0, 2.0, 4.0})).item() == Approx(4.5));
  CHECK(trapezoid(tensor({1.0, 2.0, 4.0}), 2.0).item() == Approx(9));
  CHECK(trapezoid(tensor({1.0, 2.0, 4.0}), tensor({0.0, 1.0, 3.0})).item() == Approx(7.5));
  const auto along = trapezoid<0>(x, tensor({0.0, 1.0, 3.0, 4.0}));
  CHECK(along.shape() == Dims(6));
  CHECK(along[1].item() == Approx((x(0, 1).item() + x(1, 1).item()) / 2 + x(1, 1).item() + x(2, 1).item() +
                                  (x(2, 1).item() + x(3, 1).item()) / 2));
}
