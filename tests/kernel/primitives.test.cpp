// SPDX-License-Identifier: Apache-2.0
//
// Each primitive on packs beside libm and the scalar definition: special values, integers, and the stated accuracy over a
// sweep of all float32 bit patterns.

#include <twill/kernel/apply.hpp>
#include <twill/kernel/apply_pack.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

using namespace twill;
using namespace twill::kernel;

namespace {

constexpr int lanes = vector_bytes / 4;
using Floats = Pack<float, lanes>;

/// The largest error in units in the last place for |x| <= limit; infinity where a special value is wrong.
template <Primitive P, class Reference> double worst_ulp(Reference reference, float limit) {
  double worst = 0;
  for (std::uint64_t start = 0; start < (std::uint64_t{1} << 32); start += 2003 * lanes) {
    float x[lanes], y[lanes];
    for (int i = 0; i < lanes; ++i)
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(start + 2003 * static_cast<std::uint64_t>(i)));
    store(y, kernel::apply<P>(load<float, lanes>(x)));
    for (int i = 0; i < lanes; ++i) {
      const double exact = reference(static_cast<double>(x[i]));
      const auto rounded = static_cast<float>(exact);
      if (rounded == y[i] || (std::isnan(rounded) && std::isnan(y[i])) || std::abs(x[i]) > limit) continue;
      if (!std::isfinite(rounded) || !std::isfinite(y[i])) return std::numeric_limits<double>::infinity();
      const double unit = std::max(std::ldexp(1.0, std::ilogb(rounded) - 23), 0x1p-149);
      worst = std::max(worst, std::abs(static_cast<double>(y[i]) - exact) / unit);
    }
  }
  return worst;
}

constexpr float everywhere = std::numeric_limits<float>::infinity();

/// Lane by lane equality with the scalar definition on special values; NaN equals NaN, and zeros their signs.
template <Primitive P, class T> bool equals_scalar() {
  constexpr int n = vector_bytes / static_cast<int>(sizeof(T));
  std::array<T, 12> values{};
  if constexpr (std::is_floating_point_v<T>) {
    const T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    values = {0, T{-0.0}, 1, -1, T{2.5}, T{-2.5}, T{0.3}, T{-7.7}, infinity, -infinity, nan, 3};
  } else {
    values = {0,
              1,
              2,
              3,
              5,
              7,
              std::numeric_limits<T>::max(),
              std::numeric_limits<T>::min(),
              static_cast<T>(-1),
              static_cast<T>(-2),
              static_cast<T>(-7),
              100};
  }
  // what has a vector form of its own may differ in the last places, never in kind
  constexpr bool rounded = P == Primitive::power || (std::is_same_v<T, float> && info(P).family == Family::floating);
  constexpr T slack = std::is_same_v<T, float> ? static_cast<T>(5e-7) : static_cast<T>(5e-16);
  const auto same = [](auto a, auto b) {
    if constexpr (std::is_floating_point_v<decltype(a)>)
      return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)) ||
             (rounded && std::isfinite(a) && std::abs(a - b) <= slack * std::abs(b));
    else
      return a == b;
  };
  for (const T a : values)
    for (const T b : values) {
      if constexpr (info(P).arity == 1) {
        const auto got = kernel::apply<P>(Pack<T, n>{a});
        if constexpr (info(P).boolean_result) {
          if ((got.v[n - 1] != 0) != kernel::apply<P>(a)) return false;
        } else if (!same(static_cast<T>(got.v[n - 1]), kernel::apply<P>(a)))
          return false;
      } else {
        const auto got = kernel::apply<P>(Pack<T, n>{a}, Pack<T, n>{b});
        if constexpr (info(P).boolean_result) {
          if ((got.v[n - 1] != 0) != kernel::apply<P>(a, b)) return false;
        } else if (!same(static_cast<T>(got.v[n - 1]), kernel::apply<P>(a, b)))
          return false;
      }
    }
  return true;
}

