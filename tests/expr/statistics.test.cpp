// SPDX-License-Identifier: Apache-2.0
//
// Statistics and norms against loops over groups of elements: along the last axis, down the first, over all, of strided and
// broadcast operands, of integers and 16-bit floats, of NaN, infinities and nothing.

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
using twill::test::numbers;
using twill::test::reduced_by;

namespace {
using Group = std::vector<double>;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

double total(const Group& group) {
  double result = 0;
  for (const double x : group) result += x;
  return result;
}
double size_of_group(const Group& group) { return static_cast<double>(group.size()); }
double mean_of(const Group& group) { return total(group) / size_of_group(group); }
double variance(const Group& group, double correction = 0) {
  double result = 0;
  for (const double x : group) result += (x - mean_of(group)) * (x - mean_of(group));
  return result / (size_of_group(group) - correction);
}
double greatest(const Group& group) { return *std::max_element(group.begin(), group.end()); }
double least(const Group& group) { return *std::min_element(group.begin(), group.end()); }
double log_sum_exp(const Group& group) {
  double result = 0;
  for (const double x : group) result += std::exp(x);
  return std::log(result);
}
double p_norm(const Group& group, double p) {
  double result = 0;
  for (const double x : group) result += std::pow(std::abs(x), p);
  return std::pow(result, 1 / p);
}
Group present(const Group& group) {
  Group result;
  for (const double x : group)
    if (!std::isnan(x)) result.push_back(x);
  return result;
}

template <class R, class F>
void check(const R& result, const std::vector<Group>& groups, F reference, double epsilon = 1e-12) {
  const auto found = numbers(eval(R(result)));
  const auto expected = reduced_by(groups, reference);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i]) || std::isinf(expected[i]))
      CHECK((std::isnan(expected[i]) ? std::isnan(found[i]) : found[i] == expected[i]));
    else
      CHECK(found[i] == Approx(expected[i]).epsilon(epsilon).margin(epsilon));
  }
}
} // namespace

TEST_CASE("spread, log-sum-exp and counts agree with loops along, down and over all", "[expr]") {
  const auto x = randn<double, Shape<5, 19>>();
  check(stddev<1>(lazy(+x)), axis_groups(x, 2), [](const Group& g) { return std::sqrt(variance(g)); });
  check(stddev<0>(lazy(+x), correction<1>), axis_groups(x, 1),
        [](const Group& g) { return std::sqrt(variance(g, 1)); });
  check(stddev(lazy(+x)), axis_groups(x, 3), [](const Group& g) { return std::sqrt(variance(g)); });
  check(ptp<1>(lazy(+x)), axis_groups(x, 2), [](const Group& g) { return greatest(g) - least(g); });
  check(ptp<0>(lazy(+x)), axis_groups(x, 1), [](const Group& g) { return greatest(g) - least(g); });
  check(logsumexp<-1>(lazy(x * 3)), axis_groups(eval(x * 3), 2), log_sum_exp);
  check(logsumexp<0>(lazy(+x)), axis_groups(x, 1), log_sum_exp);
  check(logsumexp(lazy(+x)), axis_groups(x, 3), log_sum_exp);
  const auto positive = lazy(maximum(x, 0.0));
  const auto count = [](const Group& g) {
    return static_cast<double>(std::count_if(g.begin(), g.end(), [](double v) { return v != 0; }));
  };
  static_assert(std::is_same_v<decltype(eval(count_nonzero<1>(x)))::value_type, std::int64_t>);
  check(count_nonzero<1>(positive), axis_groups(eval(positive), 2), count);
  check(count_nonzero<0>(positive), axis_groups(eval(positive), 1), count);
  check(count_nonzero(positive), axis_groups(eval(positive), 3), count);
  CHECK(stddev<0>(x, keepdims).shape() == Dims(1, 19));
  CHECK(logsumexp<1>(x, keepdims).shape() == Dims(5, 1));
  CHECK(count_nonzero<1>(x, keepdims).shape() == Dims(5, 1));
  CHECK(argmax<1>(x, keepdims).shape() == Dims(5, 1));
}

