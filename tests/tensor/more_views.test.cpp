// SPDX-License-Identifier: Apache-2.0
//
// Views made by free functions: every element is followed back to the one it must show, the memory is shared, and a view
// outlives the tensor that it was taken of.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

using namespace twill;
using twill::test::message_of;
using twill::test::numbers;

namespace {
template <class X> using shape_of = typename X::shape_type;
} // namespace

TEST_CASE("flip turns any axes around and shares memory", "[tensor]") {
  const auto x = arange(24).reshape<Shape<2, 3, 4>>();
  const auto a = flip<0>(x);
  const auto b = flip<0, -1>(x);
  const auto c = flip(x);
  static_assert(std::is_same_v<shape_of<decltype(b)>, Shape<2, 3, 4>>);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) {
        CHECK(a(i, j, k).item() == x(1 - i, j, k).item());
        CHECK(b(i, j, k).item() == x(1 - i, j, 3 - k).item());
        CHECK(c(i, j, k).item() == x(1 - i, 2 - j, 3 - k).item());
      }
  c(0, 0, 0) = 100;
  CHECK(x(-1, -1, -1).item() == 100);
  CHECK(numbers(flip<1>(flip<1>(x))) == numbers(x));
  CHECK(numbers(flipud(tensor({{1, 2}, {3, 4}}))) == std::vector<double>{3, 4, 1, 2});
  CHECK(numbers(fliplr(tensor({{1, 2}, {3, 4}}))) == std::vector<double>{2, 1, 4, 3});
  CHECK(flip<0>(zeros<int, Shape<0, 3>>()).elements() == 0);
  CHECK(flip(scalar(3)).item() == 3);
  CHECK(numbers(flip<0>(tensor({1, 2, 3, 4, 5})[slice{.step = 2}])) == std::vector<double>{5, 3, 1});
}

TEST_CASE("axes move, turn, come and go", "[tensor]") {
  const auto x = arange(24).reshape<Shape<2, 3, 4>>();
  const auto moved = moveaxis<0, -1>(x);
  static_assert(std::is_same_v<shape_of<decltype(moved)>, Shape<3, 4, 2>>);
  static_assert(std::is_same_v<shape_of<decltype(moveaxis<2, 0>(x))>, Shape<4, 2, 3>>);
  static_assert(std::is_same_v<shape_of<decltype(swapaxes<0, 2>(x))>, Shape<4, 3, 2>>);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) {
        CHECK(moved(j, k, i).item() == x(i, j, k).item());
        CHECK(moveaxis<2, 0>(x)(k, i, j).item() == x(i, j, k).item());
      }
  const auto m = tensor({{1, 2, 3}, {4, 5, 6}});
  CHECK(numbers(rot90(m)) == std::vector<double>{3, 6, 2, 5, 1, 4});
  CHECK(numbers(rot90<2>(m)) == std::vector<double>{6, 5, 4, 3, 2, 1});
  CHECK(numbers(rot90<-1>(m)) == std::vector<double>{4, 1, 5, 2, 6, 3});
  CHECK(numbers(rot90<4>(m)) == numbers(m));
  CHECK(atleast_1d(scalar(1)).shape() == Dims(1));
  CHECK(atleast_2d(arange(3)).shape() == Dims(1, 3));
  CHECK(atleast_3d(arange(3)).shape() == Dims(1, 3, 1));
  CHECK(atleast_2d(m).data() == m.data());
  CHECK(ravel(m).data() == m.data());
  CHECK(numbers(ravel(m.transpose())) == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(expand_dims<1>(m).shape() == Dims(2, 1, 3));
  CHECK(broadcast_to<Shape<4, 2, 3>>(m).strides() == Dims(0, 3, 1));
}

