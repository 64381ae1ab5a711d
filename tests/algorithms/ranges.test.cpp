// SPDX-License-Identifier: Apache-2.0
//
// Tensors and lazy expressions as ranges: what the standard's concepts ask, the order of the elements over any strides, and
// element by element the values that evaluation gives.

#include "tests/support/numbers.hpp"

#include <twill/algorithms.hpp>
#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <concepts>
#include <iterator>
#include <numeric>
#include <ranges>
#include <type_traits>
#include <vector>

using namespace twill;
using twill::test::numbers;

namespace {
using Matrix = Tensor<float, Cpu, Shape<2, 3>>;
using Expression = decltype(lazy(std::declval<Matrix>() * 2.F));
using Elements = decltype(flat(std::declval<const Matrix&>()));
static_assert(std::ranges::random_access_range<Elements> && std::ranges::sized_range<Elements>);
static_assert(std::ranges::random_access_range<const Elements> && std::ranges::output_range<Elements, float>);
static_assert(std::ranges::random_access_range<Expression> && std::ranges::sized_range<const Expression>);
static_assert(!std::ranges::output_range<Expression, float>);
static_assert(!std::ranges::range<Tensor<float, Meta, Shape<2>>>);
static_assert(std::same_as<std::iterator_traits<algorithms::ElementIterator<float, 2>>::iterator_category,
                           std::random_access_iterator_tag>);

/// The range against the values that twill copies out, forwards, backwards and by jumps.
template <class X> void check_range(const X& x) {
  const auto values = numbers(x);
  REQUIRE(std::ranges::distance(flat(x)) == static_cast<std::ptrdiff_t>(values.size()));
  std::size_t place = 0;
  for (const auto value : flat(x)) CHECK(static_cast<double>(value) == values[place++]);
  auto at = end(x);
  while (at != begin(x)) CHECK(static_cast<double>(*--at) == values[--place]);
  for (std::size_t i = 0; i < values.size(); i += 3) {
    const auto distance = static_cast<std::ptrdiff_t>(i);
    CHECK(static_cast<double>(begin(x)[distance]) == values[i]);
    CHECK((begin(x) + distance) - begin(x) == distance);
    CHECK(begin(x) + distance < end(x));
  }
}

template <class E> void check_lazy(const E& expression) {
  const auto expected = numbers(eval(expression));
  std::vector<double> found;
  for (const auto value : expression) found.push_back(static_cast<double>(value));
  CHECK(found == expected);
}
} // namespace

TEST_CASE("the elements of any view come in row-major order", "[algorithms]") {
  const auto x = rand<float, Shape<5, 7, 11>>();
  check_range(x);
  check_range(x.transpose());
  check_range(x.permute<1, 2, 0>());
  check_range(x(slice{.step = -2}, all, slice{1, 10, 3}));
  check_range(x[2].transpose());
  check_range(x(all, newaxis, 3));
  check_range(x(0, 0, 0));
  check_range(x(all, slice{3, 3}));
  check_range(x(all, all, slice{0, 1}).expand<Shape<5, 7, 13>>());
  check_range(arange(17));
  check_range(tensor({true, false, true}));
  check_range(tensor({twill::half(1.5F), twill::half(-2.5F)}));
}

TEST_CASE("algorithms write through a view", "[algorithms]") {
  const auto x = zeros<int, Shape<3, 4>>();
  const auto column = x(all, 1);
  std::iota(begin(column), end(column), 7);
  std::ranges::fill(x[2], 5);
  CHECK(numbers(x) == std::vector<double>{0, 7, 0, 0, 0, 8, 0, 0, 5, 5, 5, 5});
  const auto transposed = x.transpose();
  std::ranges::sort(begin(transposed), end(transposed));
  CHECK(std::ranges::is_sorted(flat(transposed)));
  CHECK(numbers(transposed) == std::vector<double>{0, 0, 0, 0, 0, 0, 5, 5, 5, 5, 7, 8});
}

TEST_CASE("a lazy expression computes the element that is asked for", "[algorithms]") {
  const auto x = eval(rand<float, Shape<3, 1, 17>>() - 0.5F);
  const auto y = eval(rand<float, Shape<5, 1>>() - 0.5F);
  const auto i = arange(17);
  check_lazy(lazy(x * y + 2));
  check_lazy(lazy(where(x > y, x, -y) / 3));
  check_lazy(lazy(i % 5 + (i / 2)));
  check_lazy(lazy((x > 0) & (y < 0)));
  check_lazy(lazy(cast<twill::half>(x) * y.transpose()[0][slice{.step = -1}][0]));
  check_lazy(lazy(x(all, 0, slice{.step = -2}) * 2));
  check_lazy(lazy(x(0, 0, 3) + 1));
  check_lazy(lazy(x(slice{0, 0}) + y));
  check_lazy(lazy(take<0>(x, tensor({2, 0, 1, 2})) * 2));
  check_lazy(lazy(square(x) - square(x) * square(x)));
}

TEST_CASE("iterators of an expression keep its tensors", "[algorithms]") {
  const auto iterators = [] {
    const auto e = lazy(full<double, Shape<100>>(1.5) * 2);
    return std::pair(begin(e), end(e));
  }();
  CHECK(std::accumulate(iterators.first, iterators.second, 0.0) == 300);
}

TEST_CASE("a contiguous tensor is a span", "[algorithms]") {
  const auto x = rand<float, Shape<4, 5>>();
  CHECK(std::ranges::equal(span_of(x), flat(x)));
  CHECK_THROWS_AS(span_of(x.transpose()), ValueError);
}
