// SPDX-License-Identifier: Apache-2.0
//
// Draws from further distributions: fit with fixed seeds and stated bounds, moments, ends of the parameters, one element at a time.

#include "tests/support/chi_square.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include "../support/late_device.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

using namespace twill;
using twill::test::agrees;
using twill::test::follows;
using twill::test::Late;
using twill::test::mean_of;
using twill::test::message_of;
using twill::test::Numbers;
using twill::test::numbers;
using twill::test::variance_of;

namespace {

constexpr std::int64_t many = 200'000;
constexpr double infinite = std::numeric_limits<double>::infinity();

double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// Whether whole numbers follow a Poisson distribution; those beyond the bins count in the last.
bool follows_poisson(const Numbers& values, double mean) {
  const double total = static_cast<double>(values.size());
  const auto probability = [&](double k) { return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1)); };
  Numbers expected, counts;
  const double first = std::max(0.0, std::floor(mean - 3 * std::sqrt(mean))),
               last = std::ceil(mean + 3 * std::sqrt(mean));
  double below = 0, above = total;
  for (double k = 0; k < first; ++k) below += total * probability(k);
  expected.push_back(below + total * probability(first));
  for (double k = first + 1; k < last; ++k) expected.push_back(total * probability(k));
  for (const double e : expected) above -= e;
  expected.push_back(above);
  counts.assign(expected.size(), 0.0);
  for (const double value : values)
    ++counts[static_cast<std::size_t>(std::clamp(value - first, 0.0, static_cast<double>(counts.size() - 1)))];
  return agrees(counts, expected);
}

} // namespace

TEST_CASE("draws by formulas follow their distributions", "[expr][DEV-7]") {
  manual_seed_all(11);
  const auto laplacian = [](double x) {
    const double z = (x - 1) / 2;
    return z < 0 ? 0.5 * std::exp(z) : 1 - 0.5 * std::exp(-z);
  };
  const auto of_gumbel = [](double x) { return std::exp(-std::exp(-(x - 1) / 2)); };
  const auto of_cauchy = [](double x) { return 0.5 + std::atan((x - 1) / 2) / std::numbers::pi; };
  const auto log_normally = [](double x) { return normal_below((std::log(x) - 0.5) / 0.25); };
  CHECK(follows(numbers(laplace<float, Shape<many>>(1, 2)), laplacian));
  CHECK(follows(numbers(laplace<double, Shape<many>>(1, 2)), laplacian));
  CHECK(follows(numbers(gumbel<float, Shape<many>>(1, 2)), of_gumbel));
  CHECK(follows(numbers(gumbel<double, Shape<dyn>>(1, 2, Dims(many))), of_gumbel));
  CHECK(follows(numbers(cauchy<float, Shape<many>>(1, 2)), of_cauchy));
  CHECK(follows(numbers(cauchy<double, Shape<many>>(1, 2)), of_cauchy));
  CHECK(follows(numbers(log_normal<float, Shape<many>>(0.5, 0.25)), log_normally));
  CHECK(follows(numbers(log_normal<double, Shape<many>>(0.5, 0.25)), log_normally));
  CHECK(numbers(laplace<float, Shape<3>>(4, 0)) == Numbers{4, 4, 4});
}

TEST_CASE("gamma and beta draws follow their distributions", "[expr][DEV-7]") {
  manual_seed_all(12);
  CHECK(follows(numbers(gamma<double, Shape<many>>(0.5, 2)), // chi-square of one degree
                [](double x) { return std::erf(std::sqrt(x / 2)); }));
  CHECK(follows(numbers(gamma<float, Shape<many>>(1, 3)), [](double x) { return -std::expm1(-x / 3); }));
  CHECK(follows(numbers(gamma<float, Shape<many>>(3, 1)),
                [](double x) { return 1 - std::exp(-x) * (1 + x + x * x / 2); }));
  CHECK(follows(numbers(beta<double, Shape<many>>(2, 3)), [](double x) { return x * x * (6 - x * (8 - 3 * x)); }));
  CHECK(follows(numbers(beta<float, Shape<many>>(0.5, 0.5)),
                [](double x) { return 2 / std::numbers::pi * std::asin(std::sqrt(std::min(x, 1.0))); }));
  const Numbers large = numbers(gamma<double, Shape<many>>(1e6, 1e-3));
  CHECK(std::abs(mean_of(large) - 1000) < 5 * std::sqrt(1.0 / many));
  CHECK(variance_of(large) == Approx(1).epsilon(0.02));
  const Numbers small = numbers(gamma<double, Shape<many>>(0.01, 1));
  CHECK(std::abs(mean_of(small) - 0.01) < 5 * std::sqrt(0.01 / many));
  // of tiny shapes one of two takes all, and none is 0 / 0
  for (const double value : numbers(beta<double, Shape<100>>(1e-5, 1e-5))) CHECK((value < 1e-9 || value > 1 - 1e-9));
}

TEST_CASE("poisson draws follow their distribution on both sides of the change of method", "[expr][DEV-7]") {
  manual_seed_all(13);
  for (const double mean : {0.3, 4.0, 9.99, 10.0, 12.5, 250.0}) {
    INFO("mean " << mean);
    CHECK(follows_poisson(numbers(poisson<double, Shape<many>>(mean)), mean));
  }
  CHECK(numbers(poisson<std::int32_t, Shape<2>>(0)) == Numbers{0, 0});
  const Numbers large = numbers(poisson<std::int64_t, Shape<many>>(1e12));
  CHECK(std::abs(mean_of(large) - 1e12) < 5 * std::sqrt(1e12 / many));
  CHECK(std::sqrt(variance_of(large)) == Approx(1e6).epsilon(0.01));
}

