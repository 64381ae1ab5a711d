// SPDX-License-Identifier: Apache-2.0
//
// New tensors, after a model, from numbers, from a rule, and random ones.

#include "tests/support/numbers.hpp"

#include <twill/tensor.hpp>

#include "../support/late_device.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

using namespace twill;
using twill::test::Late;
using twill::test::numbers;

namespace {
} // namespace

TEMPLATE_TEST_CASE("zeros, ones and full fill every element type", "[tensor]", bool, std::uint8_t, std::int32_t,
                   std::int64_t, half, bfloat16, float, double) {
  CHECK(numbers(zeros<TestType, Shape<2, 2>>()) == std::vector<double>{0, 0, 0, 0});
  CHECK(numbers(ones<TestType, Shape<dyn>>(Dims(3), Late{0})) == std::vector<double>{1, 1, 1});
  CHECK(numbers(full<TestType, Shape<1>>(static_cast<TestType>(1))) == std::vector<double>{1});
  CHECK(zeros<TestType, Shape<0, 3>>().elements() == 0);
}

TEST_CASE("new tensors take element type and device of their model unless told otherwise", "[tensor][DEV-5]") {
  const auto model = zeros<double, Shape<2, 3>>(Late{3});
  const auto like = ones_like(model);
  static_assert(std::is_same_v<decltype(like), decltype(model)>);
  CHECK(like.device() == Late{3});
  CHECK(like.data() != model.data());
  CHECK(numbers(like) == std::vector<double>(6, 1));
  static_assert(std::is_same_v<decltype(zeros_like<int>(model))::value_type, int>);
  CHECK(full_like<int>(model, 4, Cpu{0}).device() == Cpu{0});
  CHECK(empty_like(model).shape() == Dims(2, 3));

  const auto fresh = new_full<Shape<4>>(model, 2.5);
  static_assert(std::is_same_v<decltype(fresh)::value_type, double>);
  CHECK(fresh.device() == Late{3});
  CHECK(numbers(fresh) == std::vector<double>(4, 2.5));
  CHECK(numbers(new_ones<Shape<dyn>, float>(model, Dims(2), Cpu{0})) == std::vector<double>{1, 1});
  CHECK(new_zeros<Shape<1>>(model, Meta{}).device() == Meta{});
  CHECK(new_empty<Shape<5>>(model).shape() == Dims(5));
}

TEST_CASE("tensors come from numbers of the program", "[tensor]") {
  const auto matrix = tensor({{1, 2, 3}, {4, 5, 6}});
  static_assert(std::is_same_v<decltype(matrix)::shape_type, const Shape<2, 3>> ||
                std::is_same_v<decltype(matrix)::shape_type, Shape<2, 3>>);
  CHECK(matrix(1, 0).item() == 4);
  CHECK(tensor<Shape<2, 1, 2>>({1.0, 2.0, 3.0, 4.0})(1, 0, 1).item() == 4);
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  CHECK(from_values<Shape<dyn, 2>>(values, Late{0}).shape() == Dims(3, 2));
  CHECK(numbers(from_values(values)) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK_THROWS_AS((from_values<Shape<dyn, 4>>(values)), ShapeError);
  CHECK_THROWS_AS((from_values<Shape<dyn>>(values, Dims(7))), ShapeError);
}

TEST_CASE("arange counts like NumPy's", "[tensor]") {
  CHECK(numbers(arange(5)) == std::vector<double>{0, 1, 2, 3, 4});
  CHECK(numbers(arange(2, 11, 3)) == std::vector<double>{2, 5, 8});
  CHECK(numbers(arange(5, 0, -2)) == std::vector<double>{5, 3, 1});
  CHECK(numbers(arange(0.0, 1.0, 0.25)) == std::vector<double>{0, 0.25, 0.5, 0.75});
  CHECK(arange(0.0, 1.0, 0.3).elements() == 4);
  CHECK(arange(3, 3).elements() == 0);
  CHECK(arange(3, 1).elements() == 0);
  CHECK(numbers(arange<std::uint8_t>(3)) == std::vector<double>{0, 1, 2});
  CHECK(numbers(arange(4.F, Late{1})) == std::vector<double>{0, 1, 2, 3});
  CHECK_THROWS_AS(arange(0, 5, 0), ValueError);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  CHECK(to_vector(arange(least, greatest, greatest)) == std::vector<std::int64_t>{least, -1, greatest - 1});
  CHECK(to_vector(arange(greatest, least, least)) == std::vector<std::int64_t>{greatest, -1});
  CHECK(numbers(arange<std::uint8_t>(250, 255, 4)) == std::vector<double>{250, 254});
}

TEST_CASE("linspace ends exactly, eye has its diagonal", "[tensor]") {
  const auto points = to_vector(linspace(0.1F, 0.7F, 7));
  CHECK(points.front() == 0.1F);
  CHECK(points.back() == 0.7F);
  for (std::size_t i = 0; i < 7; ++i) CHECK(points[i] == Approx(0.1F + 0.1F * static_cast<float>(i)));
  const auto fine = to_vector(linspace(-1.F, 2.F, 1003)); // as exact as the element type allows
  for (std::size_t i = 0; i < 1003; ++i)
    CHECK(fine[i] == static_cast<float>(static_cast<double>(i) * (3.0 / 1002) + -1.0));
  CHECK(numbers(linspace(3.0, 5.0, 1)) == std::vector<double>{3});
  CHECK(linspace(3.0, 5.0, 0).elements() == 0);
  CHECK_THROWS_AS(linspace(3.0, 5.0, -1), ValueError);
  CHECK(numbers(eye<int, Shape<2, 3>>()) == std::vector<double>{1, 0, 0, 0, 1, 0});
  CHECK(numbers(eye<int, Shape<dyn, dyn>>(Dims(3, 2))) == std::vector<double>{1, 0, 0, 1, 0, 0});
}

TEST_CASE("one seed gives one sequence on every device kind", "[tensor][DEV-7]") {
  manual_seed_all(42);
  const auto here = rand<float, Shape<1003>>(Cpu{0});
  const auto there = rand<float, Shape<1003>>(Late{2});
  CHECK(to_vector(here) == to_vector(there));
  const auto next = rand<float, Shape<1003>>(Cpu{0});
  CHECK(to_vector(here) != to_vector(next));
  manual_seed(Cpu{0}, 42);
  CHECK(to_vector(rand<float, Shape<17, 59>>(Cpu{0})) == to_vector(here));
  CHECK(to_vector(here)[5] == random_uniform(42, 0, 0, 5));
}

TEST_CASE("random numbers have the moments of their distribution", "[tensor][DEV-7]") {
  manual_seed_all(1);
  const auto moments = [](const std::vector<double>& values) {
    double mean = 0;
    double square = 0;
    for (const double value : values) mean += value, square += value * value;
    mean /= static_cast<double>(values.size());
    return std::pair{mean, square / static_cast<double>(values.size()) - mean * mean};
  };
  const auto [uniform_mean, uniform_variance] = moments(numbers(rand<double, Shape<200, 500>>()));
  CHECK(uniform_mean == Approx(0.5).margin(0.005));
  CHECK(uniform_variance == Approx(1.0 / 12).margin(0.002));
  const auto normal = numbers(randn<float, Shape<200, 500>>());
  const auto [normal_mean, normal_variance] = moments(normal);
  CHECK(normal_mean == Approx(0.0).margin(0.015));
  CHECK(normal_variance == Approx(1.0).margin(0.02));
  for (const double value : normal) CHECK_FALSE((std::isnan(value) || std::isinf(value)));
}