template <class T, Primitive... P> bool all_equal_scalar() { return (equals_scalar<P, T>() && ...); }

} // namespace

TEST_CASE("transcendental functions are as accurate as promised over all of float32", "[kernel]") {
  CHECK(worst_ulp<Primitive::exp>([](double x) { return std::exp(x); }, everywhere) <= 2);
  CHECK(worst_ulp<Primitive::expm1>([](double x) { return std::expm1(x); }, everywhere) <= 3);
  CHECK(worst_ulp<Primitive::log>([](double x) { return std::log(x); }, everywhere) <= 2);
  CHECK(worst_ulp<Primitive::log1p>([](double x) { return std::log1p(x); }, everywhere) <= 3);
  CHECK(worst_ulp<Primitive::tanh>([](double x) { return std::tanh(x); }, everywhere) <= 5);
  CHECK(worst_ulp<Primitive::erf>([](double x) { return std::erf(x); }, everywhere) <= 6);
  CHECK(worst_ulp<Primitive::sin>([](double x) { return std::sin(x); }, 100.0F) <= 3);
  CHECK(worst_ulp<Primitive::cos>([](double x) { return std::cos(x); }, 100.0F) <= 3);
}

TEMPLATE_TEST_CASE("floating primitives treat special values as the scalar definition does", "[kernel]", float,
                   double) {
  using enum Primitive;
  CHECK(all_equal_scalar<TestType, negate, Primitive::abs, sign, square, Primitive::sqrt, rsqrt, reciprocal,
                         Primitive::floor, Primitive::ceil, Primitive::round, Primitive::trunc, Primitive::asin,
                         Primitive::acos, Primitive::atan, Primitive::sinh, Primitive::cosh, Primitive::tan,
                         Primitive::exp2, Primitive::log2, Primitive::log10, Primitive::cbrt, Primitive::asinh,
                         Primitive::acosh, Primitive::atanh, Primitive::erfc, Primitive::lgamma, digamma,
                         frexp_exponent, tanh_accurate, erf_accurate, logical_not, Primitive::isnan, Primitive::isinf,
                         Primitive::isfinite>());
  CHECK(all_equal_scalar<TestType, add, subtract, multiply, divide, floor_divide, Primitive::remainder, Primitive::fmod,
                         power, Primitive::atan2, Primitive::hypot, Primitive::copysign, Primitive::nextafter,
                         Primitive::ldexp, equal, not_equal, less, less_equal, greater, greater_equal, logical_and,
                         logical_or, logical_xor>());
  CHECK(std::isnan(kernel::apply<maximum>(TestType{1}, std::numeric_limits<TestType>::quiet_NaN())));
  CHECK(std::isnan(kernel::apply<minimum>(std::numeric_limits<TestType>::quiet_NaN(), TestType{1})));
}

TEMPLATE_TEST_CASE("integer primitives wrap and divide as NumPy does", "[kernel]", std::uint8_t, std::int32_t,
                   std::int64_t) {
  using enum Primitive;
  CHECK(all_equal_scalar<TestType, negate, Primitive::abs, sign, square, reciprocal, Primitive::floor, logical_not,
                         invert>());
  CHECK(all_equal_scalar<TestType, add, subtract, multiply, divide, floor_divide, Primitive::remainder, power, maximum,
                         minimum, equal, not_equal, less, less_equal, greater, greater_equal, logical_and, bitwise_and,
                         bitwise_or, bitwise_xor, left_shift, right_shift, gcd, Primitive::fmod>());
  CHECK(kernel::apply<floor_divide>(TestType{7}, TestType{0}) == 0);
  if constexpr (std::is_signed_v<TestType>) {
    CHECK(kernel::apply<floor_divide>(TestType{-7}, TestType{2}) == -4);
    CHECK(kernel::apply<Primitive::remainder>(TestType{-7}, TestType{2}) == 1);
    CHECK(kernel::apply<divide>(TestType{-7}, TestType{2}) == -3);
  }
}
