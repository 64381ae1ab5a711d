// SPDX-License-Identifier: Apache-2.0
//
// Functions of floating-point form: special values, signs, neighbours, the parts of numbers, and what takes the place of NaN.

#include "tests/expr/function_checks.hpp"

using namespace twill;
using twill::test::check_binary;
using twill::test::check_unary;
using twill::test::numbers;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Equal, where NaN equals NaN and zeros have signs.
bool same(const std::vector<double>& found, const std::vector<double>& wanted) {
  if (found.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double a = found[i], b = wanted[i];
    if (!((std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)))) return false;
  }
  return true;
}
} // namespace

TEMPLATE_TEST_CASE("classification and signs see special values", "[expr]", float, double) {
  using T = TestType;
  const auto x = tensor({T{1}, T{-0.0}, static_cast<T>(inf), static_cast<T>(-inf), static_cast<T>(not_a_number)});
  CHECK(same(numbers(eval(isposinf(x))), {0, 0, 1, 0, 0}));
  CHECK(same(numbers(eval(isneginf(x))), {0, 0, 0, 1, 0}));
  CHECK(same(numbers(eval(signbit(x))), {0, 1, 0, 1, std::signbit(static_cast<T>(not_a_number)) ? 1.0 : 0.0}));
  CHECK(same(numbers(eval(isfinite(x))), {1, 1, 0, 0, 0}));
  CHECK(same(numbers(eval(heaviside(x, 0.5))), {1, 0.5, 1, 0, not_a_number}));
  CHECK(same(numbers(eval(fmax(x, not_a_number))), {1, -0.0, inf, -inf, not_a_number}));
  CHECK(same(numbers(eval(fmin(not_a_number, x))), {1, -0.0, inf, -inf, not_a_number}));
  CHECK(same(numbers(eval(maximum(x, not_a_number))),
             {not_a_number, not_a_number, not_a_number, not_a_number, not_a_number}));
  CHECK(same(numbers(eval(logaddexp(x, x)))[2] == inf ? std::vector<double>{1} : std::vector<double>{0}, {1}));
  CHECK(same(numbers(eval(copysign(2.0, x)))[1] < 0 ? std::vector<double>{1} : std::vector<double>{0}, {1}));
  CHECK(same(numbers(eval(hypot(x, inf))), {inf, inf, inf, inf, inf}));
  CHECK(same(numbers(eval(clip(x, -2, 2))), {1, -0.0, 2, -2, not_a_number}));
  CHECK(same(numbers(eval(clamp_min(x, 0.5))), {1, 0.5, inf, 0.5, not_a_number}));
  CHECK(same(numbers(eval(clamp_max(x, 0.5))), {0.5, -0.0, 0.5, -inf, not_a_number}));
  CHECK(same(numbers(eval(sinc(x)))[1] == 1 ? std::vector<double>{1} : std::vector<double>{0}, {1}));
}

TEMPLATE_TEST_CASE("numbers take the place of NaN and infinities", "[expr]", half, bfloat16, float, double) {
  using T = TestType;
  const auto number = [](double x) { return static_cast<T>(static_cast<float>(x)); };
  const auto x = tensor({number(1.5), number(not_a_number), number(inf), number(-inf)});
  const double largest = static_cast<double>(std::numeric_limits<T>::max());
  CHECK(same(numbers(eval(nan_to_num(x))), {1.5, 0, largest, -largest}));
  CHECK(same(numbers(eval(nan_to_num(x, {.nan = 2, .posinf = 3, .neginf = -4}))), {1.5, 2, 3, -4}));
  CHECK(same(numbers(eval(nan_to_num(x + 0, {.posinf = inf}))), {1.5, 0, inf, -largest}));
}

TEST_CASE("close numbers are close, relative to the second", "[expr]") {
  const auto a = tensor({1.0, 1.0, 100.0, inf, inf, not_a_number, 0.0});
  const auto b = tensor({1.0 + 1e-6, 1.1, 100.0009, inf, -inf, not_a_number, 1e-9});
  CHECK(numbers(eval(isclose(a, b))) == std::vector<double>{1, 0, 1, 1, 0, 0, 1});
  CHECK(numbers(eval(isclose(a, b, {.equal_nan = true}))) == std::vector<double>{1, 0, 1, 1, 0, 1, 1});
  CHECK(numbers(eval(isclose(a, b, {.rtol = 0.2}))) == std::vector<double>{1, 1, 1, 1, 0, 0, 1});
  CHECK(numbers(eval(isclose(a, b, {.rtol = 0, .atol = 0}))) == std::vector<double>{0, 0, 0, 1, 0, 0, 0});
  CHECK(numbers(eval(isclose(tensor({1000000000, 3}), 1000000001, {.rtol = 0, .atol = 0.5}))) ==
        std::vector<double>{0, 0});
  CHECK(numbers(eval(isclose(tensor({half(1), half(2)}), half(1)))) == std::vector<double>{1, 0});
  CHECK(all_of(isclose(a[slice{0, 1}], b[slice{0, 1}])).item());
  CHECK(allclose(a[slice{2, 4}], b[slice{2, 4}]).item());
  CHECK(!allclose(a, b, {.equal_nan = true}).item());
}

