// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing by tensors of indices, each against loops over single elements: random shapes, strides and indices,
// negative ones among them.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include "../support/late_device.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

using namespace twill;
using twill::test::Late;
using twill::test::message_of;

namespace {

template <class X> std::vector<double> shown(X&& x) {
  if constexpr (AnyTensor<X>)
    return twill::test::numbers(x);
  else
    return twill::test::numbers(eval(std::forward<X>(x)));
}

std::mt19937 random_source{20260727};
int pick(int n) { return static_cast<int>(random_source() % static_cast<unsigned>(n)); }

template <class T = std::int64_t> auto random_indices(int count, int extent) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i)
    values.push_back(static_cast<T>(pick(2 * extent) - (std::is_signed_v<T> ? extent : 0)));
  if (!std::is_signed_v<T>)
    for (T& value : values) value = static_cast<T>(value % extent);
  return from_values(values);
}
std::int64_t wrapped(std::int64_t index, std::int64_t extent) { return index < 0 ? index + extent : index; }

/// A matrix in one of several layouts: contiguous, transposed, turned around, every second element.
template <class T = float> Tensor<T, Cpu, Shape<dyn, dyn>> matrix(int rows, int columns) {
  const auto whole = arange(4 * rows * columns).to<T>();
  switch (pick(4)) {
  case 0:
    return whole[slice{0, rows * columns}].reshape(rows, columns);
  case 1:
    return whole[slice{0, rows * columns}].reshape(columns, rows).transpose();
  case 2:
    return flip<0, 1>(whole[slice{0, rows * columns}].reshape(rows, columns));
  default:
    return whole.reshape(2 * rows, 2 * columns)(slice{.step = 2}, slice{.step = 2});
  }
}

const int sizes[] = {1, 2, 3, 7, 16, 17, 33, 67};

} // namespace

TEMPLATE_TEST_CASE("take reads slices along an axis", "[expr]", std::uint8_t, float) {
  for (const int rows : sizes)
    for (const int columns : {1, 5, 16, 19}) {
      const auto x = matrix<TestType>(rows, columns);
      const auto i = random_indices(pick(40), rows);
      const auto j = random_indices<std::int32_t>(pick(40), columns);
      const Tensor by_rows = take<0>(x, i);
      const Tensor by_columns = take<-1>(x, j);
      const Tensor flat = take(x, random_indices(5, rows * columns));
      REQUIRE(by_rows.shape() == Dims(i.elements(), columns));
      REQUIRE(by_columns.shape() == Dims(rows, j.elements()));
      std::vector<double> expected_rows;
      std::vector<double> expected_columns;
      const auto element = [&](std::int64_t r, std::int64_t c) { return static_cast<double>(x(r, c).item()); };
      for (const auto r : to_vector(i))
        for (int c = 0; c < columns; ++c) expected_rows.push_back(element(wrapped(r, rows), c));
      for (int r = 0; r < rows; ++r)
        for (const auto c : to_vector(j)) expected_columns.push_back(element(r, wrapped(c, columns)));
      CHECK(shown(by_rows) == expected_rows);
      CHECK(shown(by_columns) == expected_columns);
    }
}

TEST_CASE("indices bring their axes, static shapes are inferred", "[expr]") {
  const auto x = arange(24.F).reshape<Shape<2, 3, 4>>();
  const auto i = tensor({{0, -1}, {1, 1}, {2, 0}});
  static_assert(std::is_same_v<decltype(eval(take<1>(x, i)))::shape_type, Shape<2, 3, 2, 4>>);
  static_assert(
      std::is_same_v<decltype(eval(take_along_axis<2>(x, zeros<int, Shape<2, 3, 7>>())))::shape_type, Shape<2, 3, 7>>);
  static_assert(std::is_same_v<decltype(eval(index(x, tensor({0, 1}), tensor({0, 1}))))::shape_type, Shape<2, 4>>);
  const Tensor y = take<1>(x, i);
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 2; ++c)
        for (int d = 0; d < 4; ++d) CHECK(y(a, b, c, d).item() == x(a, wrapped(i(b, c).item(), 3), d).item());
  CHECK(shown(take<0>(x, scalar(1))) == shown(x[1]));
  CHECK(eval(take<0>(x, scalar(std::int64_t{-1}))).shape() == Dims(3, 4));
  CHECK(eval(take<2>(x, scalar(1))).shape() == Dims(2, 3));
  CHECK(shown(take<2>(x, scalar(1))) == shown(x(all, all, 1)));
  CHECK(eval(take<0>(x, zeros<int, Shape<0>>())).shape() == Dims(0, 3, 4));
  CHECK(eval(take<0>(x.flatten(), tensor({23}))).item() == 23);
  CHECK(shown(take<0>(zeros<float, Shape<0, 3>>(), zeros<int, Shape<0>>())).empty());
}

