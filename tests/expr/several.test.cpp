// SPDX-License-Identifier: Apache-2.0
//
// Several results of one statement are what each would be by itself, and one pass over memory where they run over the same
// elements. A counting build counts every element that a kernel loads or stores; the functions are such that no other test
// of this executable has the same programs, because counting code must not meet other code.

#define TWILL_COUNT_ACCESS ::twill::test::CountAccess
#include "tests/support/traffic.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include "tests/support/numbers.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

using namespace twill;
using expr::Together;
using twill::test::largest_difference;
using twill::test::numbers;
using twill::test::Traffic;
using twill::test::traffic;

namespace {
template <class... E> constexpr Together together(const E&...) {
  return expr::together(std::array{expr::part_of<std::remove_const_t<E>>()...});
}
auto draws(std::int64_t rows, std::int64_t columns) {
  return eval(atan(randn<double, Shape<dyn, dyn>>(Dims(rows, columns))));
}
} // namespace

TEST_CASE("statistics of rows share a pass", "[expr]") {
  const auto x = draws(7, 101);
  CHECK(together(lazy(mean<1>(atan(x))), lazy(max<1>(atan(x)))) == Together::rows);
  CHECK(traffic([&] {
          const auto [m, least, greatest] = eval(mean<1>(atan(x)), min<1>(atan(x)), max<1>(atan(x)));
          static_assert(std::is_same_v<decltype(m)::shape_type, Shape<dyn>>);
        }) == Traffic{707, 21});
  const auto [m, v] = eval(mean<1>(atan(x)), var<1>(atan(x), keepdims));
  CHECK(largest_difference(numbers(m), numbers(eval(mean<1>(atan(x))))) < 1e-14);
  CHECK(largest_difference(numbers(v), numbers(eval(var<1>(atan(x))))) < 1e-14);
  CHECK(v.shape() == Dims(7, 1));
}

TEST_CASE("elementwise results of the same tensors share a pass", "[expr]") {
  const auto x = draws(5, 33);
  const auto y = draws(5, 33);
  CHECK(traffic([&] { static_cast<void>(eval(atan(x) * y, atan(x) - y)); }) == Traffic{330, 330});
  CHECK(traffic([&] { static_cast<void>(eval(atan(x) * 2, atan(x) + atan(x))); }) == Traffic{165, 330});
  const auto [product, difference] = eval(atan(x) * y, atan(x) - y);
  CHECK(largest_difference(numbers(product), numbers(eval(atan(x) * y))) == 0);
  CHECK(largest_difference(numbers(difference), numbers(eval(atan(x) - y))) == 0);
  // other tensors of the same types are other operands
  const auto [left, right] = eval(atan(x) * y, atan(y) - x);
  CHECK(largest_difference(numbers(left), numbers(eval(atan(x) * y))) == 0);
  CHECK(largest_difference(numbers(right), numbers(eval(atan(y) - x))) == 0);
}

TEST_CASE("rows, their totals and plain elements share a pass", "[expr]") {
  const auto x = draws(6, 40);
  const auto [soft, peak, doubled] = eval(softmax(atan(x)), max<1>(atan(x)), atan(x) * 2);
  CHECK(largest_difference(numbers(soft), numbers(eval(softmax(atan(x))))) < 1e-14);
  CHECK(largest_difference(numbers(peak), numbers(eval(max<1>(atan(x))))) == 0);
  CHECK(largest_difference(numbers(doubled), numbers(eval(atan(x) * 2))) == 0);
  const auto [total, squares] = eval(sum(atan(x)), sqrt(sum(square(atan(x)))));
  CHECK(total.item() == Approx(sum(atan(x)).item()));
  CHECK(squares.item() == Approx(sqrt(sum(square(atan(x)))).item()));
  CHECK(traffic([&] { static_cast<void>(eval(sum(atan(x)), sqrt(sum(square(atan(x)))))); }) == Traffic{240, 2});
}

TEST_CASE("reductions down the same columns share a pass", "[expr]") {
  const auto x = draws(31, 9);
  CHECK(together(lazy(sum<0>(atan(x))), lazy(max<0>(atan(x)))) == Together::columns);
  const auto [m, greatest] = eval(mean<0>(atan(x)), max<0>(atan(x), keepdims));
  CHECK(largest_difference(numbers(m), numbers(eval(mean<0>(atan(x))))) < 1e-14);
  CHECK(largest_difference(numbers(greatest), numbers(eval(max<0>(atan(x))))) == 0);
  CHECK(greatest.shape() == Dims(1, 9));
  CHECK(traffic([&] { static_cast<void>(eval(sum<0>(atan(x)), max<0>(atan(x)))); }).loads < 279 + 4 * 9);
}

TEST_CASE("what does not fit together is evaluated one by one", "[expr]") {
  const auto x = draws(5, 6);
  const auto y = draws(3, 6);
  CHECK(together(lazy(sum<0>(x)), lazy(sum<1>(x))) == Together::apart);
  const auto [down, along, other] = eval(sum<0>(atan(x)), sum<1>(atan(x)), sum<1>(atan(y)));
  CHECK(largest_difference(numbers(down), numbers(eval(sum<0>(atan(x))))) == 0);
  CHECK(largest_difference(numbers(other), numbers(eval(sum<1>(atan(y))))) == 0);
  CHECK(along.shape() == Dims(5));
  // the same types, but other extents
  const auto [a, b] = eval(mean<1>(atan(x)), max<1>(atan(y)));
  CHECK(a.shape() == Dims(5));
  CHECK(largest_difference(numbers(b), numbers(eval(max<1>(atan(y))))) == 0);
  const auto none = zeros<double, Shape<dyn, dyn>>(Dims(3, 0));
  const auto [sums, means] = eval(sum<1>(atan(none)), mean<1>(atan(none)));
  CHECK(numbers(sums) == std::vector<double>{0, 0, 0});
  CHECK(std::isnan(means[0].item()));
  CHECK_THROWS_AS(eval(sum<1>(atan(none)), max<1>(atan(none))), ValueError);
}

TEST_CASE("strided and broadcast operands give the same results", "[expr]") {
  const auto x = draws(8, 12);
  const auto view = x.transpose()(slice{.step = 2}, slice{.step = -3});
  const auto row = eval(atan(randn<double, Shape<dyn>>(Dims(3))));
  const auto [m, v] = eval(mean<1>(atan(view) * row), var<1>(atan(view) * row));
  CHECK(largest_difference(numbers(m), numbers(eval(mean<1>(atan(view) * row)))) < 1e-14);
  CHECK(largest_difference(numbers(v), numbers(eval(var<1>(atan(view) * row)))) < 1e-14);
  const auto [doubled, halved] = eval(atan(view) * 2, atan(view) / 2);
  CHECK(largest_difference(numbers(doubled), numbers(eval(atan(view) * 2))) == 0);
  CHECK(largest_difference(numbers(halved), numbers(eval(atan(view) / 2))) == 0);
}
