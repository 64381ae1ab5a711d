// SPDX-License-Identifier: Apache-2.0
//
// Sobol sequences against SciPy's, what scrambling keeps, and Latin hypercubes: one point in each interval of each dimension.

#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include "../support/late_device.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace twill;
using twill::test::golden;
using twill::test::Late;
using twill::test::message_of;
using twill::test::numbers;

namespace {

/// Whether each column has one number in each of as many equal intervals as there are rows.
template <class X> bool fills_intervals(const X& points) {
  const std::int64_t count = points.size(0), dimensions = points.size(1);
  const auto values = numbers(points);
  for (std::int64_t d = 0; d < dimensions; ++d) {
    std::vector<int> found(static_cast<std::size_t>(count), 0);
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = values[static_cast<std::size_t>(i * dimensions + d)];
      if (!(value >= 0 && value < 1)) return false;
      ++found[static_cast<std::size_t>(value * static_cast<double>(count))];
    }
    if (std::count(found.begin(), found.end(), 1) != count) return false;
  }
  return true;
}

} // namespace

TEST_CASE("a Sobol sequence is SciPy's", "[expr]") {
  const auto expected = golden("point_sets/sobol").values;
  CHECK(numbers(sobol<double>(32, 512)) == expected);
  CHECK(numbers(sobol<float>(32, 512)) == expected); // five bits
  const std::vector<double> later(expected.begin() + 20 * 512, expected.end());
  CHECK(numbers(sobol<double>(12, 512, {.skip = 20})) == later);
  CHECK(numbers(sobol<double>(5, 7, {}, Late{})) == numbers(sobol<double>(5, 7)));
}

TEST_CASE("powers of two of Sobol points fill all intervals, scrambled and in narrow types too", "[expr]") {
  manual_seed_all(3);
  CHECK(fills_intervals(sobol<double>(1024, 40)));
  CHECK(fills_intervals(sobol<float>(1024, 40, {.scramble = true})));
  CHECK(fills_intervals(sobol<half>(1024, 3, {.scramble = true})));
  const auto first = numbers(sobol<double>(256, 2, {.scramble = true}));
  CHECK(first != numbers(sobol<double>(256, 2, {.scramble = true}))); // another draw
  CHECK(first[0] != 0);
  // the mean of a product over the square, whose error falls nearly with the number of points
  const auto points = sobol<double>(1 << 14, 2, {.scramble = true});
  CHECK(std::abs(mean(prod<1>(exp(points))).item() - std::pow(std::exp(1.0) - 1, 2)) < 1e-4);
}

TEST_CASE("a Latin hypercube has one point in each interval of each dimension", "[expr]") {
  manual_seed_all(4);
  CHECK(fills_intervals(latin_hypercube<double>(97, 5)));
  CHECK(fills_intervals(latin_hypercube<float>(1000, 3)));
  const auto points = latin_hypercube<double>(50, 2);
  CHECK(numbers(points) != numbers(latin_hypercube<double>(50, 2)));
  CHECK(latin_hypercube<float>(0, 2).shape() == Dims(0, 2));
  CHECK(latin_hypercube<float>(1, 1).elements() == 1);
}

TEST_CASE("point sets that do not exist are refused", "[expr]") {
  CHECK(message_of([] { (void)sobol(4, 513); }) == "sobol: there are points of 1 to 512 dimensions, not of 513");
  CHECK(message_of([] { (void)sobol(-1, 2); }) == "sobol: the count is -1; it is at least 0");
  CHECK(message_of([] { (void)sobol(1, 2, {.skip = -1}); }) ==
        "sobol: the number of points to skip is at least 0, and was -1");
  CHECK(message_of([] { (void)latin_hypercube(4, 0); }) ==
        "latin_hypercube: there are points of 1 to 2147483647 dimensions, not of 0");
}
