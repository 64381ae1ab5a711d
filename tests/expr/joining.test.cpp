// SPDX-License-Identifier: Apache-2.0
//
// Copies that join, repeat, move, surround and cut triangles, each against loops over single elements.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include "../support/late_device.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <vector>

using namespace twill;
using twill::test::Late;
using twill::test::message_of;
using twill::test::numbers;

namespace {
using Numbers = std::vector<double>;
template <class X> using shape_of = typename X::shape_type;
const auto small = arange(6.F).reshape<Shape<2, 3>>();
} // namespace

TEST_CASE("concat and stack put parts one behind another, static extents add up", "[expr]") {
  const auto below = concat<0>(small, small.transpose().clone().reshape<Shape<2, 3>>() * 2.F, tensor({{7, 8, 9}}));
  static_assert(std::is_same_v<shape_of<std::remove_const_t<decltype(below)>>, Shape<5, 3>>);
  CHECK(numbers(below) == Numbers{0, 1, 2, 3, 4, 5, 0, 6, 2, 8, 4, 10, 7, 8, 9});
  static_assert(std::is_same_v<decltype(concat<0>(tensor({1}), tensor({1.0})))::value_type, double>);
  static_assert(std::is_same_v<decltype(concat<0>(tensor({true}), tensor({2})))::value_type, int>);
  CHECK(numbers(concat<-1>(small, flip<1>(small))) == Numbers{0, 1, 2, 2, 1, 0, 3, 4, 5, 5, 4, 3});
  CHECK(numbers(concatenate<0>(arange(2), zeros<int, Shape<0>>(), arange(3))) == Numbers{0, 1, 0, 1, 2});
  const Tensor<float, Cpu, Shape<dyn, 3>> open = small;
  static_assert(std::is_same_v<decltype(concat<0>(open, small))::shape_type, Shape<dyn, 3>>);
  static_assert(std::is_same_v<decltype(concat<1>(open, small))::shape_type, Shape<2, 6>>);
  CHECK(numbers(concat<0>(split<0>(small, 2))) == numbers(small));
  CHECK(message_of<ShapeError>([&] { (void)concat<0>(small.reshape(2, 3), small.reshape(3, 2)); }) ==
        "concat: shapes (2, 3) and (3, 2) differ beside axis 0");
  CHECK_THROWS_AS(concat<0>(arange(2, Late{0}), arange(2, Late{1})), DeviceError);
  const auto stacked = stack<1>(small, small + 1.F);
  static_assert(std::is_same_v<shape_of<std::remove_const_t<decltype(stacked)>>, Shape<2, 2, 3>>);
  CHECK(numbers(stacked) == Numbers{0, 1, 2, 1, 2, 3, 3, 4, 5, 4, 5, 6});
  CHECK(numbers(stack<0>(scalar(1), scalar(2))) == Numbers{1, 2});
  CHECK(numbers(hstack(arange(2), arange(1))) == Numbers{0, 1, 0});
  CHECK(hstack(small, small).shape() == Dims(2, 6));
  CHECK(vstack(arange(3), arange(3)).shape() == Dims(2, 3));
  CHECK(numbers(concat<0>(arange(2, Late{0}), arange(2, Late{0}) + 5)) == Numbers{0, 1, 5, 6});
}

TEST_CASE("tile, repeat and roll move and repeat elements", "[expr]") {
  static_assert(std::is_same_v<decltype(tile<2, 1>(small))::shape_type, Shape<4, 3>>);
  static_assert(std::is_same_v<decltype(repeat<1, 4>(small))::shape_type, Shape<2, 12>>);
  for (const int rows : {1, 2, 7})
    for (const int columns : {1, 3, 17})
      for (const int down : {0, 1, 2, 5})
        for (const int along : {1, 3}) {
          const auto x = flip<1>(arange(rows * columns).reshape(columns, rows).transpose());
          const auto tiled = tile(x, 2, down, along);
          const auto repeated = repeat<0>(x, down);
          REQUIRE(tiled.shape() == Dims(2, rows * down, columns * along));
          REQUIRE(repeated.shape() == Dims(rows * down, columns));
          Numbers expected_tiles;
          Numbers expected_rows;
          for (int i = 0; i < 2 * rows * down; ++i)
            for (int j = 0; j < columns * along; ++j)
              expected_tiles.push_back(x(i % (rows * down) % rows, j % columns).item());
          for (int i = 0; i < rows * down; ++i)
            for (int j = 0; j < columns; ++j) expected_rows.push_back(x(i / down, j).item());
          CHECK(numbers(tiled) == expected_tiles);
          CHECK(numbers(repeated) == expected_rows);
          for (const int shift : {-8, -1, 0, 1, 3, 20}) {
            const auto rolled = roll<1>(x, shift);
            for (int j = 0; j < columns; ++j)
              REQUIRE(rolled(0, ((j + shift) % columns + columns) % columns).item() == x(0, j).item());
          }
        }
  CHECK(numbers(tile(arange(3), 2)) == Numbers{0, 1, 2, 0, 1, 2});
  CHECK(numbers(tile(scalar(4), 3)) == Numbers{4, 4, 4});
  CHECK(numbers(repeat(small * 2.F, 2)) == Numbers{0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10});
  CHECK(numbers(roll<0, 1>(small, 1, -1)) == Numbers{4, 5, 3, 1, 2, 0});
  CHECK(numbers(roll(small, 2)) == Numbers{4, 5, 0, 1, 2, 3});
  CHECK(roll<0>(zeros<int, Shape<0>>(), 3).elements() == 0);
  CHECK(message_of<ValueError>([] { (void)repeat<0>(small, -1); }) == "repeat: -1 repetitions; a count is at least 0");
}

