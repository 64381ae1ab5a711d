// SPDX-License-Identifier: Apache-2.0
//
// Expressions of more lines than one program takes are cut into several: equal to the statements of a reader who cuts
// them.

#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <utility>

using namespace twill;
using twill::test::numbers;

namespace {

using Matrix = Tensor<double, Cpu, Shape<dyn, 5>>;

/// Three matrices of different numbers.
struct Matrices {
  Matrix x = eval(sin(arange(25.0))).reshape<Shape<5, 5>>();
  Matrix a = eval(cos(arange(25.0)) * 0.75).reshape<Shape<5, 5>>();
  Matrix b = eval(arange(25.0) * 0.01).reshape<Shape<5, 5>>();
};

/// N steps x * a + b of an expression.
template <int N, class X, class A> [[nodiscard]] auto steps(X&& x, const A& a, const A& b) {
  if constexpr (N == 0)
    return std::forward<X>(x);
  else
    return steps<N - 1>(std::forward<X>(x) * a + b, a, b);
}

/// Statements of two operations each.
[[nodiscard]] Matrix stepped(Matrix x, const Matrix& a, const Matrix& b, int n) {
  for (int i = 0; i < n; ++i) x = x * a + b;
  return x;
}

} // namespace

TEST_CASE("an expression of 120 operations is cut into programs that compute its values", "[expr]") {
  auto [x, a, b] = Matrices{};
  const auto expected = numbers(stepped(x, a, b, 60));
  CHECK(numbers(eval(steps<60>(x * 1.0, a, b))) == expected);
  CHECK(plan(steps<60>(x * 1.0, a, b)).kernels == 3); // of 88 lines, of 88 and what is left of 243
  x = steps<60>(x * 1.0, a, b);                       // no part may write where another reads
  CHECK(numbers(x) == expected);
}

TEST_CASE("an expression of many operations is written through a view that it reads in another order", "[expr]") {
  auto [x, a, b] = Matrices{};
  const auto column = x.transpose()[0];
  auto expected = column.contiguous();
  for (int i = 0; i < 30; ++i) expected = expected * a[0] + b[0];
  x[0] = steps<30>(column * 1.0, a[0], b[0]);
  CHECK(numbers(x[0]) == numbers(expected));
}

TEST_CASE("reductions and functions of rows over expressions of many operations are cut", "[expr]") {
  const auto [x, a, b] = Matrices{};
  const Matrix inner = stepped(x, a, b, 30);
  CHECK(numbers(eval(sum<1>(steps<30>(x * 1.0, a, b)))) == numbers(eval(sum<1>(inner))));
  CHECK(numbers(eval(mean<0>(steps<30>(x * 1.0, a, b)))) == numbers(eval(mean<0>(inner))));
  CHECK(numbers(eval(softmax<1>(steps<30>(x * 1.0, a, b)) * x)) == numbers(eval(softmax<1>(inner) * x)));
  CHECK(numbers(eval(steps<30>(softmax<1>(x), a, b))) == numbers(stepped(eval(softmax<1>(x)), a, b, 30)));
}