TEST_CASE("numbers come apart and are put together again", "[expr]") {
  const auto x = tensor({6.5, -6.5, 0.0, -0.0, 1e-310, inf});
  auto [mantissa, exponent] = frexp(x);
  const Tensor m = mantissa;
  const Tensor e = exponent;
  static_assert(std::is_same_v<decltype(e)::value_type, std::int32_t>);
  CHECK(same(numbers(m), {0.8125, -0.8125, 0, -0.0, std::ldexp(1e-310, 1029), inf}));
  CHECK(numbers(e) == std::vector<double>{3, 3, 0, 0, -1029, 0});
  CHECK(same(numbers(eval(ldexp(m, e))), numbers(x)));
  auto [fraction, whole] = modf(x);
  CHECK(same(numbers(eval(fraction)), {0.5, -0.5, 0, -0.0, 1e-310, 0}));
  CHECK(same(numbers(eval(whole)), {6, -6, 0, -0.0, 0, inf}));
  const auto n = tensor({7, -7});
  auto [quotient, rest] = divmod(n + 0, 4);
  CHECK(numbers(eval(quotient)) == std::vector<double>{1, -2});
  CHECK(numbers(eval(rest)) == std::vector<double>{3, 1});
  CHECK(same(numbers(eval(spacing(tensor({1.0F, -1.0F, inf < 0 ? 0.0F : 0.0F})))), {0x1p-23, -0x1p-23, 0x1p-149}));
  CHECK(same(numbers(eval(nextafter(tensor({1.0, 0.0}), -inf))), {1 - 0x1p-53, -0x1p-1074}));
  CHECK(same(numbers(eval(ldexp(tensor({0x1p-149F, 1.0F, 0.0F}), tensor({149, 200, 9000})))), {1, inf, 0}));
}

TEST_CASE("numbers are rounded to decimals and to tens", "[expr]") {
  CHECK(numbers(eval(round(tensor({1.255, 2.5, -3.14159}), 2))) == std::vector<double>{1.25, 2.5, -3.14});
  CHECK(numbers(eval(round(tensor({1234.5, 1250.0, -1350.0}), -2))) == std::vector<double>{1200, 1200, -1400});
  CHECK(numbers(eval(round(tensor({15, 25, -36}), -1))) == std::vector<double>{20, 20, -40});
  CHECK(numbers(eval(round(tensor({15, 25}), 1))) == std::vector<double>{15, 25});
  CHECK(numbers(eval(rint(tensor({0.5, 1.5, -2.5})))) == std::vector<double>{0, 2, -2});
  CHECK(numbers(eval(fix(tensor({1.7, -1.7})))) == std::vector<double>{1, -1});
}

TEST_CASE("the derivatives of lgamma have their known values", "[expr]") {
  constexpr double euler = 0.57721566490153286061;
  const auto x = tensor({1.0, 0.5, -0.5, 10.0});
  const auto psi = numbers(eval(digamma(x)));
  CHECK(psi[0] == Approx(-euler).epsilon(1e-14));
  CHECK(psi[1] == Approx(-euler - 2 * std::log(2.0)).epsilon(1e-14));
  CHECK(psi[2] == Approx(2 - euler - 2 * std::log(2.0)).epsilon(1e-13));
  CHECK(psi[3] == Approx(2.2517525890667211077).epsilon(1e-14));
  CHECK(std::isnan(eval(digamma(tensor({-3.0})))[0].item()));
  CHECK(eval(digamma(tensor({0.0})))[0].item() == -inf);
  const auto trigamma = numbers(eval(polygamma(1, x)));
  CHECK(trigamma[0] == Approx(M_PI * M_PI / 6).epsilon(1e-13));
  CHECK(trigamma[1] == Approx(M_PI * M_PI / 2).epsilon(1e-13));
  CHECK(trigamma[2] == Approx(M_PI * M_PI / 2 + 4).epsilon(1e-13));
  CHECK(numbers(eval(polygamma(2, x)))[0] == Approx(-2 * 1.2020569031595942854).epsilon(1e-13));
  CHECK(numbers(eval(polygamma(3, x)))[1] == Approx(std::pow(M_PI, 4)).epsilon(1e-13));
}
