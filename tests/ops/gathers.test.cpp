// SPDX-License-Identifier: Apache-2.0
//
// Traced values read and added to by indices: forward against loops over single elements with random indices, negative ones
// and, where they are computed, some outside of the axis among them; derivatives against finite differences; the same bits on any team.

#include "tests/support/compiled_rows.hpp"
#include "tests/support/numbers.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/compile/function.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/triangles.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

std::mt19937_64 random_source{test_seed()};

/// Indices of an axis, from its end, and outside of it.
template <class T> std::vector<T> random_indices(std::int64_t count, std::int64_t extent) {
  std::vector<T> indices{};
  for (std::int64_t i = 0; i < count; ++i)
    indices.push_back(static_cast<T>(
        static_cast<std::int64_t>(random_source() % static_cast<unsigned>(2 * extent + 4)) - extent - 2));
  return indices;
}

/// The place an index means, -1 for none.
std::int64_t place(std::int64_t index, std::int64_t extent) {
  const std::int64_t i = index < 0 ? index + extent : index;
  return i >= 0 && i < extent ? i : -1;
}

/// The same index, as the function's own work: what points outside is not refused.
constexpr Value computed(Value index) { return graph::minimum(index, 1000); }

template <class T, class I> void check_take(std::int64_t rows, std::int64_t count) {
  const auto x = randn<float, Shape<dyn, 7, 3>>(Dims(rows, 7, 3), Cpu{0}).template to<T>();
  const std::vector<I> indices = random_indices<I>(count, 7);
  const auto index = from_values<Shape<dyn>>(indices, Dims(count), Cpu{0});
  const std::vector<double> from = numbers(x);
  const std::vector<double> got =
      numbers(compiled([](Value v, Value i) { return graph::take(v, computed(i), 1); })(x, index));
  const std::vector<double> sums = numbers(compiled([](Value v, Value i) {
    i = computed(i);
    return graph::index_add(graph::take(v, i, 1), 1, graph::iota(v.graph(), i.shape()), graph::take(v, i, 1));
  })(x, index));
  REQUIRE(static_cast<std::int64_t>(got.size()) == rows * count * 3);
  for (std::int64_t o = 0; o < rows; ++o)
    for (std::int64_t j = 0; j < count; ++j)
      for (std::int64_t i = 0; i < 3; ++i) {
        const std::int64_t p = place(static_cast<std::int64_t>(indices[static_cast<std::size_t>(j)]), 7);
        const double expected = p < 0 ? 0 : from[static_cast<std::size_t>((o * 7 + p) * 3 + i)];
        const auto at = static_cast<std::size_t>((o * count + j) * 3 + i);
        REQUIRE(got[at] == expected);
        REQUIRE(sums[at] == 2 * expected);
      }
}

constexpr auto along = [](Value x, Value index) { return graph::take_along_axis(x, computed(index), 1); };
constexpr auto add_along = [](Value x, Value index, Value values) {
  return graph::scatter_add(x, 1, computed(index), values);
};

void check_along(std::int64_t rows, std::int64_t count) {
  const auto x = randn<double, Shape<dyn, 5, 4>>(Dims(rows, 5, 4), Cpu{0});
  const std::vector<std::int64_t> indices = random_indices<std::int64_t>(rows * count * 4, 5);
  const auto index = from_values<Shape<dyn, dyn, 4>>(indices, Dims(rows, count, 4), Cpu{0});
  const auto values = randn<double, Shape<dyn, dyn, 4>>(Dims(rows, count, 4), Cpu{0});
  const std::vector<double> from = numbers(x);
  const std::vector<double> got = numbers(compiled(along)(x, index));
  std::vector<double> sums(from.size());
  const std::vector<double> added = numbers(values);
  for (std::int64_t r = 0; r < rows * count * 4; ++r) {
    const std::int64_t o = r / (count * 4);
    const std::int64_t p = place(indices[static_cast<std::size_t>(r)], 5);
    const auto at = static_cast<std::size_t>((o * 5 + (p < 0 ? 0 : p)) * 4 + r % 4);
    REQUIRE(got[static_cast<std::size_t>(r)] == (p < 0 ? 0 : from[at]));
    if (p >= 0) sums[at] += added[static_cast<std::size_t>(r)];
  }
  const std::vector<double> scattered = numbers(compiled(add_along)(x, index, values));
  REQUIRE(scattered.size() == from.size());
  for (std::size_t i = 0; i < from.size(); ++i) REQUIRE(scattered[i] == from[i] + sums[i]);
}

constexpr Value some_indices(Value x, std::int64_t count) {
  graph::Extents shape{};
  shape.append({count, 0});
  return graph::iota(x.graph(), shape) * 5 % 4; // 0 1 2 3 0 …: places repeat
}
inline constexpr std::array<Dims, 1> blocks[]{{Dims(2, 4, 3)}};
inline constexpr std::tuple gather_rows{
    test::detail::row_on("take and index_add", blocks,
                         [](Value x) {
                           const Value y = graph::take(x, some_indices(x, 6), 1);
                           return graph::index_add(x, 1, some_indices(x, 6), y * y);
                         }),
    test::detail::row_on("take_along_axis and scatter_add", blocks,
                         [](Value x) {
                           graph::Extents shape = x.shape();
                           const Value index = graph::iota(x.graph(), shape) % 4;
                           const Value y = graph::take_along_axis(x, index, 1);
                           return graph::scatter_add(graph::tril(x), 1, index, graph::square(y));
                         }),
};

} // namespace

