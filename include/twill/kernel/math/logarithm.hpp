#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// log and log1p: x = 2^e m with m between sqrt(1/2) and sqrt(2), then a polynomial in f = m - 1. float32 within 1 ULP (log)
// and 3 (log1p), subnormals and special values right; float64 goes lane by lane through libm.
// Read next: kernel/math/hyperbolic.hpp.

#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace twill::inline v0::kernel::inline TWILL_ISA::math {

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> log(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  using I = Pack<std::int32_t, N>;
  const F infinity{std::numeric_limits<float>::infinity()};
  const auto tiny = a < F{0x1p-126F};
  const F x = select(tiny, a * F{0x1p23F}, a);
  using U = Pack<std::uint32_t, N>; // differences of bit patterns wrap
  const auto bits = bits_as<U>(x).v;
  const I exponent{bits_as<I>(U{bits - 0x3f3504f3U}).v >> 23};
  const F f = bits_as<F>(U{bits - (bits_as<U>(exponent).v << 23)}) - F{1.0F};
  const F e = convert_lanes<float>(exponent) - select(tiny, F{23.0F}, F{0.0F});
  const F square = f * f;
  const F r = polynomial(f, 0x1.555554p-2F, -0x1.0000ccp-2F, 0x1.999fe6p-3F, -0x1.54d1d0p-3F, 0x1.23050ap-3F,
                         -0x1.0a0538p-3F, 0x1.033052p-3F, -0x1.469fc6p-4F);
  // log(1 + f) = f - f^2 / 2 + f^3 r; ln 2 in two parts, the first of which has exact multiples
  F y = kernel::fma(e, F{-0x1.bd0106p-13F}, (square * f) * r);
  y = kernel::fma(square, F{-0.5F}, y);
  y = kernel::fma(e, F{0x1.63p-1F}, y + f);
  const F special = select(a == F{0.0F}, -infinity, F{std::numeric_limits<float>::quiet_NaN()});
  return select(a > F{0.0F}, select(a < infinity, y, a), special);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> log1p(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F u = F{1.0F} + a;
  const F lost = a - (u - F{1.0F}); // what rounding u dropped
  const F y = log(u);
  const auto ordinary = magnitude(y) < F{std::numeric_limits<float>::infinity()};
  return select(magnitude(a) < F{0x1p-25F}, a, select(ordinary, y + lost / u, y));
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> log(const Pack<double, N>& a) {
  return by_lane([](double x) { return std::log(x); }, a);
}
template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> log1p(const Pack<double, N>& a) {
  return by_lane([](double x) { return std::log1p(x); }, a);
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA::math
