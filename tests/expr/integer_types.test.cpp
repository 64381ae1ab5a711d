// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of the integers that only tensors have, beside C++'s on wider integers, cut to the type.

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

using namespace twill;

namespace {

template <class T> std::vector<T> numbers(unsigned seed) {
  std::mt19937_64 random{seed};
  std::vector<T> values{std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T{0}, T{1}, static_cast<T>(-1)};
  while (values.size() < 131) values.push_back(static_cast<T>(random()));
  return values;
}

/// Python's division of whole numbers, and 0 for a divisor of 0.
template <class T> T floored(T a, T b) {
  if (b == 0) return 0;
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  const Wide x = a, y = b;
  const Wide quotient = x / y;
  return static_cast<T>(x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient);
}

template <class X, class T, class F> void compare(const X& own, const std::vector<T>& a, const std::vector<T>& b, F f) {
  const auto values = to_vector(own);
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO(+a[i] << " and " << +b[i]);
    CHECK(values[i] == f(a[i], b[i]));
  }
}

} // namespace

TEMPLATE_TEST_CASE("integers of every width wrap, divide and compare", "[expr]", std::int8_t, std::int16_t,
                   std::uint16_t, std::uint32_t, std::uint64_t) {
  using T = TestType;
  using Bits = std::uint64_t;
  const auto a = numbers<T>(1), b = numbers<T>(2);
  const auto x = from_values(a), y = from_values(b);
  const auto cut = [](Bits bits) { return static_cast<T>(bits); };
  const auto wide = [](T value) { return static_cast<Bits>(value); };
  STATIC_REQUIRE(std::is_same_v<typename decltype(eval(x + y))::value_type, T>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(eval(x + 1))::value_type, T>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(eval(x / y))::value_type, float>);
  compare(eval(x + y), a, b, [&](T p, T q) { return cut(wide(p) + wide(q)); });
  compare(eval(x - y), a, b, [&](T p, T q) { return cut(wide(p) - wide(q)); });
  compare(eval(x * y), a, b, [&](T p, T q) { return cut(wide(p) * wide(q)); });
  compare(eval(-x), a, b, [&](T p, T) { return cut(0 - wide(p)); });
  compare(eval(floor_divide(x, y)), a, b, [](T p, T q) { return floored(p, q); });
  compare(eval(x % y), a, b, [&](T p, T q) { return q == 0 ? T{0} : cut(wide(p) - wide(floored(p, q)) * wide(q)); });
  compare(eval(x & y), a, b, [](T p, T q) { return static_cast<T>(p & q); });
  compare(eval(x ^ y), a, b, [](T p, T q) { return static_cast<T>(p ^ q); });
  compare(eval(maximum(x, y)), a, b, [](T p, T q) { return p > q ? p : q; });
  compare(eval(x < y), a, b, [](T p, T q) { return static_cast<unsigned char>(p < q); });
  compare(eval(x == y), a, b, [](T p, T q) { return static_cast<unsigned char>(p == q); });
  compare(eval(where(x < y, x, y)), a, b, [](T p, T q) { return p < q ? p : q; });
}

TEMPLATE_TEST_CASE("sums of integers of every width are int64", "[expr]", std::int8_t, std::int16_t, std::uint16_t,
                   std::uint32_t, std::uint64_t) {
  using T = TestType;
  const auto a = numbers<T>(3);
  const auto x = from_values(a);
  std::uint64_t total = 0;
  T greatest = a[0], least = a[0];
  for (const T value : a) {
    total += static_cast<std::uint64_t>(value);
    greatest = value > greatest ? value : greatest;
    least = value < least ? value : least;
  }
  STATIC_REQUIRE(std::is_same_v<typename decltype(eval(sum(x)))::value_type, std::int64_t>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(eval(mean(x)))::value_type, float>);
  CHECK(sum(x).item() == static_cast<std::int64_t>(total));
  CHECK(max(x).item() == greatest);
  CHECK(min(x).item() == least);
  CHECK(a[static_cast<std::size_t>(argmax(x).item())] == greatest);
}

TEMPLATE_TEST_CASE("random integers of every width are in their range", "[expr]", std::int8_t, std::int16_t,
                   std::uint16_t, std::uint32_t, std::uint64_t) {
  manual_seed(Cpu{0}, 7);
  const auto drawn = to_vector(integers<TestType, Shape<1000>>(3, 40));
  manual_seed(Cpu{0}, 7);
  const auto wide = to_vector(integers<std::int64_t, Shape<1000>>(3, 40));
  for (std::size_t i = 0; i < drawn.size(); ++i) CHECK(static_cast<std::int64_t>(drawn[i]) == wide[i]);
}
