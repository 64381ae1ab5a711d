// SPDX-License-Identifier: Apache-2.0
//
// Sorting against a plain stable sort of each line, over all axes, strides, element types and both policies.

#include "tests/support/numbers.hpp"

#include <twill/algorithms.hpp>
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
using twill::test::numbers;

namespace {

/// NaN behind everything.
bool before(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

/// The order of one line, stable.
std::vector<std::int64_t> order_of(const std::vector<double>& line, bool descending) {
  std::vector<std::int64_t> order(line.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const double x = line[static_cast<std::size_t>(a)];
    const double y = line[static_cast<std::size_t>(b)];
    return descending ? before(y, x) : before(x, y);
  });
  return order;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Sorted tensors of rank 2, seen so that the sorted axis is the last, against each line's own order.
template <class X, class V, class I> void check_lines(const X& x, const V& values, const I& places, bool descending) {
  REQUIRE(values.shape() == x.shape());
  REQUIRE(places.shape() == x.shape());
  for (std::int64_t row = 0; row < x.size(0); ++row) {
    const auto line = numbers(x[row]);
    const auto sorted = numbers(values[row]);
    const auto found = numbers<std::int64_t>(places[row]);
    CHECK(found == order_of(line, descending));
    for (std::size_t i = 0; i < line.size(); ++i) CHECK(same(sorted[i], line[static_cast<std::size_t>(found[i])]));
  }
}

/// Numbers with many equal ones.
template <class T, class S> auto repeated_numbers() {
  if constexpr (std::is_same_v<T, bool>)
    return eval(rand<float, S>() > 0.5F);
  else
    return eval(cast<T>(floor(rand<float, S>() * 9)));
}

} // namespace

TEMPLATE_TEST_CASE("every element type is sorted along rows and columns, stably", "[algorithms]", bool, std::uint8_t,
                   std::int32_t, std::int64_t, twill::half, bfloat16, float, double) {
  const auto x = repeated_numbers<TestType, Shape<7, 23>>();
  check_lines(x, sort(x), argsort(x), false);
  check_lines(x.transpose(), sort<0>(x).transpose(), argsort<0>(x).transpose(), false);
}

TEST_CASE("sorting takes views, expressions, orders and policies", "[algorithms]") {
  const auto x = repeated_numbers<float, Shape<5, 34>>();
  const auto view = x(slice{.step = -1}, slice{1, 34, 2});
  check_lines(view, sort(view), argsort(view), false);
  check_lines(view, sort(view, descending), argsort(view, descending), true);
  check_lines(view, sort(view, in_parallel), argsort(view, in_parallel), false);
  check_lines(view, sort(view, descending, in_sequence), argsort(view, in_sequence, descending), true);
  const auto repeated = x(all, slice{0, 1}).expand<Shape<5, 3>>();
  check_lines(repeated, sort(repeated), argsort(repeated), false);
  check_lines(eval(x * -2), sort(x * -2), argsort(x * -2), false);
  const auto deep = repeated_numbers<float, Shape<3, 11, 4>>();
  const auto middle = sort<1>(deep);
  static_assert(std::is_same_v<decltype(middle)::shape_type, Shape<3, 11, 4>>);
  CHECK(middle.is_contiguous());
  for (int i = 0; i < 3; ++i)
    check_lines(deep[i].transpose(), middle[i].transpose(), argsort<-2>(deep)[i].transpose(), false);
}

TEST_CASE("NaN comes last, and first in descending order", "[algorithms]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const auto x = tensor({{nan, 1.F, -inf, nan, inf, -0.F, 0.F}, {3.F, nan, 2.F, 1.F, nan, 0.F, -1.F}});
  check_lines(x, sort(x), argsort(x), false);
  check_lines(x, sort(x, descending), argsort(x, descending), true);
  check_lines(x, sort(x, in_parallel), argsort(x, in_parallel), false);
}

TEST_CASE("one element, no elements and one row of many are sorted", "[algorithms]") {
  CHECK(numbers(sort(tensor({4}))) == std::vector<double>{4});
  CHECK(sort(zeros<float, Shape<0>>()).elements() == 0);
  CHECK(argsort<0>(zeros<float, Shape<0, 3>>()).shape() == Dims(0, 3));
  CHECK(argsort(zeros<float, Shape<3, 0>>(), in_parallel).shape() == Dims(3, 0));
  const auto x = rand<float, Shape<1, 100003>>();
  check_lines(x, sort(x, in_parallel), argsort(x, in_parallel), false);
}
