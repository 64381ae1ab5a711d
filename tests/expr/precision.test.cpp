// SPDX-License-Identifier: Apache-2.0
//
// Precision where squares leave the range of a float, at large offsets, over long rows, and from float64 to 16 bits: against
// loops in long double.

#include "tests/support/axis_groups.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
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

/// The sum of squares about the mean, or about 0.
long double squares_of(const Group& group, bool is_centred) {
  long double mean = 0, squares = 0;
  if (is_centred)
    for (const double x : group) mean += x / static_cast<long double>(group.size());
  for (const double x : group) squares += (x - mean) * (x - mean);
  return squares;
}
double variance(const Group& group) {
  return static_cast<double>(squares_of(group, true) / static_cast<long double>(group.size()));
}
double deviation(const Group& group) {
  return static_cast<double>(std::sqrt(squares_of(group, true) / static_cast<long double>(group.size())));
}
double length(const Group& group) { return static_cast<double>(std::sqrt(squares_of(group, false))); }

/// The largest error in relation to the value; infinite where one is not finite.
template <class X>
double error_of(const X& found, const std::vector<Group>& groups, double (*reference)(const Group&)) {
  const auto values = numbers(found);
  const auto expected = reduced_by(groups, reference);
  REQUIRE(values.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::fabs(values[i] - expected[i]) / expected[i];
    worst = error <= worst ? worst : std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
  }
  return worst;
}
template <class T> Tensor<T, Cpu, Shape<37, 211>> scaled_normals(double scale) {
  return eval(randn<double, Shape<37, 211>>() * scale).template to<T>();
}
} // namespace

TEMPLATE_TEST_CASE("deviations and norms are right wherever they can be represented", "[expr]", float, bfloat16,
                   double) {
  const bool is_double = std::is_same_v<TestType, double>;
  const double tolerance = std::is_same_v<TestType, bfloat16> ? 4e-3 : is_double ? 1e-14 : 5e-7;
  for (const double scale :
       {1e25, 1e19, 1e10, 1.0, 1e-8, 1e-19, 1e-25, 1e-34, is_double ? 1e200 : 1, is_double ? 1e-200 : 1}) {
    CAPTURE(scale);
    const auto x = scaled_normals<TestType>(scale);
    CHECK(error_of(eval(stddev<1>(x)), axis_groups(x, 2), deviation) < tolerance);
    CHECK(error_of(eval(stddev<0>(x)), axis_groups(x, 1), deviation) < tolerance);
    CHECK(error_of(eval(nanstd<1>(x)), axis_groups(x, 2), deviation) < tolerance);
    if (scale < 1e150 && scale > 1e-150) { // the norm of float64 has no wider type to sum in
      CHECK(error_of(eval(norm<1>(x)), axis_groups(x, 2), length) < tolerance);
      CHECK(error_of(eval(norm<0>(x)), axis_groups(x, 1), length) < tolerance);
    }
    if (is_double || (scale > 1e-18 && scale < 1.5e18)) {
      const auto variances = eval(var<1>(x));
      if (scale < 1e150 && scale > 1e-150) CHECK(error_of(variances, axis_groups(x, 2), variance) < 2 * tolerance);
    }
  }
}

TEST_CASE("the variance of floats near 1e19 is finite, and of a float beyond not", "[expr]") {
  const Tensor<float, Cpu, Shape<4>> x = tensor({1e19F, 2e19F, 3e19F, -1e19F});
  CHECK(eval(var<0>(x)).item() == Approx(35e38 / 16));
  CHECK(std::isinf(eval(var<0>(Tensor<float, Cpu, Shape<4>>{x * 2.0F})).item()));
  CHECK(eval(stddev<0>(Tensor<float, Cpu, Shape<4>>{x * 2.0F})).item() == Approx(2e19 * std::sqrt(35.0 / 16)));
}

TEST_CASE("variance and layer norm of data with a large offset keep their digits", "[expr]") {
  for (const double offset : {1e2, 1e3, 1e4, 1e6}) {
    CAPTURE(offset);
    const auto x = eval(randn<double, Shape<37, 1000>>() + offset).to<float>();
    CHECK(error_of(eval(var<1>(x)), axis_groups(x, 2), variance) < 4e-7);
    CHECK(error_of(eval(var<0>(x)), axis_groups(x, 1), variance) < 4e-7);
    const auto expected = numbers(eval(layer_norm(x.to<double>())));
    const auto found = numbers(eval(layer_norm(x)));
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::fabs(found[i] - expected[i]));
    CHECK(worst < 2e-6 + offset * 0x1p-24); // half a step of the mean
  }
}

TEMPLATE_TEST_CASE("equal elements have no variance, and layer norm makes zeros of them", "[expr]", float, double) {
  for (const double value : {0.1, -3.3, 1e-20, 777.7, 1e6 + 0.1}) {
    CAPTURE(value);
    const auto check = [&]<int... N>(std::integer_sequence<int, N...>) {
      (
          [&] {
            CAPTURE(N);
            const auto x = full<TestType, Shape<3, N>>(static_cast<TestType>(value));
            for (const double y : numbers(eval(layer_norm(x)))) CHECK(y == 0);
            for (const double y : numbers(eval(var<1>(x)))) CHECK(y == 0);
          }(),
          ...);
    };
    check(std::integer_sequence<int, 2, 7, 64, 768, 1000, 4097>{});
  }
}

TEST_CASE("cosines of huge and of tiny rows are those of ordinary ones", "[expr]") {
  const auto a = randn<float, Shape<5, 64>>(), b = randn<float, Shape<5, 64>>();
  const auto expected = numbers(eval(cosine_similarity(a, b)));
  for (const float scale : {1e25F, 1e-6F}) {
    const auto found = numbers(eval(cosine_similarity(a * scale, b * scale)));
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(1e-6));
  }
  for (const double y : numbers(eval(norm<1>(normalize(a * 1e25F))))) CHECK(y == Approx(1));
}

TEST_CASE("running sums of ten million floats do not drift", "[expr]") {
  constexpr std::int64_t n = 10'000'000;
  const auto x = rand<float, Shape<n>>();
  const auto found = cumsum<0>(x);
  long double all = 0;
  double worst = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    all += static_cast<double>(x.data()[i]);
    worst = std::max(worst, std::fabs(static_cast<double>((static_cast<long double>(found.data()[i]) - all) / all)));
  }
  CHECK(worst < 6.1e-8);
}

TEMPLATE_TEST_CASE("float64 becomes a 16-bit float by one rounding", "[expr]", half, bfloat16) {
  // just above the middle of two 16-bit neighbours, which a float cannot tell from the middle
  const double unit = std::is_same_v<TestType, half> ? 0x1p-11 : 0x1p-8;
  const auto x = full<double, Shape<1003>>(1 + unit + 0x1p-40);
  const auto expected = static_cast<double>(static_cast<float>(TestType{1 + unit + 0x1p-40}));
  REQUIRE(expected == 1 + 2 * unit);
  for (const double y : numbers(x.to<TestType>())) REQUIRE(y == expected);
  const auto y = randn<double, Shape<997>>();
  const auto found = numbers(eval(y * 0x1p-14).template to<TestType>()); // some are subnormal
  for (std::size_t i = 0; i < found.size(); ++i)
    REQUIRE(found[i] == static_cast<double>(static_cast<float>(TestType{y.data()[i] * 0x1p-14})));
  // what a row shares
  const auto rows = full<double, Shape<3, 64>>(1 + unit + 0x1p-40);
  for (const double z : numbers(eval(cast<TestType>(max<1>(rows))))) CHECK(z == expected);
}