TEST_CASE("slices of a traced value are taken by indices of every type", "[ops][TRAIN-1]") {
  check_take<float, std::int64_t>(3, 11);
  check_take<double, std::int32_t>(1, 1);
  check_take<half, std::int64_t>(2, 5);
  check_take<std::int64_t, std::int64_t>(2, 0);
  check_take<float, std::int64_t>(0, 3);
}

TEST_CASE("elements are taken and added along an axis by an index of the same rank", "[ops][TRAIN-1]") {
  check_along(3, 7);
  check_along(1, 1);
  check_along(2, 0);
}

TEST_CASE("an index of more axes puts them all into the place of one", "[ops][TRAIN-1]") {
  const auto weight = randn<float, Shape<11, 5>>(Cpu{0});
  const auto index = from_values<Shape<2, 3>>(std::vector<std::int32_t>{0, 10, 4, -1, 4, 0}, Dims(2, 3), Cpu{0});
  const auto rows = compiled([](Value w, Value i) { return graph::take(w, i); })(weight, index);
  REQUIRE(rows.shape() == Dims(2, 3, 5));
  const std::vector<double> from = numbers(weight);
  const std::vector<double> got = numbers(rows);
  const std::int64_t places[] = {0, 10, 4, 10, 4, 0};
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == from[static_cast<std::size_t>(places[i / 5]) * 5 + i % 5]);
}

TEST_CASE("sums of many rows do not depend on the number of threads", "[ops][TRAIN-1]") {
  constexpr std::int64_t rows = 3000;
  constexpr std::int64_t width = 130;
  std::vector<float> values{};
  for (std::int64_t i = 0; i < rows * width; ++i) values.push_back(static_cast<float>(random_source() % 1000) * 0.001F);
  std::vector<std::int64_t> indices = random_indices<std::int64_t>(rows, 5);
  const kernel::IndexedBlocks blocks_of_rows{.places = rows, .extent = 5, .inner = width};
  std::vector<float> serial(5 * width);
  std::vector<float> parallel(5 * width, 3.0F);
  kernel::scatter_sums(Team::serial(), values.data(), indices.data(), serial.data(), blocks_of_rows);
  static auto& threads = *new twill::detail::ForkJoin{{0, 0, 0}, "scatter"}; // its threads never end
  kernel::scatter_sums(Team{threads}, values.data(), indices.data(), parallel.data(), blocks_of_rows);
  CHECK(serial == parallel);
}

TEST_CASE("an index that points outside is refused before a run", "[ops][TRAIN-1]") {
  using Catch::Contains;
  const auto x = randn<float, Shape<dyn, 7>>(Dims(2, 7), Cpu{0});
  const auto at = [](std::int32_t i) {
    return from_values<Shape<3>>(std::vector<std::int32_t>{0, i, 1}, Dims(3), Cpu{0});
  };
  constexpr auto taken = [](Value v, Value i) { return graph::take(v, i, 1); };
  CHECK_NOTHROW(compiled(taken)(x, at(-7)));
  CHECK_NOTHROW(compiled(taken)(x, at(6)));
  CHECK_THROWS_AS(compiled(taken)(x, at(7)), IndexError);
  CHECK_THROWS_WITH(compiled(taken)(x, at(-8)),
                    Contains("between -7 and 6") && Contains("element 1 of argument 2 is -8"));
  constexpr auto rows = [](Value v, Value i) { return graph::take(v, i); }; // of an extent that the run knows
  CHECK_THROWS_WITH(compiled(rows)(x, at(2)), Contains("between -2 and 1"));
  constexpr auto hot = [](Value i) { return graph::one_hot(i, 4); };
  CHECK_THROWS_WITH(compiled(hot)(at(-1)), Contains("between 0 and 3"));
}

TEST_CASE("one_hot and triangles are comparisons of positions", "[ops][TRAIN-1]") {
  const auto index = from_values<Shape<4>>(std::vector<std::int64_t>{2, 0, -1, 3}, Dims(4), Cpu{0});
  const auto hot = compiled([](Value i) { return graph::one_hot(computed(i), 3); })(index);
  CHECK(numbers(hot) == std::vector<double>{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  const auto x = randn<float, Shape<2, 3, 5>>(Cpu{0});
  const std::vector<double> from = numbers(x);
  const std::vector<double> lower = numbers(compiled([](Value v) { return graph::tril(v, 1); })(x));
  const std::vector<double> upper = numbers(compiled([](Value v) { return graph::triu(v, -1); })(x));
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i / 5 % 3);
    const auto column = static_cast<std::int64_t>(i % 5);
    CHECK(lower[i] == (column - row <= 1 ? from[i] : 0));
    CHECK(upper[i] == (column - row >= -1 ? from[i] : 0));
  }
}

TEST_CASE("derivatives of reading and adding by index agree with finite differences", "[ops][gradient][TRAIN-1]") {
  check_rows<gather_rows, 0, std::tuple_size_v<decltype(gather_rows)>>();
}
