// SPDX-License-Identifier: Apache-2.0
//
// The first axis as NumPy sees it: range-for gives views of a matrix and elements of a vector, indices can be chained and
// count from the end, and an index outside says which axis has how many.

#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <concepts>
#include <numeric>
#include <ranges>
#include <vector>

using namespace twill;
using twill::test::numbers;

namespace {
using Matrix = Tensor<float, Cpu, Shape<2, 3>>;
using Vector = Tensor<float, Cpu, Shape<dyn>>;
static_assert(std::ranges::random_access_range<Matrix> && std::ranges::sized_range<const Matrix>);
static_assert(std::same_as<std::ranges::range_value_t<Matrix>, Tensor<float, Cpu, Shape<3>>>);
static_assert(std::ranges::random_access_range<const Vector> && std::ranges::output_range<Vector, float>);
static_assert(std::same_as<std::ranges::range_reference_t<Vector>, float&>);
static_assert(!std::ranges::range<Tensor<float, Cpu, Shape<>>>);
static_assert(!std::ranges::range<Tensor<float, Meta, Shape<2>>>);
} // namespace

TEST_CASE("a range-for over a matrix gives its rows, which share its memory", "[tensor]") {
  const auto x = eval(arange(12).reshape<Shape<4, 3>>() + 0);
  std::int64_t count = 0;
  for (const auto row : x) {
    CHECK(numbers(row) == numbers(x[count]));
    CHECK(row.data() == x.data() + 3 * count);
    ++count;
  }
  CHECK(count == 4);
  for (const auto column : x.transpose()) column += 1;
  CHECK(numbers(x[3]) == std::vector<double>{10, 11, 12});
  for (auto row : x(all, slice{1, 3})) row[0] = 0;
  CHECK(numbers(x(all, 1)) == std::vector<double>{0, 0, 0, 0});
  for (const auto block : zeros<float, Shape<0, 3>>()) FAIL(block.elements());
}

TEST_CASE("a range-for over a vector gives its elements", "[tensor]") {
  const auto x = eval(arange(12).reshape<Shape<4, 3>>() + 0);
  std::int64_t sum = 0;
  for (const std::int64_t element : x[2]) sum += element;
  CHECK(sum == 6 + 7 + 8);
  for (auto& element : x(all, 1)) element = -element;
  CHECK(numbers(x(all, 1)) == std::vector<double>{-1, -4, -7, -10});
  for (const auto row : x)
    for (auto& element : row) element = 5;
  CHECK(numbers(x) == std::vector<double>(12, 5));
  const auto reversed = arange(5)[slice{.step = -1}];
  CHECK(std::vector<std::int64_t>(reversed.begin(), reversed.end()) == std::vector<std::int64_t>{4, 3, 2, 1, 0});
  const auto v = tensor({3.0F, 1.0F, 2.0F});
  std::ranges::sort(v);
  CHECK(numbers(v) == std::vector<double>{1, 2, 3});
}

TEST_CASE("iterators over views keep the memory of their tensor", "[tensor]") {
  const auto first = [] { return full<float, Shape<2, 3>>(1.5F).begin(); }();
  CHECK(numbers(*first) == std::vector<double>{1.5, 1.5, 1.5});
}

TEST_CASE("indices can be chained, read and written", "[tensor]") {
  const auto x = eval(arange(24).reshape<Shape<2, 3, 4>>() + 0);
  CHECK(x[1][2][3].item() == x(1, 2, 3).item());
  CHECK(numbers(x[1][-1]) == numbers(x(1, 2)));
  CHECK(numbers(x[0][slice{1, 3}][1]) == numbers(x(0, 2)));
  x[0][1][2] = 100;
  x[0][1][3] += 1;
  x[1] = x[0];
  CHECK(x(1, 1, 2).item() == 100);
  CHECK(x(1, 1, 3).item() == 8);
  CHECK_THROWS_WITH(x[0][3], Catch::Contains("3") && Catch::Contains("axis 0"));
  CHECK_THROWS_AS(x[2][0], IndexError);
  CHECK_THROWS_AS(x[0][0][-5], IndexError);
}
