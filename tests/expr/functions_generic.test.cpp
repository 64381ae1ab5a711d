// SPDX-License-Identifier: Apache-2.0
//
// One generic function for tensors, for symbols of `map` and for traced values: the three have the same names.

#include "tests/expr/function_checks.hpp"

#include <twill/compile/function.hpp>
#include <twill/graph/functions.hpp>
#include <twill/nn/activations.hpp>

#include <tuple>

using namespace twill;
using twill::test::numbers;

namespace {

/// Every name that real numbers have, some weighted so that none is lost.
constexpr auto sums = [](auto x) {
  return abs(x) + 2 * absolute(x) - negative(x) + positive(x) * 3 + fabs(x) + square(x) + sqrt(x) + cbrt(x) + rsqrt(x) +
         reciprocal(x);
};
constexpr auto rounds = [](auto x) {
  return floor(x) + 2 * ceil(x) + 3 * round(x) + rint(x) - trunc(x) * 5 + fix(x) * 7;
};
constexpr auto powers = [](auto x) {
  return exp(x) + 2 * expm1(x) + exp2(x) * 3 + log(x) + log1p(x) * 5 + log2(x) + log10(x) * 7;
};
constexpr auto angles = [](auto x) {
  return sin(x) + cos(x) * 2 + tan(x) * 3 + arcsin(x) + arccos(x) * 2 + arctan(x) * 3 + asin(x) - acos(x) + atan(x) +
         deg2rad(x) + radians(x) * 2 + rad2deg(x) + degrees(x) * 3 + sinc(x);
};
constexpr auto hyperbolic = [](auto x) {
  return sinh(x) + cosh(x) * 2 + tanh(x) * 3 + arcsinh(x) + arccosh(x + 1.5) * 2 + arctanh(x) * 3 + asinh(x) -
         acosh(x + 1) + atanh(x) + tanh_accurate(x);
};
constexpr auto special = [](auto x) {
  return erf(x) + erfc(x) * 2 + erf_accurate(x) + lgamma(x) * 3 + digamma(x) + polygamma(1, x);
};
constexpr auto tests = [](auto x) {
  return where(isnan(x), 1.0, 2.0) + where(isinf(x), 3, 4.0) + where(isfinite(x), 5.0, 6.0) +
         where(signbit(x), 7.0, 8.0) + where(isposinf(x), 1.0, 2.0) + where(isneginf(x), 1.0, 3.0) +
         where(!(x > 0.3), x, 0.5);
};
constexpr auto soft = [](auto x) { return sigmoid(x) + silu(x) * 2 + gelu_accurate(x) * 3 + relu(x) + sign(x); };
constexpr auto arithmetic = [](auto a, auto b) {
  return add(a, b) + subtract(a, b) * 2 + multiply(a, b) + divide(a, b) * 3 + true_divide(a, 2) + power(a, b) +
         floor_divide(a, b) + remainder(a, b) * 2 + mod(a, b) + fmod(a, b) * 3 + a % b;
};
constexpr auto choices = [](auto a, auto b) {
  return maximum(a, b) + minimum(a, 0.5) * 2 + fmax(a, b) * 3 + fmin(a, b) + heaviside(a, b) + clamp(a, 0.2, 0.4) +
         clip(a, 0.3, 0.6) + clamp_min(a, 0.4) + clamp_max(a, 0.4) + lerp(a, b, 0.25);
};
constexpr auto of_reals = [](auto a, auto b) {
  return atan2(a, b) + arctan2(b, a) * 2 + hypot(a, b) + copysign(a, b - 0.5) + ldexp(a, round(b * 4)) +
         logaddexp(a, b) + logaddexp2(a, b) * 2 + xlogy(a, b) + nextafter(a, b);
};
constexpr auto truths = [](auto a, auto b) {
  return where(equal(a, b), 1.0, 2.0) + where(not_equal(a, b), 3.0, 4.0) + where(less(a, b), 5.0, 6.0) +
         where(less_equal(a, b), 7.0, 8.0) + where(greater(a, b), 9.0, 1.0) + where(greater_equal(a, b), 2.0, 3.0) +
         where(logical_and(a<b, b> 0.5), 1.0, 2.0) + where((a == b) | (a != b), 1.0, 5.0) +
         where((a <= b) ^ (a >= b), 1.0, 4.0) + where(logical_xor(a > 0.3, b > 0.3) & logical_not(a > b), 1.0, 8.0);
};
constexpr auto of_integers = [](auto a, auto b) {
  return ((a & b) | (a ^ 12)) + (a << 2) + (b >> 1) + ~a + invert(b) + gcd(a, b) + lcm(a, b) + bitwise_and(a, 6) +
         bitwise_or(a, 1) + bitwise_xor(a, b) + left_shift(a, 1) + right_shift(a, 1) + bitwise_not(a) +
         floor_divide(a, b) + a % b;
};

using Numbers = Tensor<float, Cpu, Shape<dyn>>;
static_assert(elementwise::Argument<graph::Value> && elementwise::Argument<const expr::Symbol&> &&
              elementwise::Argument<Numbers&> && elementwise::Argument<decltype(Numbers{} + 1)>);
static_assert(!elementwise::Argument<float> && !elementwise::Argument<Dims>);
static_assert(elementwise::With<float, graph::Value> && elementwise::With<Numbers, int>);
static_assert(!elementwise::With<float, int> && !elementwise::With<graph::Value, Numbers>);

template <class F> struct Traced {
  template <class... X> constexpr auto operator()(X... x) const { return sum(F{}(x...)); }
};

} // namespace

TEST_CASE("tensors, symbols and traced values share the functions of real numbers", "[expr]") {
  const auto a = test::random_elements<double>(17, 0.1, 0.9).reshape<Shape<17>>();
  const auto b = test::random_elements<double>(17, 0.1, 0.9).reshape<Shape<17>>();
  const auto check = [](auto f, const auto&... x) {
    const auto plain = eval(f(x...));
    const auto mapped = eval(map(f, x...));
    double total = 0;
    for (int i = 0; i < 17; ++i) {
      CHECK(mapped(i).item() == Approx(plain(i).item()).epsilon(1e-12));
      total += plain(i).item();
    }
    const auto results = value_and_grad(Traced<decltype(f)>{})(x...);
    CHECK(std::get<0>(results).item() == Approx(total).epsilon(1e-12));
    CHECK(std::isfinite(std::get<1>(results)(3).item()));
  };
  check(sums, a);
  check(rounds, a);
  check(powers, a);
  check(angles, a);
  check(hyperbolic, a);
  check(special, a);
  check(tests, a);
  check(soft, a);
  check(arithmetic, a, b);
  check(choices, a, b);
  check(of_reals, a, b);
  check(truths, a, b);
}

TEST_CASE("tensors and symbols share the functions of integers", "[expr]") {
  const auto a = tensor({12, -7, 5, 0, 100});
  const auto b = tensor({8, 3, -5, 6, 7});
  CHECK(numbers(eval(map(of_integers, a, b))) == numbers(eval(of_integers(a, b))));
  constexpr auto convert = [](auto x) { return cast<std::int32_t>(x * 2.5) + cast<std::int32_t>(x); };
  CHECK(numbers(eval(map(convert, tensor({1.5, -1.5})))) == std::vector<double>{4, -4});
}