TEST_CASE("truncated normal draws follow their distribution in each method", "[expr][DEV-7]") {
  manual_seed_all(14);
  struct Bounds {
    double low;
    double high;
  };
  for (const Bounds bounds :
       {Bounds{-infinite, infinite}, Bounds{-1, 2}, Bounds{-0.5, 0.5}, Bounds{0, infinite}, Bounds{2, infinite},
        Bounds{3, 3.1}, Bounds{-infinite, -4}, Bounds{-2.5, -2}, Bounds{6, 9}}) {
    INFO("between " << bounds.low << " and " << bounds.high);
    // upper tails from above, where their digits are
    const bool upper = bounds.low > 0;
    const auto below = [&](double z) { return upper ? -normal_below(-z) : normal_below(z); };
    const double low = below(bounds.low), width = below(bounds.high) - low;
    const auto values = numbers(truncated_normal<double, Shape<many>>(5, 2, 5 + 2 * bounds.low, 5 + 2 * bounds.high));
    CHECK(follows(values, [&](double x) { return std::clamp((below((x - 5) / 2) - low) / width, 0.0, 1.0); }));
    CHECK(*std::min_element(values.begin(), values.end()) >= 5 + 2 * bounds.low);
    CHECK(*std::max_element(values.begin(), values.end()) <= 5 + 2 * bounds.high);
  }
}

TEST_CASE("dirichlet rows sum to 1 with the means of their concentrations", "[expr][DEV-7]") {
  manual_seed_all(15);
  const auto rows = dirichlet(tensor({1.0, 2.0, 5.0}), 50'000);
  static_assert(std::is_same_v<decltype(rows)::shape_type, Shape<dyn, 3>>);
  CHECK(numbers(eval(abs(sum<1>(rows) - 1.0) < 1e-12)) == Numbers(50'000, 1.0));
  const Numbers means = numbers(eval(mean<0>(rows)));
  for (std::size_t k = 0; k < 3; ++k) {
    const double share = (k == 0 ? 1.0 : k == 1 ? 2.0 : 5.0) / 8;
    CHECK(std::abs(means[k] - share) < 5 * std::sqrt(share * (1 - share) / 9 / 50'000));
  }
  CHECK(numbers(eval(isnan(dirichlet(tensor({1e-4F, 1e-4F}), 100)))) == Numbers(200, 0.0));
  CHECK(dirichlet(tensor({1.0F}), 0).shape() == Dims(0, 1));
}

TEST_CASE("each element has a parameter of its own, and depends on nothing but seed, draw and place", "[expr][DEV-7]") {
  manual_seed_all(16);
  const auto shapes = eval(arange<double>(1, 2001) / 100.0);
  const auto all = to_vector(gamma(shapes));
  manual_seed_all(16);
  const auto first = to_vector(gamma(narrow<0>(shapes, 0, 7)));
  CHECK(std::equal(first.begin(), first.end(), all.begin()));
  const Numbers expected = numbers(shapes);
  double deviation = 0; // of the sum, in its standard deviations
  for (std::size_t i = 0; i < all.size(); ++i) deviation += (all[i] - expected[i]) / std::sqrt(expected[i]);
  CHECK(std::abs(deviation) < 5 * std::sqrt(static_cast<double>(all.size())));

  const auto counts = poisson(tensor({0.0F, 1e6F}));
  static_assert(std::is_same_v<decltype(counts)::value_type, float>);
  CHECK(to_vector(counts)[0] == 0);
  CHECK(std::abs(to_vector(counts)[1] - 1e6F) < 6e3F);

  manual_seed_all(17);
  const auto here = to_vector(poisson<std::int32_t, Shape<64>>(20, Cpu{0}));
  const auto there = to_vector(poisson<std::int32_t, Shape<64>>(20, Cpu{1}));
  CHECK(here == there);
  CHECK(gamma<float, Shape<0>>(1, 1).elements() == 0);
}

TEST_CASE("draws on a device whose kernels run later are made when it runs", "[expr][DEV-7]") {
  manual_seed_all(18);
  const auto late = gamma<float, Shape<5>>(2, 1, Late{});
  manual_seed_all(18);
  const auto now = gamma<float, Shape<5>>(2, 1);
  CHECK(numbers(late) == numbers(now));
}

TEST_CASE("parameters outside a distribution are refused by name", "[expr][DEV-7]") {
  CHECK(message_of([] { (void)gamma<float, Shape<2>>(0, 1); }) == "gamma: the shape is positive and finite, and was 0");
  CHECK(message_of([] { (void)gamma(tensor({1.0F, -2.0F})); }) == "gamma: shapes are positive and finite; one was -2");
  CHECK(message_of([] { (void)poisson<int, Shape<2>>(-1); }) ==
        "poisson: the mean is finite and at least 0, and was -1");
  CHECK(message_of([] { (void)poisson(tensor({infinite})); }) ==
        "poisson: means are finite and at least 0; one was inf");
  CHECK(message_of([] { (void)truncated_normal<float, Shape<2>>(0, 1, 2, 2); }) ==
        "truncated_normal: the upper bound is above the lower; high - low is 0");
  CHECK(message_of([] { (void)laplace<float, Shape<2>>(0, -1); }) == "laplace: the scale is at least 0, and was -1");
  CHECK(message_of([] { (void)dirichlet(tensor({1.0F}), -3); }) == "dirichlet: the count is at least 0, and was -3");
}
