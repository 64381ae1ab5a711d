// SPDX-License-Identifier: Apache-2.0
//
// Every elementwise function against the same function of plain numbers, over sizes around a vector's width, strided,
// broadcast, empty and of rank 0; promotion and weak scalars.

#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

using namespace twill;
using twill::test::numbers;

namespace {
/// Compares one expression over x with one function of numbers, for several sizes and for a strided operand.
template <class E, class F> void check_unary(double low, double high, E expression, F reference) {
  for (const std::int64_t n : {0, 1, 7, 16, 17, 101}) {
    const auto x = eval(rand<double, Shape<dyn>>(Dims(2 * n)) * (high - low) + low);
    const auto contiguous = x[slice{0, n}];
    const auto strided = x[slice{.step = -2}];
    const auto check = [&](const auto& in) {
      const auto found = numbers(eval(expression(in)));
      const auto values = numbers(in);
      REQUIRE(found.size() == values.size());
      for (std::size_t i = 0; i < values.size(); ++i) CHECK(found[i] == Approx(reference(values[i])).margin(1e-13));
    };
    check(contiguous);
    check(strided);
  }
}

template <class E, class F> void check_binary(double low, double high, E expression, F reference) {
  const auto a = eval(rand<double, Shape<3, 1, 17>>() * (high - low) + low);
  const auto b = eval(rand<double, Shape<5, 1>>() * (high - low) + low);
  const auto c = numbers(eval(expression(a, b)));
  REQUIRE(c.size() == 3 * 5 * 17);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j)
      for (int k = 0; k < 17; ++k)
        CHECK(c[static_cast<std::size_t>((i * 5 + j) * 17 + k)] ==
              Approx(reference(a(i, 0, k).item(), b(j, 0).item())));
}

} // namespace

TEST_CASE("functions of one operand agree with those of numbers", "[expr]") {
  check_unary(
      -3, 3, [](const auto& x) { return -x; }, [](double x) -> double { return -x; });
  check_unary(
      -3, 3, [](const auto& x) { return abs(x); }, [](double x) -> double { return std::fabs(x); });
  check_unary(
      -3, 3, [](const auto& x) { return sign(x); }, [](double x) -> double { return (x > 0) - (x < 0); });
  check_unary(
      -3, 3, [](const auto& x) { return square(x); }, [](double x) -> double { return x * x; });
  check_unary(
      0, 3, [](const auto& x) { return sqrt(x); }, [](double x) -> double { return std::sqrt(x); });
  check_unary(
      0.1, 3, [](const auto& x) { return rsqrt(x); }, [](double x) -> double { return 1 / std::sqrt(x); });
  check_unary(
      0.1, 3, [](const auto& x) { return reciprocal(x); }, [](double x) -> double { return 1 / x; });
  check_unary(
      -3, 3, [](const auto& x) { return floor(x); }, [](double x) -> double { return std::floor(x); });
  check_unary(
      -3, 3, [](const auto& x) { return ceil(x); }, [](double x) -> double { return std::ceil(x); });
  check_unary(
      -3, 3, [](const auto& x) { return round(x); }, [](double x) -> double { return std::nearbyint(x); });
  check_unary(
      -3, 3, [](const auto& x) { return trunc(x); }, [](double x) -> double { return std::trunc(x); });
  check_unary(
      -3, 3, [](const auto& x) { return exp(x); }, [](double x) -> double { return std::exp(x); });
  check_unary(
      -3, 3, [](const auto& x) { return expm1(x); }, [](double x) -> double { return std::expm1(x); });
  check_unary(
      0.1, 3, [](const auto& x) { return log(x); }, [](double x) -> double { return std::log(x); });
  check_unary(
      -0.9, 3, [](const auto& x) { return log1p(x); }, [](double x) -> double { return std::log1p(x); });
  check_unary(
      -3, 3, [](const auto& x) { return sin(x); }, [](double x) -> double { return std::sin(x); });
  check_unary(
      -3, 3, [](const auto& x) { return cos(x); }, [](double x) -> double { return std::cos(x); });
  check_unary(
      -1.4, 1.4, [](const auto& x) { return tan(x); }, [](double x) -> double { return std::tan(x); });
  check_unary(
      -1, 1, [](const auto& x) { return asin(x); }, [](double x) -> double { return std::asin(x); });
  check_unary(
      -1, 1, [](const auto& x) { return acos(x); }, [](double x) -> double { return std::acos(x); });
  check_unary(
      -3, 3, [](const auto& x) { return atan(x); }, [](double x) -> double { return std::atan(x); });
  check_unary(
      -3, 3, [](const auto& x) { return sinh(x); }, [](double x) -> double { return std::sinh(x); });
  check_unary(
      -3, 3, [](const auto& x) { return cosh(x); }, [](double x) -> double { return std::cosh(x); });
  check_unary(
      -3, 3, [](const auto& x) { return tanh(x); }, [](double x) -> double { return std::tanh(x); });
  check_unary(
      -3, 3, [](const auto& x) { return erf(x); }, [](double x) -> double { return std::erf(x); });
  check_unary(
      -3, 3, [](const auto& x) { return isnan(x); }, [](double) -> double { return 0; });
  check_unary(
      -3, 3, [](const auto& x) { return isinf(x); }, [](double) -> double { return 0; });
  check_unary(
      -3, 3, [](const auto& x) { return isfinite(x); }, [](double) -> double { return 1; });
}