TEST_CASE("a log-sum-exp neither overflows nor loses infinities", "[expr]") {
  CHECK(logsumexp(tensor({1000.0, 1000.0})).item() == Approx(1000 + std::log(2.0)));
  CHECK(logsumexp(tensor({-1000.0, -1001.0})).item() == Approx(-1000 + std::log1p(std::exp(-1.0))));
  CHECK(logsumexp(tensor({-infinite, -infinite})).item() == -infinite);
  CHECK(logsumexp(tensor({-infinite, 2.0})).item() == 2);
  CHECK(logsumexp(tensor({infinite, 2.0})).item() == infinite);
  CHECK(std::isnan(logsumexp(tensor({not_a_number, 2.0})).item()));
}

TEST_CASE("norms of every order agree with loops", "[expr]") {
  const auto x = randn<double, Shape<dyn, dyn>>(Dims(6, 13));
  const auto along = axis_groups(x, 2);
  const auto down = axis_groups(x, 1);
  check(norm<1>(lazy(+x)), along, [](const Group& g) { return p_norm(g, 2); });
  check(norm<0>(lazy(+x)), down, [](const Group& g) { return p_norm(g, 2); });
  check(norm(lazy(+x)), axis_groups(x, 3), [](const Group& g) { return p_norm(g, 2); });
  check(norm<1>(lazy(+x), order<1>), along, [](const Group& g) { return p_norm(g, 1); });
  check(norm<0>(lazy(+x), order<3>), down, [](const Group& g) { return p_norm(g, 3); });
  check(norm<1>(lazy(+x), 2.5), along, [](const Group& g) { return p_norm(g, 2.5); });
  check(norm<1>(lazy(maximum(x, 0.0)), order<0>), axis_groups(eval(maximum(x, 0.0)), 2),
        [](const Group& g) { return size_of_group(g) - static_cast<double>(std::count(g.begin(), g.end(), 0.0)); });
  const auto magnitudes = eval(abs(x));
  check(norm<1>(lazy(+x), order_inf), axis_groups(magnitudes, 2), greatest);
  check(norm<0>(lazy(+x), order_negative_inf), axis_groups(magnitudes, 1), least);
  CHECK(norm<1>(x, keepdims, order<1>).shape() == Dims(6, 1));
  CHECK(norm<1>(x, keepdims, order_inf).shape() == Dims(6, 1));
  CHECK(norm<1>(x, keepdims, 4.0).shape() == Dims(6, 1));
  const auto whole = tensor({3, 4});
  static_assert(std::is_same_v<decltype(eval(norm(whole)))::value_type, float>);
  CHECK(norm(whole).item() == 5);
  CHECK_THROWS_AS(norm(x, infinite), ValueError);
  CHECK_THROWS_WITH(norm(x, 0.0), Catch::Contains("order<0>"));
}

TEST_CASE("averages weigh by a tensor of any shape that fits", "[expr]") {
  const auto x = randn<double, Shape<4, 3, 5>>();
  const auto weights = eval(randn<double, Shape<4, 3, 5>>() + 4);
  const auto row = eval(randn<double, Shape<5>>() + 4);
  const auto middle = eval(randn<double, Shape<3>>() + 4);
  const auto reference = [&](const auto& w, unsigned mask) {
    const auto above = axis_groups(eval(x * w), mask);
    const auto below = axis_groups(eval(x * 0 + w), mask);
    std::vector<double> result;
    for (std::size_t i = 0; i < above.size(); ++i) result.push_back(total(above[i]) / total(below[i]));
    return result;
  };
  const auto agree = [](const auto& found, const std::vector<double>& expected) {
    CHECK(twill::test::largest_difference(numbers(found), expected) < 1e-12);
  };
  agree(eval(average<2>(x, weights)), reference(weights, 4));
  agree(eval(average<0>(x, weights)), reference(weights, 1));
  agree(eval(average(x, weights)), reference(weights, 7));
  agree(eval(average<2>(x, row)), reference(row, 4));
  agree(eval(average<1>(x, middle)), reference(eval(middle(all, newaxis) * 1.0), 2));
  agree(eval(average<0, 2>(x, row)), reference(row, 5));
  CHECK(average<1>(x, middle, keepdims).shape() == Dims(4, 1, 5));
}