TEST_CASE("take_along_axis follows an index of x's rank, beside which axes broadcast", "[expr]") {
  for (const int rows : sizes) {
    const int columns = 1 + pick(20);
    const auto x = matrix(rows, columns);
    const auto i = random_indices(3 * columns, rows).reshape(3, columns);
    const auto j = random_indices(rows * 5, columns).reshape(rows, 5);
    const auto shared = random_indices(4, columns).reshape(1, 4);
    const Tensor down = take_along_axis<0>(x, i);
    const Tensor along = take_along_axis<1>(x, j) + 0.5F;
    const Tensor same = take_along_axis<1>(x, shared);
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < 3; ++r) CHECK(down(r, c).item() == x(wrapped(i(r, c).item(), rows), c).item());
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < 5; ++c) CHECK(along(r, c).item() == x(r, wrapped(j(r, c).item(), columns)).item() + 0.5F);
      for (int c = 0; c < 4; ++c) CHECK(same(r, c).item() == x(r, wrapped(shared(0, c).item(), columns)).item());
    }
  }
}

TEST_CASE("several index tensors broadcast together", "[expr]") {
  const auto x = matrix(7, 11);
  const auto i = random_indices(5, 7);
  const auto j = random_indices(5, 11);
  const Tensor pairs = index(x, i, j);
  const Tensor grid = x(i.unsqueeze<1>(), j);
  for (int a = 0; a < 5; ++a) {
    CHECK(pairs[a].item() == x(wrapped(i[a].item(), 7), wrapped(j[a].item(), 11)).item());
    for (int b = 0; b < 5; ++b) CHECK(grid(a, b).item() == x(wrapped(i[a].item(), 7), wrapped(j[b].item(), 11)).item());
  }
}

TEST_CASE("a gathered read fuses with arithmetic and with reductions along the rows", "[expr]") {
  const auto table = randn<float, Shape<13, 37>>();
  const auto i = random_indices(9, 13);
  const auto weights = randn<float, Shape<dyn, 37>>(Dims(9, 37));
  const Tensor rows = take<0>(table, i);
  const auto same = [](const auto& fused, const auto& apart) {
    CHECK(twill::test::largest_difference(shown(fused), shown(apart)) < 1e-5);
  };
  same(lazy(take<0>(table, i) * weights + 1.F), lazy(rows * weights + 1.F));
  same(lazy(sum<1>(take<0>(table, i) * weights)), lazy(sum<1>(rows * weights)));
  same(lazy(sum<0>(take<0>(table, i))), lazy(sum<0>(rows)));
  same(lazy(mean(take<0>(table, i) - weights)), lazy(mean(rows - weights)));
  same(lazy(exp(take<0>(table, i) - max<1>(take<0>(table, i), keepdims))), lazy(exp(rows - max<1>(rows, keepdims))));
  same(lazy(take<0>(table, i) - mean<1>(weights, keepdims)), lazy(rows - mean<1>(weights, keepdims)));
  same(lazy(sum<1>(take<1>(table, random_indices(0, 37)))), zeros<float, Shape<13>>() + 0.F);
}

TEST_CASE("x[index] is read and written, the last write to a place wins", "[expr]") {
  for (const int rows : sizes) {
    const auto x = matrix(rows, 5).clone();
    const auto i = random_indices(11, rows);
    const Tensor before = x.clone();
    const Tensor values = randn<float, Shape<dyn, 5>>(Dims(11, 5));
    x[i] = values;
    const auto expected = before.clone();
    for (int k = 0; k < 11; ++k) expected[wrapped(i[k].item(), rows)] = values[k];
    CHECK(shown(x) == shown(expected));
    CHECK(shown(x[i]) == shown(take<0>(expected, i)));
    x[i] = 3.F;
    x[i] *= 2;
    for (int k = 0; k < 11; ++k) CHECK(x(wrapped(i[k].item(), rows), 2).item() == 6.F);
  }
}

TEST_CASE("writes broadcast, convert, and come from where they go", "[expr]") {
  const auto x = arange(12.F).reshape<Shape<4, 3>>();
  x[tensor({0, 2})] = tensor({7, 8, 9});
  CHECK(shown(x) == std::vector<double>{7, 8, 9, 3, 4, 5, 7, 8, 9, 9, 10, 11});
  x[tensor({3, 1, 0})] = x[slice{1, 4}];
  CHECK(shown(x) == std::vector<double>{9, 10, 11, 7, 8, 9, 7, 8, 9, 3, 4, 5});
  x[tensor({0, 1})] = x[tensor({1, 0})];
  CHECK(shown(x[slice{0, 2}]) == std::vector<double>{7, 8, 9, 9, 10, 11});
  x(tensor({0, 0}), tensor({0, 1})) = tensor({-1.F, -2.F});
  CHECK(shown(x[0]) == std::vector<double>{-1, -2, 9});
  const auto places = arange(5);
  places[places[slice{.step = -1}]] = places.clone(); // indices that are overwritten
  CHECK(shown(places) == std::vector<double>{4, 3, 2, 1, 0});
  auto y = arange(40.F).reshape<Shape<20, 2>>();
  y = take<0>(y, flip<0>(arange(20))) + 1.F; // into memory that it reads
  CHECK(y(0, 1).item() == 40.F);
  y[slice{}] = take<0>(y, flip<0>(arange(20)));
  CHECK(y(0, 1).item() == 2.F);
}

