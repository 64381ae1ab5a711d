// SPDX-License-Identifier: Apache-2.0
//
// Quantiles, percentiles and medians against sorted groups of elements: over every kind of axis, by every method, of
// integers and 16-bit floats, of strided views, of NaN and of nothing.

#include "tests/support/axis_groups.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

using namespace twill;
using twill::test::axis_groups;
using twill::test::largest_difference;
using twill::test::numbers;
using twill::test::reduced_by;

namespace {
/// NumPy's definition on a sorted copy.
double reference(std::vector<double> group, double q, Interpolation method) {
  std::sort(group.begin(), group.end());
  const double at = q * (static_cast<double>(group.size()) - 1);
  const double below = group[static_cast<std::size_t>(std::floor(at))];
  const double above = group[static_cast<std::size_t>(std::ceil(at))];
  switch (method) {
  case Interpolation::lower:
    return below;
  case Interpolation::higher:
    return above;
  case Interpolation::nearest:
    return group[static_cast<std::size_t>(std::nearbyint(at))];
  case Interpolation::midpoint:
    return (below + above) / 2;
  default:
    return below + (above - below) * (at - std::floor(at));
  }
}
auto sorted_at(double q, Interpolation method = Interpolation::linear) {
  return [=](const std::vector<double>& group) { return reference(group, q, method); };
}
} // namespace

TEST_CASE("quantiles over any axes agree with sorted groups", "[expr]") {
  const auto x = randn<double, Shape<4, 5, 9>>();
  for (const double q : {0.0, 0.1, 0.5, 0.77, 1.0}) {
    CHECK(largest_difference(numbers(quantile<2>(x, q)), reduced_by(axis_groups(x, 4), sorted_at(q))) < 1e-12);
    CHECK(largest_difference(numbers(quantile<0>(x, q)), reduced_by(axis_groups(x, 1), sorted_at(q))) < 1e-12);
    CHECK(largest_difference(numbers(quantile<0, 2>(x, q)), reduced_by(axis_groups(x, 5), sorted_at(q))) < 1e-12);
    CHECK(quantile(x * 2, q).item() == Approx(2 * reference(numbers(x), q, Interpolation::linear)));
  }
  const auto view = x.permute<2, 0, 1>()(slice{.step = -2});
  CHECK(largest_difference(numbers(median<0>(view)), reduced_by(axis_groups(view, 1), sorted_at(0.5))) < 1e-12);
  CHECK(largest_difference(numbers(percentile<1>(view, 30)), reduced_by(axis_groups(view, 2), sorted_at(0.3))) < 1e-12);
  CHECK(quantile<1>(x, 0.5, keepdims).shape() == Dims(4, 1, 9));
  CHECK(median<0, 1>(x, keepdims).shape() == Dims(1, 1, 9));
  CHECK(median<1>(x).shape() == Dims(4, 9));
}

TEST_CASE("what lies between two elements is a matter of method", "[expr]") {
  const auto x = randn<double, Shape<7, 12>>();
  for (const auto method : {Interpolation::linear, Interpolation::lower, Interpolation::higher, Interpolation::nearest,
                            Interpolation::midpoint})
    for (const double q : {0.0, 0.25, 0.5, 0.6, 1.0})
      CHECK(largest_difference(numbers(quantile<1>(x, q, method)),
                               reduced_by(axis_groups(x, 2), sorted_at(q, method))) < 1e-12);
  CHECK(quantile(tensor({1.0, 2.0, 3.0, 4.0}), 0.5, Interpolation::nearest).item() == 3); // 1.5 is rounded to even
}

