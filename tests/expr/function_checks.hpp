#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise functions beside functions of plain numbers, for one element type: empty, one element, primes, one past a
// vector, strided backwards, and broadcast. Fresh inputs from a seed.

#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace twill::test {

/// How far a result of the element type may be from the exact one, relatively.
template <class T> constexpr double tolerance() {
  if constexpr (std::is_same_v<T, half>)
    return 2e-3;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return 2e-2;
  else if constexpr (std::is_same_v<T, double>)
    return 1e-13;
  else
    return std::is_floating_point_v<T> ? 1e-6 : 0;
}

/// Whether they are the same kind of number, and as near as the type allows.
template <class T> bool is_near(double found, double wanted) {
  if (std::isnan(wanted) || std::isnan(found)) return std::isnan(wanted) == std::isnan(found);
  if (std::isinf(wanted) || std::isinf(found)) return wanted == found;
  return std::abs(found - wanted) <= tolerance<T>() * std::max(1.0, std::abs(wanted));
}

/// Random elements in [low, high]; whole ones of integer types.
template <class T> Tensor<T, Cpu, Shape<dyn>> random_elements(std::int64_t count, double low, double high) {
  static std::mt19937 random{20240501};
  auto x = empty<T, Shape<dyn>>(Dims(count));
  std::uniform_real_distribution<double> real{low, high};
  for (std::int64_t i = 0; i < count; ++i) {
    const double drawn = real(random);
    x.data()[i] =
        std::is_integral_v<T> ? static_cast<T>(std::floor(drawn + 0.5)) : static_cast<T>(static_cast<float>(drawn));
  }
  return x;
}

/// Results of one or two operands.
struct Checked {
  std::vector<double> left{}, right{}, wanted{};

  /// Once for all functions and types, as an assertion takes a compiler long.
  void check(const std::vector<double>& found, bool (*near)(double, double)) const {
    REQUIRE(found.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      INFO("at " << left[i] << ", " << (right.empty() ? 0 : right[i]) << ": " << found[i] << " instead of "
                 << wanted[i]);
      CHECK(near(found[i], wanted[i]));
    }
  }
};

/// expression(x) against reference(number) over elements of type T.
template <class T, class E, class F> void check_unary(double low, double high, E expression, F reference) {
  for (const std::int64_t n : {0, 1, 13, 17, 65}) {
    const auto x = random_elements<T>(2 * n, low, high);
    const auto check = [&](const auto& in) {
      const auto result = eval(expression(in));
      Checked checked{.left = numbers(in)};
      for (const double value : checked.left) checked.wanted.push_back(static_cast<double>(reference(value)));
      checked.check(numbers(result), &is_near<typename decltype(result)::value_type>);
    };
    check(x[slice{0, n}]);
    check(x[slice{.step = -2}]);
  }
}

/// expression(a, b) against reference(number, number), a of shape (3, 1, 17) and b of shape (5, 1).
template <class A, class B = A, class E, class F>
void check_binary(double low, double high, double b_low, double b_high, E expression, F reference) {
  const auto a = random_elements<A>(51, low, high).template reshape<Shape<3, 1, 17>>();
  const auto b = random_elements<B>(5, b_low, b_high).template reshape<Shape<5, 1>>();
  const auto result = eval(expression(a, b));
  const auto left = numbers(a), right = numbers(b);
  Checked checked{};
  for (std::size_t i = 0; i < 3 * 5 * 17; ++i) {
    const double x = left[i / (5 * 17) * 17 + i % 17], y = right[i / 17 % 5];
    checked.left.push_back(x);
    checked.right.push_back(y);
    checked.wanted.push_back(static_cast<double>(reference(x, y)));
  }
  checked.check(numbers(result), &is_near<typename decltype(result)::value_type>);
}

} // namespace twill::test