TEST_CASE("put, index_add, put_along_axis and scatter_add write where they say", "[expr]") {
  for (const int rows : sizes) {
    const auto x = matrix(rows, 4);
    const auto sum_of = x.clone();
    const auto i = random_indices(9, rows);
    index_add<0>(x, i, 2.F);
    for (int k = 0; k < 9; ++k) sum_of[wrapped(i[k].item(), rows)] += 2.F;
    CHECK(shown(x) == shown(sum_of));
    const auto j = random_indices(rows * 3, 4).reshape(rows, 3);
    const auto values = randn<float, Shape<dyn, 3>>(Dims(rows, 3));
    scatter_add<1>(x, j, values);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < 3; ++c) sum_of(r, wrapped(j(r, c).item(), 4)) += values(r, c);
    CHECK(shown(x) == shown(sum_of));
    put_along_axis<1>(x, j, values);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < 3; ++c) sum_of(r, wrapped(j(r, c).item(), 4)) = values(r, c);
    CHECK(shown(x) == shown(sum_of));
    put(x, tensor({0, -1}), tensor({5, 6}));
    sum_of(0, 0) = 5.F;
    sum_of(-1, -1) = 6.F;
    CHECK(shown(x) == shown(sum_of));
  }
}

TEST_CASE("a wrong index is found before anything is written", "[expr]") {
  const auto x = arange(12.F).reshape<Shape<4, 3>>();
  const auto before = shown(x);
  CHECK(message_of<IndexError>([&] {
          (void)eval(take<0>(x, tensor({0, 4})));
        }) == "take: 4 is outside axis 0 of extent 4");
  CHECK(message_of<IndexError>([&] {
          (void)eval(take<1>(x, tensor({0, -4, 1})));
        }) == "take: -4 is outside axis 1 of extent 3");
  CHECK(message_of<IndexError>([&] { x[tensor({0, 9})] = 1.F; }) == "index: 9 is outside axis 0 of extent 4");
  CHECK(message_of<IndexError>([&] { put(x, tensor({0, 12}), 1.F); }) == "put: 12 is outside axis 0 of extent 12");
  CHECK(message_of<IndexError>([&] {
          scatter_add<1>(x, tensor({{0, 3}}), 1.F);
        }) == "scatter_add: 3 is outside axis 1 of extent 3");
  CHECK(message_of<IndexError>([&] { (void)index(x, tensor({0}), tensor({7})); }) ==
        "index: 7 is outside axis 1 of extent 3");
  CHECK_THROWS_AS((take<0>(zeros<float, Shape<0>>(), tensor({0}))), IndexError);
  CHECK(message_of<ShapeError>([&] {
          x[tensor({0, 1})] = arange(2.F).reshape(-1);
        }) == "assign: shape (2,) does not broadcast to (2, 3)");
  CHECK(shown(x) == before);
}

TEST_CASE("a stored gathered read keeps what it was given", "[expr]") {
  const auto i = arange(3);
  auto x = arange(5.F);
  const auto later = lazy(take<0>(x, i) * 2.F);
  i.fill(100);                  // its own indices stay
  x = zeros<float, Shape<5>>(); // and so does its source
  CHECK(shown(eval(later)) == std::vector<double>{0, 2, 4});
}

TEST_CASE("indices work on other device kinds, and shapes without memory", "[expr][DEV-6]") {
  const auto x = arange(12.F, Late{1}).reshape<Shape<4, 3>>();
  const auto i = tensor({3, -4}, Late{1});
  CHECK(shown(take<0>(x, i) * 2.F) == std::vector<double>{18, 20, 22, 0, 2, 4});
  x[i] = 1.F;
  x[x > 7.F] = 0.F;
  CHECK(shown(x) == std::vector<double>{1, 1, 1, 3, 4, 5, 6, 7, 0, 1, 1, 1});
  CHECK_THROWS_AS((take<0>(x, tensor({1}, Late{0}))), DeviceError);
  const auto nowhere = zeros<float, Shape<4, 3>>(Meta{});
  CHECK(eval(take<0>(nowhere, zeros<int, Shape<2>>(Meta{}))).shape() == Dims(2, 3));
  CHECK_THROWS_AS(nonzero(nowhere), DeviceError);
}