TEST_CASE("pad surrounds by a constant, the edge, mirror images or the other end", "[expr]") {
  const auto source = [](PadMode mode, int place, int extent) {
    const int period = mode == PadMode::reflect ? 2 * (extent - 1) : 2 * extent;
    if (mode == PadMode::edge) return place < 0 ? 0 : place >= extent ? extent - 1 : place;
    if (mode == PadMode::wrap) return ((place % extent) + extent) % extent;
    if (extent == 1) return 0;
    int turn = ((place % period) + period) % period;
    if (turn >= extent) turn = mode == PadMode::reflect ? period - turn : period - 1 - turn;
    return turn;
  };
  for (const PadMode mode : {PadMode::edge, PadMode::reflect, PadMode::symmetric, PadMode::wrap})
    for (const int rows : {1, 2, 5})
      for (const int columns : {1, 3, 4}) {
        const auto x = arange(rows * columns).reshape(columns, rows).transpose();
        const auto padded = pad(x, {{2, 7}, {0, 9}}, {.mode = mode});
        REQUIRE(padded.shape() == Dims(rows + 9, columns + 9));
        for (int i = 0; i < rows + 9; ++i)
          for (int j = 0; j < columns + 9; ++j)
            REQUIRE(padded(i, j).item() == x(source(mode, i - 2, rows), source(mode, j, columns)).item());
      }
  CHECK(numbers(pad(tensor({1, 2}), {{1, 2}}, {.value = 9})) == Numbers{9, 1, 2, 9, 9});
  CHECK(numbers(pad(small * 1.F, {{0, 1}, {1, 0}})) == Numbers{0, 0, 1, 2, 0, 3, 4, 5, 0, 0, 0, 0});
  CHECK(pad(zeros<float, Shape<0, 2>>(), {1, 1}).shape() == Dims(2, 4));
  CHECK(message_of<ValueError>([] {
          (void)pad(zeros<float, Shape<0>>(), {{1, 0}}, {.mode = PadMode::edge});
        }) == "pad: axis 0 of shape (0,) holds nothing to repeat; use PadMode::constant");
  CHECK_THROWS_AS(pad(small, {-1, 0}), ValueError);
}

TEMPLATE_TEST_CASE("triangles and diagonals", "[expr]", bool, int, float) {
  for (const int rows : {1, 3, 17})
    for (const int columns : {1, 4, 33})
      for (const int offset : {-20, -1, 0, 2, 40}) {
        const auto x = ones<TestType, Shape<dyn, dyn, dyn>>(Dims(2, columns, rows)).template transpose<1, 2>();
        const auto lower = tril(x, offset);
        const auto upper = triu(x, offset);
        const auto whole = tri<TestType, Shape<dyn, dyn>>(Dims(rows, columns), offset);
        Numbers expected_lower;
        Numbers expected_upper;
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j) {
            expected_lower.push_back(j - i <= offset ? 1 : 0);
            expected_upper.push_back(j - i >= offset ? 1 : 0);
          }
        CHECK(numbers(lower[1]) == expected_lower);
        CHECK(numbers(upper[1]) == expected_upper);
        CHECK(numbers(whole) == expected_lower);
      }
}

TEST_CASE("diag, trace and grids", "[expr]") {
  CHECK(numbers(diag(tensor({1, 2}))) == Numbers{1, 0, 0, 2});
  CHECK(numbers(diag(tensor({1, 2}), 1)) == Numbers{0, 1, 0, 0, 0, 2, 0, 0, 0});
  CHECK(numbers(diag(small, -1)) == Numbers{3});
  CHECK(trace(small).item() == 4);
  CHECK(trace(arange(9).reshape(3, 3), 1).item() == 6);
  const auto decades = numbers(logspace<double>(-1, 2, 4));
  const auto doubled = numbers(geomspace(-1, -1000, 4));
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(decades[i] == Approx(std::pow(10.0, static_cast<double>(i) - 1)).epsilon(1e-14));
    CHECK(doubled[i] == Approx(-std::pow(10.0, static_cast<double>(i))).epsilon(1e-6));
  }
  CHECK(doubled[3] == -1000);
  CHECK_THROWS_AS(geomspace(-1, 1, 3), ValueError);
  const auto [x, y] = meshgrid(arange(3), tensor({10.0, 20.0}));
  CHECK(x.shape() == Dims(2, 3));
  CHECK(numbers(x) == Numbers{0, 1, 2, 0, 1, 2});
  CHECK(numbers(y) == Numbers{10, 10, 10, 20, 20, 20});
  const auto [a, b, c] = meshgrid<Indexing::ij>(tensor({1, 2}), tensor({3}), tensor({4, 5}));
  static_assert(std::is_same_v<shape_of<std::remove_const_t<decltype(b)>>, Shape<2, 1, 2>>);
  CHECK(numbers(a) == Numbers{1, 1, 2, 2});
  CHECK(numbers(c) == Numbers{4, 5, 4, 5});
  const auto places = tensor({0, 5, -1, 23});
  const auto axes = unravel_index<3>(places, Dims(2, 3, 4));
  CHECK(numbers(axes[0]) == Numbers{0, 0, 1, 1});
  CHECK(numbers(axes[1]) == Numbers{0, 1, 2, 2});
  CHECK(numbers(axes[2]) == Numbers{0, 1, 3, 3});
  CHECK(numbers(ravel_multi_index(Dims(2, 3, 4), axes[0], axes[1], axes[2])) == Numbers{0, 5, 23, 23});
  CHECK_THROWS_AS(unravel_index<1>(tensor({4}), Dims(4)), IndexError);
}