TEST_CASE("all methods of NumPy give its values", "[expr]") {
  struct Row {
    Interpolation method;
    std::vector<double> values; ///< np.quantile(x, q, method=...) of NumPy 2.4
  };
  using enum Interpolation;
  const std::vector<double> q{0, 0.05, 0.1875, 0.25, 0.3125, 0.5, 0.6, 0.9, 1};
  const std::vector<Row> rows{
      {linear, {1, 1.175, 1.65625, 1.875, 2.1875, 3.5, 4.2, 6.9, 9}},
      {inverted_cdf, {1, 1, 1.5, 1.5, 2, 3, 4, 9, 9}},
      {averaged_inverted_cdf, {1, 1, 1.5, 1.75, 2, 3.5, 4, 9, 9}},
      {closest_observation, {1, 1, 1.5, 1.5, 1.5, 3, 4, 6, 9}},
      {interpolated_inverted_cdf, {1, 1, 1.25, 1.5, 1.75, 3, 3.8, 6.6, 9}},
      {hazen, {1, 1, 1.5, 1.75, 2, 3.5, 4.3, 8.1, 9}},
      {weibull, {1, 1, 1.34375, 1.625, 1.90625, 3.5, 4.4, 9, 9}},
      {median_unbiased, {1, 1, 1.4479166666666665, 1.7083333333333333, 1.96875, 3.5, 4.333333333333333, 8.5, 9}},
      {normal_unbiased, {1, 1, 1.4609375, 1.71875, 1.9765625, 3.5, 4.325, 8.4, 9}}};
  const auto x = tensor({3.0, 1.0, 4.0, 1.5, 9.0, 2.0, 6.0, 5.0});
  for (const Row& row : rows)
    for (std::size_t k = 0; k < q.size(); ++k)
      CHECK(quantile(x, q[k], row.method).item() == Approx(row.values[k]).epsilon(1e-12));
}

TEST_CASE("quantiles of what is no NaN", "[expr]") {
  constexpr double gap = std::numeric_limits<double>::quiet_NaN();
  const auto x = from_values<Shape<3, 4>>(std::vector<double>{3, gap, 1, 4, gap, gap, gap, gap, 2, 8, gap, gap});
  const auto rows = to_vector(nanquantile<1>(x, 0.25));
  CHECK(rows[0] == 2);
  CHECK(std::isnan(rows[1]));
  CHECK(rows[2] == 3.5);
  CHECK(to_vector(nanmedian<0>(x)) == std::vector<double>{2.5, 8, 1, 4});
  CHECK(nanpercentile(x, 75).item() == 4);
  CHECK(nanquantile<1>(x, 0.25, keepdims).shape() == Dims(3, 1));
  CHECK(nanquantile(x, 0.5, {}, Interpolation::lower).item() == 3);
  CHECK(nanmedian(tensor({4, 1, 3})).item() == 3); // integers have no NaN
}

TEST_CASE("several quantiles stand along a new first axis", "[expr]") {
  const auto x = randn<double, Shape<6, 11>>();
  const auto q = tensor({0.9, 0.1, 0.5});
  const auto found = quantile<1>(x, q);
  static_assert(std::is_same_v<decltype(found)::shape_type, Shape<3, 6>>);
  for (int k = 0; k < 3; ++k)
    CHECK(largest_difference(numbers(eval(found[k] * 1)), reduced_by(axis_groups(x, 2), sorted_at(q[k].item()))) <
          1e-12);
}

TEMPLATE_TEST_CASE("quantiles of every element type", "[expr]", bool, std::uint8_t, std::int64_t, half, float) {
  const auto x = eval(cast<TestType>(arange(20) % 2));
  static_assert(std::is_same_v<typename decltype(median(x))::value_type, floating_t<TestType>>);
  CHECK(static_cast<double>(static_cast<float>(median(x).item())) == 0.5);
  CHECK(static_cast<double>(static_cast<float>(quantile(x, 0.9).item())) == 1);
}

TEST_CASE("quantiles refuse fractions beyond 1, and NaN or nothing gives NaN", "[expr]") {
  constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinite = std::numeric_limits<float>::infinity();
  CHECK_THROWS_WITH(quantile(tensor({1.F}), 1.5), "quantile: q is 1.5; it is between 0 and 1");
  CHECK_THROWS_WITH(percentile(tensor({1.F}), 101), "percentile: p is 101; it is between 0 and 100");
  CHECK_THROWS_AS(quantile(tensor({1.F}), tensor({0.5F, nan_value})), ValueError);
  CHECK(std::isnan(median(tensor({1.F, nan_value, 2.F})).item()));
  CHECK(std::isnan(median(zeros<float, Shape<0>>()).item()));
  CHECK(median<0>(zeros<float, Shape<3, 0>>()).elements() == 0);
  CHECK(median(tensor({infinite, infinite})).item() == infinite);
  CHECK(median(scalar(3)).item() == 3);
}

TEST_CASE("long rows and many rows are selected by all threads", "[expr]") {
  const auto x = randn<float, Shape<dyn, dyn>>(Dims(301, 401));
  const auto expected = reduced_by(axis_groups(x, 2), sorted_at(0.35));
  CHECK(largest_difference(numbers(quantile<1>(x, 0.35)), expected) < 1e-6);
}
