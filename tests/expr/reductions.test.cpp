// SPDX-License-Identifier: Apache-2.0
//
// Reductions against naive loops: all axes, some, middle ones, of contiguous, transposed, sliced and broadcast operands, of
// every element type, of nothing; and what they are fused with.

#include "tests/support/axis_groups.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

using namespace twill;
using expr::Form;
using expr::form_of;
using twill::test::axis_groups;
using twill::test::numbers;

namespace {

double sum_of(const std::vector<double>& v) {
  double total = 0;
  for (const double x : v) total += x;
  return total;
}
double mean_of(const std::vector<double>& v) { return sum_of(v) / static_cast<double>(v.size()); }
double var_of(const std::vector<double>& v) {
  double total = 0;
  for (const double x : v) total += (x - mean_of(v)) * (x - mean_of(v));
  return total / static_cast<double>(v.size());
}
double prod_of(const std::vector<double>& v) {
  double total = 1;
  for (const double x : v) total *= x;
  return total;
}
double max_of(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }
double argmax_of(const std::vector<double>& v) {
  return static_cast<double>(std::max_element(v.begin(), v.end()) - v.begin());
}

template <class R, class F> void check(const R& result, const std::vector<std::vector<double>>& expected, F reference) {
  const auto found = numbers(eval(R(result)));
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(reference(expected[i])).margin(1e-12));
}

/// The sum over one set of axes.
template <int... Axes, class X> void check_sum(const X& x) {
  constexpr unsigned mask = expr::axes_mask<X::rank, Axes...>();
  check(sum<Axes...>(lazy(+x)), axis_groups(x, mask), sum_of);
  CHECK(sum<Axes...>(x, keepdims).shape() == expr::reduced_dims(x.shape(), mask, expr::Rest::kept));
}
} // namespace

TEST_CASE("reductions over any axes agree with loops", "[expr]") {
  const auto x = randn<double, Shape<5, 3, 17>>();
  check_sum<>(x);
  check_sum<0>(x);
  check_sum<1>(x);
  check_sum<-1>(x);
  check_sum<0, 1>(x);
  check_sum<1, 2>(x);
  check_sum<0, 2>(x);
  check(mean(lazy(+x)), axis_groups(x, 7), mean_of);
  check(mean<1>(lazy(+x)), axis_groups(x, 2), mean_of);
  check(max<0, 2>(lazy(+x)), axis_groups(x, 5), max_of);
  check(max<0>(lazy(+x)), axis_groups(x, 1), max_of);
  check(var<2>(lazy(+x)), axis_groups(x, 4), var_of);
  check(var<0, 1>(lazy(+x)), axis_groups(x, 3), var_of);
  const auto open = randn<double, Shape<dyn, dyn, dyn>>(Dims(3, 17, 5));
  const auto check_views = [](const auto& view) {
    check(sum(lazy(+view)), axis_groups(view, 7), sum_of);
    check(sum<0>(lazy(+view)), axis_groups(view, 1), sum_of);
    check(sum<2>(lazy(+view)), axis_groups(view, 4), sum_of);
    check(sum<0, 2>(lazy(+view)), axis_groups(view, 5), sum_of);
    check(var<1, 2>(lazy(+view)), axis_groups(view, 6), var_of);
  };
  check_views(open.transpose());
  check_views(open(all, slice{.step = -2}, slice{1, 5}));
}

TEST_CASE("reductions of broadcast operands agree with loops", "[expr]") {
  const auto a = randn<double, Shape<4, 1, 9>>();
  const auto b = randn<double, Shape<3, 1>>();
  const Tensor c = a * b + 1;
  CHECK(numbers(eval(sum<0, 1>(a * b + 1))).at(3) == Approx(numbers(eval(sum<0, 1>(c))).at(3)));
  check(sum(lazy(a * b + 1)), axis_groups(c, 7), sum_of);
  check(sum<2>(lazy(a * b + 1)), axis_groups(c, 4), sum_of);
  check(mean<1, 2>(lazy(a * b + 1)), axis_groups(c, 6), mean_of);
  check(max<0, 2>(lazy(a * b + 1)), axis_groups(c, 5), max_of);
  check(prod<1>(lazy(a * b + 1)), axis_groups(c, 2), prod_of);
}

TEST_CASE("argmax and argmin find the first, NaN before all", "[expr]") {
  const auto x = randn<float, Shape<4, 5, 6>>();
  check(argmax<2>(lazy(+x)), axis_groups(x, 4), argmax_of);
  check(argmax<1>(lazy(+x)), axis_groups(x, 2), argmax_of);
  check(argmax<0>(lazy(+x)), axis_groups(x, 1), argmax_of);
  check(argmax(lazy(+x)), axis_groups(x, 7), argmax_of);
  check(argmax(lazy(+x.transpose())), axis_groups(x.transpose(), 7), argmax_of);
  CHECK(eval(argmin(tensor({3, 1, 2, 1}))).item() == 1);
  CHECK(eval(argmax(tensor({false, true, true}))).item() == 1);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(eval(argmax(tensor({3.F, nan, 9.F, nan}))).item() == 1);
  CHECK(std::isnan(eval(max(tensor({3.F, nan, 9.F}))).item()));
  CHECK(std::isnan(eval(min(tensor({3.F, nan, 9.F}))).item()));
}

