// SPDX-License-Identifier: Apache-2.0
//
// Values that go into memory which is there already: in-place operators, and out(x), with views, broadcasts, overlaps and
// other element types.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace twill;
using twill::test::numbers;

TEST_CASE("every operator of integers works in place", "[expr]") {
  auto x = tensor({12, -7, 5});
  const auto view = x[slice{.step = -1}];
  x %= 8;
  CHECK(numbers(x) == std::vector<double>{4, 1, 5});
  x <<= 3;
  CHECK(numbers(x) == std::vector<double>{32, 8, 40});
  x >>= tensor({1, 2, 3});
  CHECK(numbers(x) == std::vector<double>{16, 2, 5});
  x &= 7;
  x |= 8;
  x ^= 1;
  CHECK(numbers(view) == std::vector<double>{12, 11, 9});
  view[slice{0, 2}] += 1;
  CHECK(numbers(x) == std::vector<double>{9, 12, 13});
  auto y = tensor({7.5, -7.5});
  y %= 2;
  CHECK(numbers(y) == std::vector<double>{1.5, 0.5});
  auto p = tensor({true, false});
  p ^= true;
  p |= false;
  p &= tensor({true, true});
  CHECK(numbers(p) == std::vector<double>{0, 1});
}

TEST_CASE("out writes through the memory that a tensor has", "[expr]") {
  auto x = zeros<float, Shape<2, 3>>();
  const auto* const before = x.data();
  const auto column = x(all, 1);
  const auto handle = x;
  out(x) = exp(tensor({0.0F, 1.0F, 2.0F}));
  CHECK(x.data() == before);
  CHECK(numbers(handle) == numbers(x));
  CHECK(column[0].item() == Approx(std::exp(1.0F)));
  out(column) = tensor({5, 6});
  CHECK(numbers(x(0)) == std::vector<double>{1, 5, x(0, 2).item()});
  out(x) = x(all, slice{.step = -1}) * 2; // reads what it writes
  CHECK(x(0, 1).item() == 10);
  CHECK(x(0, 2).item() == 2);
  out(x) = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}) / 2; // a narrower element type of the same kind
  CHECK(numbers(x) == std::vector<double>{0.5, 1, 1.5, 2, 2.5, 3});
  out(x) = sum<1>(x, keepdims);
  CHECK(numbers(x) == std::vector<double>{3, 3, 3, 7.5, 7.5, 7.5});
}

TEST_CASE("out refuses extents that do not broadcast", "[expr]") {
  auto x = zeros<float, Shape<dyn>>(Dims(3));
  const auto y = ones<float, Shape<dyn>>(Dims(4));
  const std::string message = twill::test::message_of<ShapeError>([&] { out(x) = y * 2; });
  CHECK(message.find("4") != std::string::npos);
  CHECK(message.find("3") != std::string::npos);
}
