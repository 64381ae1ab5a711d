// SPDX-License-Identifier: Apache-2.0
//
// Elements chosen by truth values against loops over single elements: reading, assigning, finding where they are.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

using namespace twill;
using twill::test::message_of;

namespace {
using Numbers = std::vector<double>;
template <class X> Numbers numbers(X&& x) {
  if constexpr (AnyTensor<X>)
    return twill::test::numbers(x);
  else
    return twill::test::numbers(eval(std::forward<X>(x)));
}
} // namespace

TEST_CASE("x[mask] reads the slices where a mask of the leading axes holds", "[expr]") {
  manual_seed_all(5);
  for (const int rows : {0, 1, 2, 17, 40})
    for (const int columns : {1, 3, 16}) {
      const auto x = flip<1>(rand<float, Shape<dyn, dyn>>(Dims(columns, rows)).transpose());
      const Tensor mask = x > 0.4F;
      const auto row_mask = bernoulli<bool, Shape<dyn>>(0.5, Dims(rows));
      Numbers elements;
      Numbers slices;
      Numbers found_rows;
      Numbers found_columns;
      Numbers places;
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          if (row_mask[i].item()) slices.push_back(x(i, j).item());
          if (!mask(i, j).item()) continue;
          elements.push_back(x(i, j).item());
          found_rows.push_back(i);
          found_columns.push_back(j);
          places.push_back(i * columns + j);
        }
      CHECK(numbers(x[mask]) == elements);
      CHECK(numbers(x[x > 0.4F]) == elements);
      CHECK(numbers(x[row_mask]) == slices);
      CHECK(eval(x[row_mask]).size(1) == columns);
      CHECK(numbers(masked_select(x, mask)) == elements);
      const auto [at_rows, at_columns] = nonzero(mask);
      CHECK(numbers(at_rows) == found_rows);
      CHECK(numbers(at_columns) == found_columns);
      CHECK(numbers(flatnonzero(mask)) == places);
      CHECK(argwhere(mask).shape() == Dims(static_cast<std::int64_t>(places.size()), 2));
      double total = 0;
      for (const double element : elements) total += element;
      CHECK(sum(x[mask] * 2.F).item() == Approx(2 * total));
    }
}

TEST_CASE("x[mask] is assigned one value, a value for each element, or what it says itself", "[expr]") {
  const auto x = arange(12).reshape<Shape<3, 4>>();
  x[x > 8] = 0;
  CHECK(numbers(x) == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0});
  x[x % 2 == 1] = tensor({10.7, 20.7, 30.7, 40.7});
  CHECK(numbers(x) == Numbers{0, 10, 2, 20, 4, 30, 6, 40, 8, 0, 0, 0});
  x[x >= 10] += 1;
  CHECK(numbers(x) == Numbers{0, 11, 2, 21, 4, 31, 6, 41, 8, 0, 0, 0});
  x[tensor({true, false, true})] = tensor({1, 2, 3, 4});
  CHECK(numbers(x) == Numbers{1, 2, 3, 4, 4, 31, 6, 41, 1, 2, 3, 4});
  x[tensor({false, true, false})] = 5;
  CHECK(numbers(x[1]) == Numbers{5, 5, 5, 5});
  x[x == 1] = x[x == 2];
  CHECK(numbers(x[0]) == Numbers{2, 2, 3, 4});
  const auto truth = tensor({true, false, true});
  truth[truth] = false;
  CHECK(numbers(truth) == Numbers{0, 0, 0});
  const auto turned = arange(6).reshape<Shape<2, 3>>().transpose();
  turned[turned > 3] = -1;
  CHECK(numbers(turned) == Numbers{0, 3, 1, -1, 2, -1});
}

TEST_CASE("masked_fill and masked_select broadcast", "[expr]") {
  const auto x = arange(6).reshape<Shape<2, 3>>();
  static_assert(std::is_same_v<decltype(eval(masked_fill(x, x > 2, 1.5)))::value_type, int>);
  CHECK(numbers(masked_fill(x, tensor({true, false, false}), 9) + 1) == Numbers{10, 2, 3, 10, 5, 6});
  CHECK(numbers(masked_select(x, tensor({{true}, {false}}))) == Numbers{0, 1, 2});
  CHECK(numbers(masked_select(arange(3), x > 2)) == Numbers{0, 1, 2});
  CHECK(numbers(nonzero(tensor({0.0, -0.0, 0.5, -3.0}))[0]) == Numbers{2, 3});
  CHECK(numbers(argwhere(tensor({{0, 1}, {1, 0}}))) == Numbers{0, 1, 1, 0});
  CHECK(numbers(flatnonzero(scalar(3))) == Numbers{0});
}

TEST_CASE("a mask of another shape is refused with both shapes", "[expr]") {
  const auto x = arange(6).reshape(2, 3);
  CHECK(message_of<IndexError>([&] { (void)eval(x[full<bool, Shape<dyn>>(Dims(3), true)]); }) ==
        "index: a mask of shape (3,) does not cover the leading axes of shape (2, 3)");
  CHECK(message_of<ShapeError>([&] { x[x > 3] = arange(3); }) == "assign: shape (3,) does not broadcast to (2,)");
  CHECK_THROWS_AS(masked_select(x, full<bool, Shape<dyn>>(Dims(2), true)), ShapeError);
}