TEST_CASE("functions of two operands broadcast and agree with those of numbers", "[expr]") {
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return a + b; }, [](double a, double b) -> double { return a + b; });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return a - b; }, [](double a, double b) -> double { return a - b; });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return a * b; }, [](double a, double b) -> double { return a * b; });
  check_binary(
      1, 3, [](const auto& a, const auto& b) { return a / b; }, [](double a, double b) -> double { return a / b; });
  check_binary(
      1, 9, [](const auto& a, const auto& b) { return floor_divide(a, b); },
      [](double a, double b) -> double { return std::floor(a / b); });
  check_binary(
      -9, -1, [](const auto& a, const auto& b) { return a % b; },
      [](double a, double b) -> double { return a - b * std::floor(a / b); });
  check_binary(
      0.5, 3, [](const auto& a, const auto& b) { return power(a, b); },
      [](double a, double b) -> double { return std::pow(a, b); });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return atan2(a, b); },
      [](double a, double b) -> double { return std::atan2(a, b); });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return maximum(a, b); },
      [](double a, double b) -> double { return std::fmax(a, b); });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return minimum(a, b); },
      [](double a, double b) -> double { return std::fmin(a, b); });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return a == b; }, [](double a, double b) -> double { return a == b; });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return a != b; }, [](double a, double b) -> double { return a != b; });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return a < b; }, [](double a, double b) -> double { return a < b; });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return a <= b; }, [](double a, double b) -> double { return a <= b; });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return a > b; }, [](double a, double b) -> double { return a > b; });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return a >= b; }, [](double a, double b) -> double { return a >= b; });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return where(a > b, a, b * 2); },
      [](double a, double b) -> double { return a > b ? a : b * 2; });
  check_binary(
      -3, 3, [](const auto& a, const auto& b) { return clamp(a, b, 2); },
      [](double a, double b) -> double { return std::fmin(std::fmax(a, b), 2); });
}

TEST_CASE("activation functions agree with their definitions", "[expr]") {
  check_unary(
      -3, 3, [](const auto& x) { return relu(x); }, [](double x) -> double { return x > 0 ? x : 0; });
  check_unary(
      -3, 3, [](const auto& x) { return leaky_relu(x, 0.1); }, [](double x) -> double { return x > 0 ? x : 0.1 * x; });
  check_unary(
      -3, 3, [](const auto& x) { return sigmoid(x); }, [](double x) -> double { return 1 / (1 + std::exp(-x)); });
  check_unary(
      -3, 3, [](const auto& x) { return silu(x); }, [](double x) -> double { return x / (1 + std::exp(-x)); });
  check_unary(
      -3, 3, [](const auto& x) { return gelu(x); },
      [](double x) -> double { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); });
  check_unary(
      -3, 3, [](const auto& x) { return gelu_tanh(x); },
      [](double x) -> double { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); });
  check_unary(
      -3, 3, [](const auto& x) { return softplus(x); }, [](double x) -> double { return std::log1p(std::exp(x)); });
  check_unary(
      -3, 3, [](const auto& x) { return elu(x, 0.5); },
      [](double x) -> double { return x > 0 ? x : 0.5 * std::expm1(x); });
  check_unary(
      -3, 3, [](const auto& x) { return celu(x, 0.5); },
      [](double x) -> double { return x > 0 ? x : 0.5 * std::expm1(2 * x); });
  check_unary(
      -3, 3, [](const auto& x) { return selu(x); },
      [](double x) -> double { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x)); });
  check_unary(
      -3, 3, [](const auto& x) { return logsigmoid(x); }, [](double x) -> double { return -std::log1p(std::exp(-x)); });
  check_unary(
      -3, 3, [](const auto& x) { return mish(x); },
      [](double x) -> double { return x * std::tanh(std::log1p(std::exp(x))); });
  check_unary(
      -3, 3, [](const auto& x) { return map([](auto v) { return v * exp(-square(v)); }, x); },
      [](double x) -> double { return x * std::exp(-x * x); });
  CHECK(eval(softplus(tensor({800.0})))[0].item() == 800.0);
  CHECK(eval(sigmoid(tensor({-800.0})))[0].item() == 0.0);
  CHECK(eval(logsigmoid(tensor({-800.0})))[0].item() == -800.0);
}

