// SPDX-License-Identifier: Apache-2.0
//
// Slices, joins, margins and rolls of traced values: forward against loops over single elements on random tensors, first and
// second derivatives against finite differences.

#include "tests/support/compiled_rows.hpp"
#include "tests/support/numbers.hpp"

#include <twill/compile/function.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/split.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

constexpr auto stepped = [](Value x) { return graph::slice_axis(x, 1, {.begin = 1, .end = {}, .step = 2}); };
constexpr auto backwards = [](Value x) { return graph::slice_axis(x, -1, {.begin = -2, .end = 0, .step = -3}); };
constexpr auto nothing = [](Value x) { return graph::slice_axis(x, 0, {.begin = 2, .end = 1}); };
constexpr auto flipped = [](Value x) { return graph::flip(x, {0, 2}); };
constexpr auto rolled = [](Value x) { return graph::roll(x, -4, 2); };
constexpr auto padded = [](Value x) { return graph::pad(x, 1, {.before = 2, .after = 1}, 7); };
constexpr auto reflected = [](Value x) { return graph::pad_reflect(x, 2, {.before = 4, .after = 2}); };
constexpr auto joined = [](Value x) { return graph::concatenate({x, graph::slice_axis(x, 1, {.begin = 1}), x}, 1); };
constexpr auto stacked = [](Value x) { return graph::stack({x, x * 2}, -1); };
constexpr auto thirds = [](Value x) {
  const auto [a, b, c] = graph::chunk<3>(x, -1);
  return graph::concatenate({c, b, a}, -1);
};
constexpr auto many = [](Value x) { return graph::concatenate({x, x, x, x, x, x, x, x, x, x, x}, 0); };
constexpr auto picked = [](Value x) { return graph::select(x, 1, -1); };

/// y[o, j, i] = x[o, place(j), i], 7 where the place is negative.
template <class T, class Place>
void check(const Tensor<T, Cpu, Shape<dyn, 5, 7>>& x, const auto& y, int axis, std::int64_t count, Place place) {
  const std::vector<double> from = numbers(x);
  const std::vector<double> got = numbers(y);
  const Dims shape = x.shape();
  Dims wanted = shape;
  wanted[axis] = count;
  REQUIRE(static_cast<std::int64_t>(got.size()) == wanted.elements());
  for (std::int64_t i = 0; i < wanted.elements(); ++i) {
    std::int64_t index[3] = {i / (wanted[1] * wanted[2]), i / wanted[2] % wanted[1], i % wanted[2]};
    index[axis] = place(index[axis]);
    const double expected = index[axis] < 0 ? static_cast<double>(static_cast<T>(7))
                                            : from[static_cast<std::size_t>((index[0] * 5 + index[1]) * 7 + index[2])];
    REQUIRE(got[static_cast<std::size_t>(i)] == expected);
  }
}

template <class T> void check_all(std::int64_t rows) {
  const auto x = randn<float, Shape<dyn, 5, 7>>(Dims(rows, 5, 7), Cpu{0}).template to<T>();
  check(x, compiled(stepped)(x), 1, 2, [](std::int64_t j) { return 1 + 2 * j; });
  check(x, compiled(backwards)(x), 2, 2, [](std::int64_t j) { return 5 - 3 * j; });
  check(x, compiled(padded)(x), 1, 8, [](std::int64_t j) { return j < 2 || j == 7 ? -1 : j - 2; });
  check(x, compiled(rolled)(x), 2, 7, [](std::int64_t j) { return (j + 4) % 7; });
  check(x, compiled(joined)(x), 1, 14, [](std::int64_t j) { return j < 5 ? j : j < 9 ? j - 4 : j - 9; });
}

inline constexpr std::array<Dims, 1> blocks[]{{Dims(2, 3, 8)}};
inline constexpr std::tuple slice_rows{
    test::detail::row_on("slices", blocks,
                         [](Value x) {
                           const auto [a, b] = graph::split<2>(graph::slice_axis(x, -1, {.step = -1}), -1);
                           return graph::square(a) * graph::slice_axis(b, 1, {.begin = 1, .end = 2});
                         }),
    test::detail::row_on(
        "joins", blocks,
        [](Value x) {
          const Value y = graph::concatenate({x * x, graph::narrow(x, 2, 1, 3)}, 2);
          return graph::square(graph::pad(graph::roll(y, 3, -1), 1, {1, 2}, 0.5)) * graph::sum(graph::select(y, 1, 0));
        }),
    test::detail::row_on("reflections", blocks,
                         [](Value x) {
                           return graph::exp(graph::pad_reflect(x, 2, {3, 5}));
                         }),
};

} // namespace

TEST_CASE("slices, margins, rolls and joins of traced values are those of loops", "[ops][TRAIN-1]") {
  check_all<float>(3);
  check_all<std::int64_t>(1);
  check_all<half>(2);
  check_all<bool>(17);
  check_all<double>(0);
}

TEST_CASE("traced values are flipped, reflected, stacked and cut into chunks", "[ops][TRAIN-1]") {
  const auto x = randn<float, Shape<dyn, 5, 7>>(Dims(3, 5, 7), Cpu{0});
  check(x, compiled([](Value v) { return graph::flip(v, {2}); })(x), 2, 7, [](std::int64_t j) { return 6 - j; });
  check(x, compiled([](Value v) { return graph::flip(v, {0}); })(x), 0, 3, [](std::int64_t j) { return 2 - j; });
  CHECK(numbers(compiled(flipped)(x)) ==
        numbers(compiled([](Value v) { return graph::flip(graph::flip(v, {2}), {0}); })(x)));
  check(x, compiled(reflected)(x), 2, 13, [](std::int64_t j) { return j < 4 ? 4 - j : j < 11 ? j - 4 : 16 - j; });
  check(x, compiled(thirds)(x), 2, 7, [](std::int64_t j) { return j < 1 ? 6 : j < 4 ? j + 2 : j - 4; });
  const std::vector<double> one = numbers(x);
  const std::vector<double> both = numbers(compiled(stacked)(x));
  REQUIRE(both.size() == 2 * one.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(both[2 * i] == one[i]);
    CHECK(both[2 * i + 1] == 2 * one[i]);
  }
  const auto whole = from_values<Shape<2, 5, 7>>(std::vector<float>(70, 1.5F), Dims(2, 5, 7), Cpu{0});
  CHECK(compiled(many)(whole).shape() == Dims(22, 5, 7));
  CHECK(compiled(nothing)(whole).shape() == Dims(0, 5, 7));
  CHECK(compiled(picked)(whole).shape() == Dims(2, 7));
}

TEST_CASE("equal parts, of which some are not read", "[ops][TRAIN-1]") {
  const auto x = randn<double, Shape<3, 8, 2>>(Cpu{0});
  const std::vector<double> from = numbers(x);
  constexpr auto second = [](Value v) { return graph::split<4>(v, 1)[1]; };
  const std::vector<double> part = numbers(compiled(second)(x));
  for (std::size_t i = 0; i < part.size(); ++i) CHECK(part[i] == from[i / 4 * 16 + 4 + i % 4]);
  const std::vector<double> gradient = numbers(grad([](Value v) { return graph::sum(graph::split<4>(v, 1)[1]); })(x));
  for (std::size_t i = 0; i < gradient.size(); ++i) CHECK(gradient[i] == (i / 4 % 4 == 1 ? 1 : 0));
}

TEST_CASE("derivatives of slices, joins and margins agree with finite differences", "[ops][gradient][TRAIN-1]") {
  check_rows<slice_rows, 0, std::tuple_size_v<decltype(slice_rows)>>();
}
