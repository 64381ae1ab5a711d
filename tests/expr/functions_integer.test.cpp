// SPDX-License-Identifier: Apache-2.0
//
// Integers: bits, shifts, divisors and wrapping arithmetic as NumPy has them.

#include "tests/expr/function_checks.hpp"

#include <numeric>

using namespace twill;
using twill::test::check_binary;
using twill::test::check_unary;
using twill::test::numbers;

// clang-format off
TEMPLATE_TEST_CASE("functions of integers agree with those of numbers", "[expr]", std::uint8_t, std::int32_t, std::int64_t) {
  const double low = std::is_signed_v<TestType> ? -60 : 0;
  check_unary<TestType>(low, 60, [](const auto& x) { return invert(x); }, [](double x) { return static_cast<TestType>(~static_cast<TestType>(x)); });
  check_unary<TestType>(low, 60, [](const auto& x) { return abs(x); }, [](double x) { return std::fabs(x); });
  check_unary<TestType>(low, 60, [](const auto& x) { return negative(x); }, [](double x) { return static_cast<TestType>(-static_cast<TestType>(x)); });
  check_unary<TestType>(low, 60, [](const auto& x) { return trunc(x); }, [](double x) { return x; });
  check_unary<TestType>(low, 60, [](const auto& x) { return round(x, -1); }, [](double x) { return std::nearbyint(x / 10) * 10; });
  check_binary<TestType>(low, 60, 0, 4, [](const auto& a, const auto& b) { return left_shift(a, b); }, [](double a, double b) { return static_cast<TestType>(static_cast<std::uint64_t>(static_cast<std::int64_t>(a)) << static_cast<int>(b)); });
  check_binary<TestType>(low, 60, 0, 4, [](const auto& a, const auto& b) { return a >> b; }, [](double a, double b) { return static_cast<TestType>(static_cast<TestType>(a) >> static_cast<int>(b)); });
  check_binary<TestType>(low, 60, low, 60, [](const auto& a, const auto& b) { return gcd(a, b); }, [](double a, double b) { return static_cast<double>(std::gcd(static_cast<long>(a), static_cast<long>(b))); });
  check_binary<TestType>(low, 11, 0, 11, [](const auto& a, const auto& b) { return lcm(a, b); }, [](double a, double b) { return static_cast<double>(static_cast<TestType>(std::lcm(static_cast<long>(a), static_cast<long>(b)))); });
  check_binary<TestType>(low, 60, 1, 9, [](const auto& a, const auto& b) { return fmod(a, b); }, [](double a, double b) { return std::fmod(a, b); });
  check_binary<TestType>(low, 60, 1, 9, [](const auto& a, const auto& b) { return remainder(a, b); }, [](double a, double b) { return a - std::floor(a / b) * b; });
  check_binary<TestType>(low, 60, low, 60, [](const auto& a, const auto& b) { return bitwise_xor(a, b); }, [](double a, double b) { return static_cast<TestType>(static_cast<TestType>(a) ^ static_cast<TestType>(b)); });
  check_binary<TestType>(low, 60, low, 60, [](const auto& a, const auto& b) { return fmin(a, b); }, [](double a, double b) { return std::fmin(a, b); });
}

TEST_CASE("shifts by the width and more, and divisors of 0, are defined", "[expr]") {
  const auto x = tensor({1, -1});
  const auto counts = tensor({32, -1});
  CHECK(numbers(eval(x << counts.reshape<Shape<2, 1>>())) == std::vector<double>{0, 0, 0, 0});
  CHECK(numbers(eval(x >> counts.reshape<Shape<2, 1>>())) == std::vector<double>{0, -1, 0, -1});
  const auto bytes = tensor({std::uint8_t{1}, std::uint8_t{255}});
  CHECK(numbers(eval(bytes << 8)) == std::vector<double>{0, 0});
  CHECK(numbers(eval(bytes >> 8)) == std::vector<double>{0, 0});
  CHECK(numbers(eval(x % 0)) == std::vector<double>{0, 0});
  CHECK(numbers(eval(fmod(x, 0))) == std::vector<double>{0, 0});
  CHECK(numbers(eval(lcm(x, 0))) == std::vector<double>{0, 0});
  CHECK(numbers(eval(gcd(x * 0, 0))) == std::vector<double>{0, 0});
}

TEST_CASE("booleans have bits of their own", "[expr]") {
  const auto p = tensor({false, true});
  CHECK(numbers(eval(~p)) == std::vector<double>{1, 0});
  CHECK(numbers(eval(invert(p))) == std::vector<double>{1, 0});
  CHECK(numbers(eval(bitwise_and(p, true))) == std::vector<double>{0, 1});
  CHECK(numbers(eval(logical_not(p))) == std::vector<double>{1, 0});
  CHECK(numbers(eval(absolute(p))) == std::vector<double>{0, 1});
  CHECK(numbers(eval(logical_xor(tensor({0.5, 0.0}), true))) == std::vector<double>{0, 1});
  static_assert(std::is_same_v<decltype(~p)::value_type, bool>);
}
// clang-format on
