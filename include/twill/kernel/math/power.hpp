#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Powers and roots of float32, computed in float64 where a logarithm stands between: power within 0.51 ULP, hypot within
// 0.51; cbrt within 0.51 by two steps of Halley's method and one of Newton's from a guess at the bits. float64 goes lane by
// lane through libm. Read next: kernel/math/trigonometric.hpp.

#include <twill/kernel/math/exponential.hpp>
#include <twill/kernel/math/logarithm.hpp>
#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cstdint>
#include <limits>

namespace twill::inline v0::kernel::inline TWILL_ISA::math {

namespace table = math_coefficients;

/// a to the power of b, with C's special values.
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> power(const Pack<float, N>& a, const Pack<float, N>& b) {
  using F = Pack<float, N>;
  const F infinity{std::numeric_limits<float>::infinity()};
  const F size = magnitude(a);
  F y = in_double(
      [](const auto& x, const auto& e) __attribute__((always_inline)) { return exp(e * log(x)); }, size, b);
  const auto whole = round_to<Rounding::even>(b) == b;
  const F half = b * F{0.5F};
  const auto is_odd = whole & (round_to<Rounding::even>(half) != half);
  const auto negative = copy_sign(F{1.0F}, a) < F{0.0F};
  y = select(negative & is_odd, -y, y);
  y = select((a < F{0.0F}) & ~whole & (size < infinity), F{std::numeric_limits<float>::quiet_NaN()}, y);
  // 1 to any power, and any number, even none, to the power of 0; -1 to an infinite one
  const auto one = (b == F{0.0F}) | (a == F{1.0F}) | ((size == F{1.0F}) & (magnitude(b) == infinity));
  return select(one, F{1.0F}, y);
}

/// sqrt(a a + b b), which cannot overflow on the way.
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> hypot(const Pack<float, N>& a, const Pack<float, N>& b) {
  using F = Pack<float, N>;
  const F infinity{std::numeric_limits<float>::infinity()};
  const F y = in_double(
      [](const auto& u, const auto& v)
          __attribute__((always_inline)) { return kernel::sqrt(kernel::fma(u, u, v * v)); },
      a, b);
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
  // the bits of a number are nearly its logarithm: a third of them is nearly that of the root
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

} // namespace twill::inline v0::kernel::inline TWILL_ISA::math
