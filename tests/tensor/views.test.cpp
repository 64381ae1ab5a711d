// SPDX-License-Identifier: Apache-2.0
//
// Views against a naive reference: every index of the view is followed back to the element it must show.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace twill;
using twill::test::message_of;
using twill::test::numbers;

namespace {
/// What Python's slice keeps of 0, 1, ... n - 1.
std::vector<int> python_slice(int n, slice range) {
  std::vector<int> kept;
  const bool forward = range.step > 0;
  const auto bound = [&](std::int64_t b) { return b < 0 ? b + n : b; };
  std::int64_t i = range.begin ? bound(*range.begin) : (forward ? 0 : n - 1);
  if (forward && i < 0) i = 0;
  if (!forward && i >= n) i = n - 1;
  const std::int64_t end = range.end ? bound(*range.end) : (forward ? n : -1);
  for (; forward ? i < end && i < n : i > end && i >= 0; i += range.step)
    if (i >= 0 && i < n) kept.push_back(static_cast<int>(i));
  return kept;
}
} // namespace

TEST_CASE("slices keep what Python's keep", "[tensor]") {
  for (const int n : {0, 1, 2, 7}) {
    const auto x = arange(n);
    for (int begin = -9; begin <= 9; ++begin)
      for (int end = -9; end <= 9; ++end)
        for (const int step : {1, 2, 3, -1, -2, -5}) {
          // a begin below the front counts as the front for negative steps in neither language: nothing is kept
          CAPTURE(n, begin, end, step);
          CHECK(numbers<int>(x[slice{begin, end, step}]) == [&] {
            std::vector<int> kept;
            const auto clamp = [&](int b) {
              if (b < 0) b += n;
              if (step > 0) return b < 0 ? 0 : b > n ? n : b;
              return b < -1 ? -1 : b > n - 1 ? n - 1 : b;
            };
            for (int i = clamp(begin); step > 0 ? i < clamp(end) : i > clamp(end); i += step) kept.push_back(i);
            return kept;
          }());
        }
    for (const int step : {1, 3, -1, -2}) {
      CHECK(numbers<int>(x[slice{.step = step}]) == python_slice(n, slice{.step = step}));
      CHECK(numbers<int>(x[slice{.begin = 1, .step = step}]) == python_slice(n, slice{.begin = 1, .step = step}));
      CHECK(numbers<int>(x[slice{.end = 1, .step = step}]) == python_slice(n, slice{.end = 1, .step = step}));
    }
  }
  // steps that pass the end, and whose multiples no integer holds
  for (const std::int64_t step :
       {std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max(), -std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    CAPTURE(step);
    CHECK(numbers<int>(arange(3)[slice{.step = step}]) == std::vector{step > 0 ? 0 : 2});
    CHECK(numbers<int>(arange(0)[slice{.step = step}]).empty());
  }
  CHECK(message_of([] { (void)arange(3)[slice{.step = 0}]; }) ==
        "slice: the step is 0; a step is positive or negative");
}

TEST_CASE("indices drop, keep and make axes as NumPy's do", "[tensor]") {
  const auto x = arange(24).reshape<Shape<2, 3, 4>>();
  static_assert(std::is_same_v<decltype(x[1])::shape_type, Shape<3, 4>>);
  static_assert(std::is_same_v<decltype(x(all, 0))::shape_type, Shape<2, 4>>);
  static_assert(std::is_same_v<decltype(x(ellipsis, 0))::shape_type, Shape<2, 3>>);
  static_assert(std::is_same_v<decltype(x(newaxis, ellipsis, slice{}))::shape_type, Shape<1, 2, 3, dyn>>);
  CHECK(x(1, 2, 3).item() == 23);
  CHECK(x(-1, -1, -1).item() == 23);
  CHECK(numbers<int>(x(1, slice{1, 3}, -2)) == std::vector<int>{18, 22});
  CHECK(numbers<int>(x(all, 1, slice{.step = -2})) == std::vector<int>{7, 5, 19, 17});
  CHECK(numbers<int>(x(ellipsis, 0)) == std::vector<int>{0, 4, 8, 12, 16, 20});
  CHECK(numbers<int>(x[0][1]) == std::vector<int>{4, 5, 6, 7});
  CHECK(x(newaxis, ellipsis, slice{0, 2}).shape() == Dims(1, 2, 3, 2));
  CHECK(message_of([&] { (void)x(0, 3); }) == "index: 3 is outside axis 1 of extent 3");
  CHECK(message_of([&] { (void)x[-3]; }) == "index: -3 is outside axis 0 of extent 2");
}

TEST_CASE("a slice shares its tensor's memory", "[tensor]") {
  const auto x = zeros<int, Shape<3, 4>>();
  x(all, slice{1, 3}).fill(5);
  x(slice{.step = -2}, 0).copy_from(tensor({7, 8}));
  CHECK(numbers<int>(x) == std::vector<int>{8, 5, 5, 0, 0, 5, 5, 0, 7, 5, 5, 0});
}

TEST_CASE("transposing and permuting move axes", "[tensor]") {
  const auto x = arange(24).reshape<Shape<2, 3, 4>>();
  const auto moved = x.permute<2, 0, 1>();
  static_assert(std::is_same_v<decltype(x.permute<-1, 0, 1>())::shape_type, Shape<4, 2, 3>>);
  static_assert(std::is_same_v<decltype(x.transpose())::shape_type, Shape<4, 3, 2>>);
  static_assert(std::is_same_v<decltype(x.transpose<0, -1>())::shape_type, Shape<4, 3, 2>>);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) {
        CHECK(moved(k, i, j).item() == x(i, j, k).item());
        CHECK(x.transpose()(k, j, i).item() == x(i, j, k).item());
        CHECK(x.transpose<1, 2>()(i, k, j).item() == x(i, j, k).item());
      }
  CHECK(moved.data() == x.data());
}