TEST_CASE("element types meet as PyTorch's do and numbers are weak", "[expr]") {
  const auto i = tensor({3, 4});
  const auto f = tensor({1.5F, 2.5F});
  const auto h = tensor({half(1.5F), half(2.5F)});
  const auto b = tensor({true, false});
  const auto u = tensor({std::uint8_t{200}, std::uint8_t{100}});
  static_assert(std::is_same_v<decltype(f * 2.0)::value_type, float>);
  static_assert(std::is_same_v<decltype(h * 2.0)::value_type, half>);
  static_assert(std::is_same_v<decltype(h * f)::value_type, float>);
  static_assert(std::is_same_v<decltype(i * 2.0)::value_type, float>);
  static_assert(std::is_same_v<decltype(i * 2)::value_type, std::int32_t>);
  static_assert(std::is_same_v<decltype(i / 2)::value_type, float>);
  static_assert(std::is_same_v<decltype(b * 2)::value_type, std::int64_t>);
  static_assert(std::is_same_v<decltype(b + b)::value_type, bool>);
  static_assert(std::is_same_v<decltype(exp(i))::value_type, float>);
  static_assert(std::is_same_v<decltype(floor(i))::value_type, std::int32_t>);
  static_assert(std::is_same_v<decltype(i > 2.5)::value_type, bool>);
  static_assert(std::is_same_v<decltype(where(b, 1.0, 0.0))::value_type, float>);
  static_assert(std::is_same_v<decltype(relu(i))::value_type, std::int32_t>);
  CHECK(numbers(eval(i * 2.5)) == std::vector<double>{7.5, 10});
  CHECK(numbers(eval(i > 3.5)) == std::vector<double>{0, 1});
  CHECK(numbers(eval(i + f)) == std::vector<double>{4.5, 6.5});
  CHECK(numbers(eval(u + 100)) == std::vector<double>{44, 200});
  CHECK(numbers(eval(h / 2)) == std::vector<double>{0.75, 1.25});
  CHECK(numbers(eval(b * 3)) == std::vector<double>{3, 0});
  CHECK(numbers(eval(-7 % i)) == std::vector<double>{2, 1});
  CHECK(numbers(eval(floor_divide(-7, i))) == std::vector<double>{-3, -2});
  CHECK(numbers(eval(power(i, 2))) == std::vector<double>{9, 16});
  CHECK(numbers(eval(cast<std::int32_t>(f))) == std::vector<double>{1, 2});
  CHECK(numbers(eval(where(b, 1, f))) == std::vector<double>{1, 2.5});
  CHECK(numbers(eval(i & 1)) == std::vector<double>{1, 0});
  CHECK(numbers(eval((i | 8) ^ 1)) == std::vector<double>{10, 13});
}

TEST_CASE("truth values are combined by logic", "[expr]") {
  const auto p = tensor({false, false, true, true});
  const auto q = tensor({false, true, false, true});
  CHECK(numbers(eval(p & q)) == std::vector<double>{0, 0, 0, 1});
  CHECK(numbers(eval(p | q)) == std::vector<double>{0, 1, 1, 1});
  CHECK(numbers(eval(p ^ q)) == std::vector<double>{0, 1, 1, 0});
  CHECK(numbers(eval(!p)) == std::vector<double>{1, 1, 0, 0});
  CHECK(numbers(eval(p == q)) == std::vector<double>{1, 0, 0, 1});
  CHECK(numbers(eval(p < q)) == std::vector<double>{0, 1, 0, 0});
  CHECK(numbers(eval(p + q)) == std::vector<double>{0, 1, 1, 1});
  CHECK(numbers(eval(p * q)) == std::vector<double>{0, 0, 0, 1});
  CHECK(numbers(eval(where(p, q, !q))) == std::vector<double>{1, 0, 0, 1});
  CHECK(numbers(eval(logical_and(tensor({0, 1, 2, 3}), q))) == std::vector<double>{0, 1, 0, 1});
}

TEMPLATE_TEST_CASE("every element type is added, compared, chosen and stored", "[expr]", std::uint8_t, std::int32_t,
                   std::int64_t, half, bfloat16, float, double) {
  const auto x = arange(static_cast<TestType>(35)).template reshape<Shape<5, 7>>();
  const auto y = eval(x.transpose() + 1);
  static_assert(std::is_same_v<typename decltype(y)::value_type, TestType>);
  const auto z = numbers(eval(where(y.transpose() > 10, x * 2, x + x)));
  for (int i = 0; i < 35; ++i) CHECK(z[static_cast<std::size_t>(i)] == 2 * i);
}