TEMPLATE_TEST_CASE("every element type is reduced", "[expr]", bool, std::uint8_t, std::int32_t, std::int64_t, half,
                   bfloat16, float, double) {
  const auto x = cast<TestType>(arange(12).reshape<Shape<3, 4>>() % 2);
  const auto y = eval(lazy(x));
  const auto total = eval(sum(y));
  static_assert(std::is_same_v<typename decltype(total)::value_type, sum_t<TestType>>);
  CHECK(static_cast<double>(total.item()) == 6);
  CHECK(numbers(eval(sum<0>(y))) == std::vector<double>{0, 3, 0, 3});
  CHECK(numbers(eval(max<1>(y))) == std::vector<double>{1, 1, 1});
  CHECK(numbers(eval(mean<0>(y))) == std::vector<double>{0, 1, 0, 1});
  CHECK(numbers(eval(any<0>(y))) == std::vector<double>{0, 1, 0, 1});
  CHECK_FALSE(eval(all(y)).item());
}

TEST_CASE("means of half do not overflow on the way", "[expr]") {
  const auto x = full<half, Shape<4096, 3>>(half(1000));
  CHECK(numbers(eval(mean<0>(x))) == std::vector<double>{1000, 1000, 1000});
  CHECK(static_cast<float>(eval(mean(x)).item()) == 1000);
}

TEST_CASE("nothing sums to 0, multiplies to 1 and has no greatest element", "[expr]") {
  const auto none = zeros<float, Shape<0, 3>>();
  CHECK(numbers(eval(sum<0>(none))) == std::vector<double>{0, 0, 0});
  CHECK(numbers(eval(prod<0>(none))) == std::vector<double>{1, 1, 1});
  CHECK(eval(sum(none)).item() == 0);
  CHECK(eval(sum<1>(none)).elements() == 0);
  CHECK(std::isnan(eval(mean(none)).item()));
  CHECK_THROWS_AS(eval(max<0>(none)), ValueError);
  CHECK_THROWS_AS(eval(argmin(none)), ValueError);
  CHECK_THROWS_AS(eval(max(none)), ValueError);
  const Tensor<float, Cpu, Shape<dyn, dyn>> no_columns = arange(0).to<float>().reshape(3, 0);
  const Tensor<float, Cpu, Shape<dyn, dyn>> no_rows = arange(0).to<float>().reshape(0, 3);
  // as NumPy: of rows without elements, also where they leave nothing to compute; not of no rows
  CHECK_THROWS_WITH(eval(no_columns - max<1>(no_columns, keepdims)),
                    "max: the reduced axes of shape (3, 0) hold no elements");
  CHECK_THROWS_AS(eval(exp(no_columns) / (1 + min<1>(no_columns, keepdims))), ValueError);
  CHECK(eval(max<1>(no_rows)).elements() == 0);
  CHECK(eval(no_rows - max<1>(no_rows, keepdims)).elements() == 0);
  CHECK(eval(softmax<1>(no_columns)).elements() == 0);
}

TEST_CASE("a single number is its own sum, mean and maximum", "[expr]") {
  const auto s = scalar(3.F);
  CHECK(eval(sum(s) + mean(s) + max(s)).item() == 9);
  CHECK(eval(argmax(s)).item() == 0);
}

TEST_CASE("softmax, layer norm and a norm are one kernel each", "[expr]") {
  const auto x = randn<double, Shape<dyn, 19>>(Dims(7, 19));
  const auto softmax = lazy(exp(x - max<1>(x, keepdims)) / sum<1>(exp(x - max<1>(x, keepdims)), keepdims));
  static_assert(form_of<std::remove_const_t<decltype(softmax)>>() == Form::rows);
  for (const double total : numbers(eval(sum<1>(eval(softmax))))) CHECK(total == Approx(1));
  const auto normalized = lazy((x - mean<1>(x, keepdims)) * rsqrt(var<1>(x, keepdims) + 1e-5));
  static_assert(form_of<std::remove_const_t<decltype(normalized)>>() == Form::rows);
  for (const double mean_value : numbers(eval(mean<1>(eval(normalized))))) CHECK(mean_value == Approx(0).margin(1e-12));
  for (const double variance : numbers(eval(var<1>(eval(normalized))))) CHECK(variance == Approx(1).margin(1e-3));
  const auto norm = lazy(sqrt(sum(square(x))));
  static_assert(form_of<std::remove_const_t<decltype(norm)>>() == Form::totals);
  CHECK(eval(norm).item() == Approx(std::sqrt(sum_of(numbers(eval(square(x)))))));
  const auto loss = lazy(mean(square(x - x[0])));
  static_assert(form_of<std::remove_const_t<decltype(loss)>>() == Form::totals);
}

TEST_CASE("reductions of different axes meet in one statement", "[expr]") {
  const auto x = randn<double, Shape<6, 5>>();
  const Tensor centred = x - mean<0>(x) - mean<1>(x, keepdims) + mean(x);
  for (const double m : numbers(eval(mean<0>(centred)))) CHECK(m == Approx(0).margin(1e-12));
  for (const double m : numbers(eval(mean<1>(centred)))) CHECK(m == Approx(0).margin(1e-12));
  const Tensor nested = sum<0>(x / sum<1>(x * x, keepdims));
  const auto squares = numbers(eval(sum<1>(x * x)));
  double expected = 0;
  for (int i = 0; i < 6; ++i) expected += x(i, 2).item() / squares[static_cast<std::size_t>(i)];
  CHECK(nested[2].item() == Approx(expected));
  const auto open = eval(x * 1).reshape(6, 5);
  CHECK(eval(max(open - mean(open))).item() == Approx(max_of(numbers(x)) - mean_of(numbers(x))));
}

TEST_CASE("an extent of one that the types hide is refused, not miscounted", "[expr]") {
  const auto column = ones<float, Shape<dyn, dyn>>(Dims(3, 1));
  const auto matrix = ones<float, Shape<dyn, dyn>>(Dims(3, 4));
  CHECK_THROWS_AS(eval(sum<1>(column, keepdims) * matrix), ShapeError);
  CHECK(numbers(eval(sum<1>(matrix, keepdims) * matrix)) == std::vector<double>(12, 4));
}
