#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Powers and roots of float32, mostly in float64: power and hypot within 0.51 ULP; cbrt within 0.51 by two steps of
// Halley's method and one of Newton's from a guess at the bits. float64: power within 1.6 by a logarithm of twelve more
// bits (through libm without fused multiply-add, as the others). Read next: kernel/math/trigonometric.hpp.

#include <twill/kernel/math/exponential.hpp>
#include <twill/kernel/math/logarithm.hpp>
#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace math {

namespace table = math_coefficients;

namespace parts {
/// The power for any base, given that of the base's magnitude: C's special values.
template <class T, int N>
[[nodiscard]] TWILL_INLINE Pack<T, N> power_of_sign(const Pack<T, N>& a, const Pack<T, N>& b,
                                                    const Pack<T, N>& of_size) {
  using F = Pack<T, N>;
  const F infinity{std::numeric_limits<T>::infinity()};
  const F size = magnitude(a);
  const auto whole = round_to<Rounding::even>(b) == b;
  const F half = b * F{T{0.5}};
  const auto is_odd = whole & (round_to<Rounding::even>(half) != half);
  const auto negative = copy_sign(F{T{1}}, a) < F{T{0}};
  F y = select(negative & is_odd, -of_size, of_size);
  y = select((a < F{T{0}}) & ~whole & (size < infinity), F{std::numeric_limits<T>::quiet_NaN()}, y);
  // 1 to any power, and any number, even none, to the power of 0; -1 to an infinite one
  const auto one = (b == F{T{0}}) | (a == F{T{1}}) | ((size == F{T{1}}) & (magnitude(b) == infinity));
  return select(one, F{T{1}}, y);
}
} // namespace parts

/// a to the power of b, with C's special values.
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> power(const Pack<float, N>& a, const Pack<float, N>& b) {
  const auto y =
      in_double([](const auto& x, const auto& e) TWILL_ALWAYS_INLINE { return exp(e * log(x)); }, magnitude(a), b);
  return parts::power_of_sign(a, b, y);
}

#if defined(__FMA__)
namespace parts {
/// A number as the sum of two, the second below the last place of the first.
template <int N> struct Twofold {
  Pack<double, N> high;
  Pack<double, N> low;
};
template <int N>
[[nodiscard]] TWILL_INLINE Twofold<N> exact_product(const Pack<double, N>& a, const Pack<double, N>& b) {
  const auto high = uncontracted(a * b);
  return {high, kernel::fma(a, b, -high)};
}
/// requires: |a| >= |b|, or a = 0
template <int N> [[nodiscard]] TWILL_INLINE Twofold<N> exact_sum(const Pack<double, N>& a, const Pack<double, N>& b) {
  const auto high = a + b;
  return {high, b - (high - a)};
}

/// The logarithm of x > 0 to twelve bits beyond float64: 2 s + 2 s^3 / 3 twofold, the rest of the series plain.
template <int N> [[nodiscard]] TWILL_INLINE Twofold<N> twofold_log(const Pack<double, N>& a) {
  using F = Pack<double, N>;
  const auto [e, f] = split(a);
  // s = f / (2 + f)
  const F below = F{2.0} + f;
  const F below_low = f - (below - F{2.0});
  const F s = f / below;
  const F s_low = (kernel::fma(-s, below, f) - s * below_low) / below;
  const auto z = exact_product(s, s);
  const F z_low = kernel::fma(s + s, s_low, z.low);
  // t = z (2/3 + z (2/5 + ...)), the first coefficient twofold as well
  const F third{0x1.5555555555555p-1};
  const F rest = z.high * polynomial(z.high, table::log_mantissa_rest_double);
  const auto factor = exact_sum(third, rest);
  const F factor_low = factor.low + F{0x1.5555555555555p-55};
  const auto t = exact_product(z.high, factor.high);
  const F t_low = kernel::fma(z.high, factor_low, kernel::fma(z_low, factor.high, t.low));
  // 2 s + s t
  const auto tail = exact_product(s, t.high);
  const F tail_low = kernel::fma(s, t_low, kernel::fma(s_low, t.high, tail.low));
  const auto mantissa = exact_sum(s + s, tail.high);
  const F mantissa_low = mantissa.low + (tail_low + (s_low + s_low));
  // e ln 2: the first part has exact multiples
  const auto sum = exact_sum(e * F{0x1.62e42fefa38p-1}, mantissa.high);
  const auto all = exact_sum(sum.high, sum.low + (mantissa_low + e * F{0x1.ef35793c7673p-45}));
  return {all.high, all.low};
}
} // namespace parts

/// a to the power of b in float64, where the exponent of the result needs a logarithm of more bits.
template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> power(const Pack<double, N>& a, const Pack<double, N>& b) {
  using F = Pack<double, N>;
  const F size = magnitude(a);
  const auto logarithm = parts::twofold_log(size);
  const auto product = parts::exact_product(b, parts::logarithm_of(size, logarithm.high));
  const F low = kernel::fma(b, logarithm.low, product.low);
  return parts::power_of_sign(a, b, parts::exp_with(product.high, low));
}
#else
template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> power(const Pack<double, N>& a, const Pack<double, N>& b) {
  return by_lane([](double x, double y) { return std::pow(x, y); }, a, b);
}
#endif

/// sqrt(a a + b b), without intermediate overflow.
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> hypot(const Pack<float, N>& a, const Pack<float, N>& b) {
  using F = Pack<float, N>;
  const F infinity{std::numeric_limits<float>::infinity()};
  const F y = in_double(
      [](const auto& u, const auto& v) TWILL_ALWAYS_INLINE { return kernel::sqrt(kernel::fma(u, u, v * v)); }, a, b);
  return select((magnitude(a) == infinity) | (magnitude(b) == infinity), infinity, y);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> cbrt(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  using I = Pack<std::int32_t, N>;
  const auto tiny = magnitude(a) < F{0x1p-126F};
  const F size = magnitude(select(tiny, a * F{0x1p24F}, a));
  // |a| = 2^(3 third) m with m in [1, 8)
  const I exponent{(bits_as<I>(size).v >> 23) - 127};
  const F third = round_to<Rounding::down>(kernel::fma(convert_lanes<float>(exponent), F{1.0F / 3.0F}, F{0.01F}));
  const I n = convert_lanes<std::int32_t>(third);
  const F m = bits_as<F>(I{bits_as<I>(size).v - ((n.v * 3) << 23)});
  // the bits of a number are nearly its logarithm: a third of them is nearly the root's
  F y = bits_as<F>(
      convert_lanes<std::int32_t>(kernel::fma(convert_lanes<float>(bits_as<I>(m)), F{1.0F / 3.0F}, F{709958130.0F})));
  for (int step = 0; step < 2; ++step) {
    const F cube = y * y * y;
    y = y * ((cube + m + m) / (cube + cube + m));
  }
  const F square = y * y;
  const F lost = kernel::fma(y, y, -square);
  const F rest = kernel::fma(-lost, y, kernel::fma(-square, y, m));
  y = kernel::fma(rest, F{1.0F / 3.0F} / square, y);
  y = y * power_of_two(n) * select(tiny, F{0x1p-8F}, F{1.0F});
  const auto ordinary = (magnitude(a) < F{std::numeric_limits<float>::infinity()}) & (a != F{0.0F});
  return select(ordinary, copy_sign(y, a), a);
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::math