TEST_CASE("reshape is a view where strides allow and a copy elsewhere", "[tensor]") {
  const auto x = arange(24).reshape<Shape<2, 3, 4>>();
  CHECK(x.reshape<Shape<6, 4>>().data() == x.data());
  CHECK(x.reshape(-1, 2).shape() == Dims(12, 2));
  CHECK(x.reshape<Shape<dyn, 8>>().shape() == Dims(3, 8));
  CHECK(x.transpose<0, 1>().reshape<Shape<3, 2, 2, 2>>().data() == x.data());
  CHECK(x(all, all, slice{0, 2}).reshape(6, 2).data() == x.data());
  const auto copied = x.transpose().reshape(-1);
  CHECK(copied.data() != x.data());
  std::vector<int> expected;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) expected.push_back(i * 12 + j * 4 + k);
  CHECK(numbers<int>(copied) == expected);
  CHECK(scalar(3).reshape(1, 1).shape() == Dims(1, 1));
  CHECK(zeros<int, Shape<0, 3>>().reshape(3, 0).shape() == Dims(3, 0));
  CHECK(message_of([&] { (void)x.reshape(5, -1); }) ==
        "reshape: shape (2, 3, 4) has 24 elements, which do not fill (5, -1)");
  CHECK(message_of([&] { (void)x.reshape(5, 5); }) ==
        "reshape: shape (2, 3, 4) has 24 elements, which do not fill (5, 5)");
}

TEST_CASE("every reshape of random views shows the elements in row-major order", "[tensor]") {
  std::mt19937 random(7);
  const auto x = arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5);
  for (int round = 0; round < 200; ++round) {
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const auto view =
        x(slice{pick(2), 2}, slice{.step = pick(2) == 0 ? 1 : -1}, slice{pick(3), 4}, slice{.step = 1 + pick(2)});
    const auto turned = pick(2) == 0 ? view.permute<0, 1, 2, 3>() : view.permute<1, 0, 2, 3>();
    const auto expected = numbers<int>(turned);
    CHECK(numbers<int>(turned.reshape(-1)) == expected);
    CHECK(numbers<int>(turned.reshape(turned.size(0) * turned.size(1), -1)) == expected);
    CHECK(numbers<int>(turned.reshape(-1, turned.size(2) * turned.size(3))) == expected);
    CHECK(numbers<int>(turned.contiguous()) == expected);
  }
}

TEST_CASE("axes of extent one come, go and repeat", "[tensor]") {
  const auto x = arange(6).reshape<Shape<2, 3>>();
  static_assert(std::is_same_v<decltype(x.unsqueeze<-1>())::shape_type, Shape<2, 3, 1>>);
  CHECK(x.unsqueeze<1>().shape() == Dims(2, 1, 3));
  CHECK(x.unsqueeze<1>().squeeze<1>().shape() == Dims(2, 3));
  CHECK(numbers<int>(x.unsqueeze<1>().expand<Shape<2, 2, 3>>()) ==
        std::vector<int>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  CHECK(x.expand<Shape<4, 2, 3>>().strides() == Dims(0, 3, 1));
  const auto wide = x.expand<Shape<4, 2, 3>>().transpose<1, 2>();
  CHECK(Dims(wide.size<0>(), wide.size<1>(), wide.size<-1>()) == wide.shape());
  CHECK(Dims(wide.stride<0>(), wide.stride<1>(), wide.stride<-1>()) == wide.strides());
  CHECK(x.flatten().shape() == Dims(6));
  CHECK(x.unsqueeze<0>().flatten<1, 2>().shape() == Dims(1, 6));
  CHECK(scalar(1).flatten().shape() == Dims(1));
  const auto open = arange(6).reshape(2, 3);
  CHECK(message_of([&] { (void)open.squeeze<0>(); }) == "squeeze: axis 0 of shape (2, 3) is not 1");
  CHECK(message_of([&] { (void)open.expand<Shape<4, 3>>(); }) == "expand: shape (2, 3) does not broadcast to (4, 3)");
  CHECK(message_of([&] { (void)open.size(2); }) == "size: axis 2 is outside a tensor of 2 dimensions");
}
