// SPDX-License-Identifier: Apache-2.0
//
// Running sums, sorting and top-k of traced values: forward against the standard library on random rows, with ties and NaN;
// derivatives against finite differences.

#include "tests/support/compiled_rows.hpp"
#include "tests/support/numbers.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/compile/function.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/sort.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

std::mt19937_64 random_source{test_seed()};

constexpr auto ordered = [](Value x) { return graph::sort(x, 1).indices; };
constexpr auto ordered_values = [](Value x) { return graph::sort(x, 1).values; };
constexpr auto largest = [](Value x) { return graph::topk(x, 3, 1).indices; };
constexpr auto sums = [](Value x) { return graph::cumsum(x, 1); };

/// Few different numbers, so that there are ties; NaN among the floats.
template <class T> std::vector<T> random_numbers(std::int64_t count) {
  std::vector<T> values{};
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(static_cast<int>(random_source() % 9) - 4));
  if constexpr (std::is_floating_point_v<T>)
    for (std::int64_t i = 0; i < count; i += 5)
      values[static_cast<std::size_t>(i)] = std::numeric_limits<T>::quiet_NaN();
  return values;
}

template <class T> void check_orders(std::int64_t outer) {
  constexpr std::int64_t length = 11;
  const std::vector<T> values = random_numbers<T>(outer * length * 2);
  const auto x = from_values<Shape<dyn, 11, 2>>(values, Dims(outer, 11, 2), Cpu{0});
  const std::vector<double> places = numbers(compiled(ordered)(x));
  const std::vector<double> sorted = numbers(compiled(ordered_values)(x));
  const std::vector<double> top = numbers(compiled(largest)(x));
  REQUIRE(top.size() == static_cast<std::size_t>(outer * 6));
  for (std::int64_t line = 0; line < outer * 2; ++line) {
    const auto at = [&](std::int64_t j) { return static_cast<std::size_t>((line / 2 * length + j) * 2 + line % 2); };
    const auto is_before = [&](std::int64_t a, std::int64_t b) {
      const T x_a = values[at(a)];
      const T x_b = values[at(b)];
      return x_a < x_b || (x_a == x_a && x_b != x_b);
    };
    std::vector<std::int64_t> expected(11);
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), is_before);
    for (std::int64_t j = 0; j < length; ++j) {
      REQUIRE(places[at(j)] == static_cast<double>(expected[static_cast<std::size_t>(j)]));
      const auto value = static_cast<double>(values[at(expected[static_cast<std::size_t>(j)])]);
      REQUIRE((sorted[at(j)] == value || (value != value && sorted[at(j)] != sorted[at(j)])));
    }
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return is_before(b, a); });
    for (std::int64_t j = 0; j < 3; ++j)
      REQUIRE(top[static_cast<std::size_t>((line / 2 * 3 + j) * 2 + line % 2)] ==
              static_cast<double>(expected[static_cast<std::size_t>(j)]));
  }
}

inline constexpr std::array<Dims, 1> blocks[]{{Dims(2, 5, 2)}};
inline constexpr std::tuple order_rows{
    test::detail::row_on("cumsum", blocks, [](Value x) { return graph::square(graph::cumsum(x, 1)); }),
    test::detail::row_on("sort and topk", blocks,
                         [](Value x) {
                           graph::Extents five{};
                           five.append({5, 0});
                           const Value weights = graph::unsqueeze(graph::iota(x.graph(), five) + 1, -1);
                           return graph::square(graph::sort(x, 1).values) * weights +
                                  graph::sum(graph::exp(graph::topk(x, 2, 1).values));
                         }),
};

} // namespace

TEST_CASE("traced values are sorted stably, NaN last, and the largest are found", "[ops][TRAIN-1]") {
  check_orders<float>(3);
  check_orders<std::int64_t>(1);
  check_orders<double>(0);
  check_orders<std::uint8_t>(2);
}

TEST_CASE("running sums of traced values", "[ops][TRAIN-1]") {
  const auto check = [](const auto& x) {
    const std::vector<double> from = numbers(x);
    const std::vector<double> got = numbers(compiled(sums)(x));
    REQUIRE(got.size() == from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      double expected = 0;
      for (std::size_t j = 0; j <= i / 3 % 5; ++j) expected += from[i / 15 * 15 + j * 3 + i % 3];
      CHECK(got[i] == Approx(expected).margin(1e-6));
    }
  };
  check(randn<double, Shape<dyn, 5, 3>>(Dims(2, 5, 3), Cpu{0}));
  check(randn<float, Shape<dyn, 5, 3>>(Dims(0, 5, 3), Cpu{0}));
  check(from_values<Shape<1, 5, 3>>(random_numbers<std::int32_t>(15), Dims(1, 5, 3), Cpu{0}));
}

TEST_CASE("derivatives of running sums and of sorting agree with finite differences", "[ops][gradient][TRAIN-1]") {
  check_rows<order_rows, 0, std::tuple_size_v<decltype(order_rows)>>();
}