TEST_CASE("reductions of numbers pass over NaN", "[expr]") {
  auto x = randn<double, Shape<5, 18>>();
  x[1] = full<double, Shape<18>>(not_a_number);
  x(all, slice{2, {}, 5}) = full<double, Shape<5, 4>>(not_a_number);
  const auto along = axis_groups(x, 2);
  const auto down = axis_groups(x, 1);
  const auto none = [](double otherwise, auto f) {
    return [=](const Group& g) { return present(g).empty() ? otherwise : f(present(g)); };
  };
  check(nansum<1>(lazy(+x)), along, none(0, total));
  check(nansum<0>(lazy(+x)), down, none(0, total));
  check(nansum(lazy(+x)), axis_groups(x, 3), none(0, total));
  check(nanmean<1>(lazy(+x)), along, none(not_a_number, mean_of));
  check(nanmean<0>(lazy(+x)), down, none(not_a_number, mean_of));
  check(nanmax<1>(lazy(+x)), along, none(not_a_number, greatest));
  check(nanmin<0>(lazy(+x)), down, none(not_a_number, least));
  check(nanvar<1>(lazy(+x), correction<1>), along,
        none(not_a_number, [](const Group& g) { return g.size() == 1 ? not_a_number : variance(g, 1); }));
  check(nanstd<0>(lazy(+x)), down,
        [](const Group& g) { return present(g).empty() ? not_a_number : std::sqrt(variance(present(g))); });
  check(nanprod<1>(lazy(+x)), along, none(1, [](const Group& g) {
          double result = 1;
          for (const double v : g) result *= v;
          return result;
        }));
  CHECK(nansum(tensor({1, 2, 3})).item() == 6);
  CHECK(nanmax(tensor({1, 7, 3})).item() == 7);
  CHECK(nanmean(tensor({1, 2})).item() == 1.5F);
}

TEMPLATE_TEST_CASE("statistics compute in float and keep the element type", "[expr]", half, bfloat16, float) {
  const auto wide = eval(randn<float, Shape<3, 70>>() + 1);
  const auto x = wide.template to<TestType>();
  static_assert(std::is_same_v<typename decltype(eval(stddev<1>(x)))::value_type, TestType>);
  const double epsilon = std::is_same_v<TestType, float> ? 1e-5 : std::is_same_v<TestType, half> ? 2e-3 : 1e-2;
  check(
      stddev<1>(lazy(+x)), axis_groups(x, 2), [](const Group& g) { return std::sqrt(variance(g)); }, epsilon);
  check(logsumexp<1>(lazy(+x)), axis_groups(x, 2), log_sum_exp, epsilon);
  check(
      norm<1>(lazy(+x)), axis_groups(x, 2), [](const Group& g) { return p_norm(g, 2); }, epsilon);
}

TEST_CASE("nothing has no spread and no greatest magnitude", "[expr]") {
  const auto none = zeros<float, Shape<3, 0>>();
  CHECK(numbers(eval(norm<1>(none))) == Group{0, 0, 0});
  CHECK(numbers(eval(count_nonzero<1>(none))) == Group{0, 0, 0});
  CHECK(numbers(eval(logsumexp<1>(none))) == Group{-infinite, -infinite, -infinite});
  CHECK(std::isnan(stddev(none).item()));
  CHECK(eval(ptp<0>(none)).elements() == 0);
  CHECK_THROWS_AS(eval(ptp<1>(none)), ValueError);
  CHECK_THROWS_AS(eval(nanmax<1>(none)), ValueError);
  CHECK_THROWS_AS(eval(norm<1>(none, order_inf)), ValueError);
  const auto one = scalar(-3.0);
  CHECK(norm(one).item() == 3);
  CHECK(ptp(one).item() == 0);
  CHECK(logsumexp(one).item() == -3);
}

TEST_CASE("covariances and correlations are NumPy's", "[expr]") {
  const auto x = tensor({{1.0, 2.0, 4.0}, {2.0, 1.0, 0.5}});
  const auto covariances = numbers(cov(x));
  const std::vector<double> expected{7.0 / 3, -13.0 / 12, -13.0 / 12, 7.0 / 12};
  for (std::size_t i = 0; i < 4; ++i) CHECK(covariances[i] == Approx(expected[i]));
  CHECK(cov(x, correction<0>)(1, 1).item() == Approx(7.0 / 18));
  const auto correlations = numbers(corrcoef(x * 3 - 1));
  CHECK(correlations[0] == Approx(1));
  CHECK(correlations[1] == Approx(-13.0 / 14));
  CHECK(std::isnan(corrcoef(tensor({{1.0, 1.0}, {0.0, 1.0}}))(0, 1).item()));
}
