// SPDX-License-Identifier: Apache-2.0
//
// Functions of real numbers of one operand, for floats in vector form and for doubles.

#include "tests/expr/function_checks.hpp"

using namespace twill;
using twill::test::check_binary;
using twill::test::check_unary;
using twill::test::numbers;

// clang-format off
TEMPLATE_TEST_CASE("functions of one real number agree with those of numbers", "[expr]", float, double) {
  check_unary<TestType>(-3, 3, [](const auto& x) { return exp2(x); }, [](double x) { return std::exp2(x); });
  check_unary<TestType>(0.1, 9, [](const auto& x) { return log2(x); }, [](double x) { return std::log2(x); });
  check_unary<TestType>(0.1, 9, [](const auto& x) { return log10(x); }, [](double x) { return std::log10(x); });
  check_unary<TestType>(-9, 9, [](const auto& x) { return cbrt(x); }, [](double x) { return std::cbrt(x); });
  check_unary<TestType>(-0.99, 0.99, [](const auto& x) { return arcsin(x); }, [](double x) { return std::asin(x); });
  check_unary<TestType>(-0.99, 0.99, [](const auto& x) { return arccos(x); }, [](double x) { return std::acos(x); });
  check_unary<TestType>(-9, 9, [](const auto& x) { return arctan(x); }, [](double x) { return std::atan(x); });
  check_unary<TestType>(-1.4, 1.4, [](const auto& x) { return tan(x); }, [](double x) { return std::tan(x); });
  check_unary<TestType>(-3, 3, [](const auto& x) { return sinh(x); }, [](double x) { return std::sinh(x); });
  check_unary<TestType>(-3, 3, [](const auto& x) { return cosh(x); }, [](double x) { return std::cosh(x); });
  check_unary<TestType>(-9, 9, [](const auto& x) { return arcsinh(x); }, [](double x) { return std::asinh(x); });
  check_unary<TestType>(1, 9, [](const auto& x) { return arccosh(x); }, [](double x) { return std::acosh(x); });
  check_unary<TestType>(-0.9, 0.9, [](const auto& x) { return arctanh(x); }, [](double x) { return std::atanh(x); });
  check_unary<TestType>(-3, 3, [](const auto& x) { return tanh_accurate(x); }, [](double x) { return std::tanh(x); });
  check_unary<TestType>(-3, 3, [](const auto& x) { return erf_accurate(x); }, [](double x) { return std::erf(x); });
  check_unary<TestType>(-3, 3, [](const auto& x) { return erfc(x); }, [](double x) { return std::erfc(x); });
  check_unary<TestType>(0.1, 9, [](const auto& x) { return lgamma(x); }, [](double x) { return std::lgamma(x); });
  check_unary<TestType>(-4, 4, [](const auto& x) { return deg2rad(x); }, [](double x) { return x * (M_PI / 180); });
  check_unary<TestType>(-4, 4, [](const auto& x) { return degrees(x); }, [](double x) { return x * (180 / M_PI); });
  check_unary<TestType>(-2, 2, [](const auto& x) { return sinc(x); }, [](double x) { return x == 0 ? 1 : std::sin(M_PI * x) / (M_PI * x); });
  check_unary<TestType>(-4, 4, [](const auto& x) { return fabs(x); }, [](double x) { return std::fabs(x); });
  check_unary<TestType>(-8, 8, [](const auto& x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); });
  check_unary<TestType>(-8, 8, [](const auto& x) { return silu(x); }, [](double x) { return x / (1 + std::exp(-x)); });
  check_unary<TestType>(-4, 4, [](const auto& x) { return gelu_accurate(x); }, [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); });
}

TEMPLATE_TEST_CASE("functions of two real numbers agree with those of numbers", "[expr]", float, double) {
  check_binary<TestType>(-3, 3, -3, 3, [](const auto& a, const auto& b) { return hypot(a, b); }, [](double a, double b) { return std::hypot(a, b); });
  check_binary<TestType>(-3, 3, -3, 3, [](const auto& a, const auto& b) { return arctan2(a, b); }, [](double a, double b) { return std::atan2(a, b); });
  check_binary<TestType>(-3, 3, -3, 3, [](const auto& a, const auto& b) { return copysign(a, b); }, [](double a, double b) { return std::copysign(a, b); });
  check_binary<TestType>(-3, 3, -3, 3, [](const auto& a, const auto& b) { return nextafter(a, b); }, [](double a, double b) { return std::nextafter(static_cast<TestType>(a), static_cast<TestType>(b)); });
  check_binary<TestType>(0.1, 3, -3, 3, [](const auto& a, const auto& b) { return power(a, b); }, [](double a, double b) { return std::pow(a, b); });
  check_binary<TestType>(-9, 9, 0.5, 3, [](const auto& a, const auto& b) { return fmod(a, b); }, [](double a, double b) { return std::fmod(a, b); });
  check_binary<TestType>(-9, 9, 0.5, 3, [](const auto& a, const auto& b) { return mod(a, b); }, [](double a, double b) { return a - std::floor(a / b) * b; });
  check_binary<TestType>(-9, 9, -3, -0.5, [](const auto& a, const auto& b) { return floor_divide(a, b); }, [](double a, double b) { return std::floor(a / b); });
  check_binary<TestType>(-3, 3, -3, 3, [](const auto& a, const auto& b) { return logaddexp(a, b); }, [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); });
  check_binary<TestType>(-3, 3, -3, 3, [](const auto& a, const auto& b) { return logaddexp2(a, b); }, [](double a, double b) { return std::log2(std::exp2(a) + std::exp2(b)); });
  check_binary<TestType>(-3, 3, 0.1, 3, [](const auto& a, const auto& b) { return xlogy(a, b); }, [](double a, double b) { return a * std::log(b); });
  check_binary<TestType>(-3, 3, -3, 3, [](const auto& a, const auto& b) { return fmax(a, b); }, [](double a, double b) { return std::fmax(a, b); });
  check_binary<TestType>(-3, 3, -3, 3, [](const auto& a, const auto& b) { return fmin(a, b); }, [](double a, double b) { return std::fmin(a, b); });
  check_binary<TestType>(-3, 3, -3, 3, [](const auto& a, const auto& b) { return heaviside(a, b); }, [](double a, double b) { return a < 0 ? 0 : a > 0 ? 1 : b; });
  check_binary<TestType>(-3, 3, -3, 3, [](const auto& a, const auto& b) { return lerp(a, b, 0.75); }, [](double a, double b) { return a + 0.75 * (b - a); });
  check_binary<TestType>(-3, 3, -3, 3, [](const auto& a, const auto& b) { return true_divide(a, b); }, [](double a, double b) { return a / b; });
  check_binary<TestType, std::int32_t>(-3, 3, -9, 9, [](const auto& a, const auto& b) { return ldexp(a, b); }, [](double a, double b) { return std::ldexp(a, static_cast<int>(b)); });
}
// clang-format on