TEST_CASE("narrow, diagonal and windows show what they say", "[tensor]") {
  const auto x = arange(35).reshape<Shape<5, 7>>();
  static_assert(std::is_same_v<shape_of<decltype(narrow<1, 3>(x, 2))>, Shape<5, 3>>);
  CHECK(numbers(narrow<0>(x, 1, 2)) == numbers(x[slice{1, 3}]));
  CHECK(numbers(narrow<1>(x, -3, 2)) == numbers(x(all, slice{4, 6})));
  CHECK(narrow<0>(x, 5, 0).shape() == Dims(0, 7));
  CHECK(message_of<IndexError>([&] { (void)narrow<0>(x, 4, 2); }) ==
        "narrow: 2 elements from 4 on are outside axis 0 of extent 5");
  for (int offset = -6; offset <= 8; ++offset) {
    std::vector<double> expected;
    for (int i = 0; i < 5; ++i)
      if (i + offset >= 0 && i + offset < 7) expected.push_back(x(i, i + offset).item());
    CAPTURE(offset);
    CHECK(numbers(diagonal(x, offset)) == expected);
    CHECK(numbers(diagonal<1, 0>(x, -offset)) == expected);
    CHECK(numbers(diagonal(flip<0>(flip<0>(x)), offset)) == expected);
  }
  const auto cube = arange(24).reshape<Shape<2, 3, 4>>();
  const auto planes = diagonal<0, 2>(cube, 1);
  static_assert(std::is_same_v<shape_of<decltype(planes)>, Shape<3, dyn>>);
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 2; ++i) CHECK(planes(j, i).item() == cube(i, j, i + 1).item());
  diagonal(x).fill(0);
  CHECK(x(4, 4).item() == 0);
  const auto windows = sliding_window_view<1>(x, 3);
  REQUIRE(windows.shape() == Dims(5, 5, 3));
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j)
      for (int k = 0; k < 3; ++k) CHECK(windows(i, j, k).item() == x(i, j + k).item());
  CHECK(message_of<ValueError>([&] { (void)sliding_window_view<0>(x, 6); }) ==
        "sliding_window_view: a window of 6 does not fit axis 0 of extent 5");
}

TEST_CASE("split and chunk cut as NumPy and PyTorch do", "[tensor]") {
  const auto x = arange(24).reshape<Shape<6, 4>>();
  const auto extents = [](const auto& parts) {
    std::vector<std::int64_t> result;
    for (const auto& part : parts) result.push_back(part.size(0));
    return result;
  };
  using Extents = std::vector<std::int64_t>;
  CHECK(extents(split<0>(x, 3)) == Extents{2, 2, 2});
  CHECK(numbers(split<1>(x, 2)[1]) == numbers(x(all, slice{2, 4})));
  CHECK(extents(split<0>(x, {1, 4})) == Extents{1, 3, 2});
  CHECK(extents(split<0>(x, {4, 1, 9})) == Extents{4, 0, 5, 0});
  CHECK(extents(array_split<0>(x, 4)) == Extents{2, 2, 1, 1});
  CHECK(extents(array_split<0>(x, 7)) == Extents{1, 1, 1, 1, 1, 1, 0});
  CHECK(extents(chunk<0>(x, 4)) == Extents{2, 2, 2});
  CHECK(extents(chunk<0>(x, 9)) == Extents{1, 1, 1, 1, 1, 1});
  const auto [left, right] = split<1, 2>(x);
  static_assert(std::is_same_v<shape_of<std::remove_const_t<decltype(left)>>, Shape<6, 2>>);
  CHECK(right.data() == x.data() + 2);
  CHECK(message_of<ValueError>([&] { (void)split<0>(x, 4); }) ==
        "split: 4 sections do not divide axis 0 of extent 6; array_split allows unequal ones");
  CHECK_THROWS_AS(chunk<0>(x, 0), ValueError);
}

TEST_CASE("a view outlives its tensor, and views of views its memory", "[tensor][MEM-4]") {
  auto view = [] { return flip<0>(arange(6).reshape<Shape<2, 3>>()); }();
  auto part = split<1>(view, 3)[2];
  auto line = diagonal(view.transpose(), -1);
  view.reset();
  CHECK(numbers(part) == std::vector<double>{5, 2});
  part.reset();
  CHECK(numbers(line) == std::vector<double>{4, 2});
}
