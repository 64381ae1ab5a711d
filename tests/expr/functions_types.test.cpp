// SPDX-License-Identifier: Apache-2.0
//
// The element types that functions take and give: halves compute in float, integers and booleans become float32 where a real
// number is needed, and float_power is always float64.

#include "tests/expr/function_checks.hpp"

using namespace twill;
using twill::test::check_binary;
using twill::test::check_unary;
using twill::test::numbers;

// clang-format off
TEMPLATE_TEST_CASE("functions of real numbers take every element type", "[expr]", bool, std::uint8_t, std::int32_t, std::int64_t, half, bfloat16) {
  using Result = std::conditional_t<std::is_integral_v<TestType>, float, TestType>;
  const auto some = ones<TestType, Shape<3>>();
  static_assert(std::is_same_v<typename decltype(exp2(some))::value_type, Result>);
  static_assert(std::is_same_v<typename decltype(logaddexp(some, some))::value_type, Result>);
  static_assert(std::is_same_v<typename decltype(heaviside(some, 1))::value_type, Result>);
  static_assert(std::is_same_v<typename decltype(copysign(some, -1))::value_type, Result>);
  static_assert(std::is_same_v<typename decltype(float_power(some, 2))::value_type, double>);
  static_assert(std::is_same_v<typename decltype(signbit(some))::value_type, bool>);
  static_assert(std::is_same_v<typename decltype(isclose(some, some))::value_type, bool>);
  check_unary<TestType>(0, 3, [](const auto& x) { return exp2(x); }, [](double x) { return std::exp2(x); });
  check_unary<TestType>(0, 3, [](const auto& x) { return erfc(x); }, [](double x) { return std::erfc(x); });
  check_unary<TestType>(0, 1, [](const auto& x) { return arcsin(x); }, [](double x) { return std::asin(x); });
  check_binary<TestType>(0, 3, 0, 3, [](const auto& a, const auto& b) { return hypot(a, b); }, [](double a, double b) { return std::hypot(a, b); });
  check_binary<TestType>(0, 3, 0, 3, [](const auto& a, const auto& b) { return float_power(a, b); }, [](double a, double b) { return std::pow(a, b); });
  check_binary<TestType>(0, 3, 0, 3, [](const auto& a, const auto& b) { return isclose(a, b); }, [](double a, double b) { return a == b; });
  check_binary<TestType>(0, 3, 0, 3, [](const auto& a, const auto& b) { return not_equal(a, b); }, [](double a, double b) { return a != b; });
}

TEST_CASE("a number beside a tensor is weak in functions too", "[expr]") {
  const auto h = tensor({half(1.5F), half(-2.5F)});
  const auto i = tensor({7, -7});
  static_assert(std::is_same_v<decltype(hypot(h, 2.0))::value_type, half>);
  static_assert(std::is_same_v<decltype(fmax(i, 2))::value_type, std::int32_t>);
  static_assert(std::is_same_v<decltype(fmax(i, 2.5))::value_type, float>);
  static_assert(std::is_same_v<decltype(lcm(i, 2))::value_type, std::int32_t>);
  static_assert(std::is_same_v<decltype(ldexp(i, 2))::value_type, float>);
  static_assert(std::is_same_v<decltype(i << 2)::value_type, std::int32_t>);
  CHECK(numbers(eval(fmax(i, 2))) == std::vector<double>{7, 2});
  CHECK(numbers(eval(fmod(i, 4))) == std::vector<double>{3, -3});
  CHECK(numbers(eval(fmin(2.5, h))) == std::vector<double>{1.5, -2.5});
  CHECK(numbers(eval(nan_to_num(i))) == std::vector<double>{7, -7});
}
// clang-format on
