#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// sin and cos: x = n pi / 2 + r with |r| <= pi / 4, pi / 2 in three parts whose multiples are exact. float32 within 2 ULP
// away from the zeros and within 2^-25 at them for magnitudes below 8192; larger ones, and float64, go through libm.

#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cmath>
#include <cstdint>

namespace twill::inline v0::kernel::inline TWILL_ISA::math {

namespace parts {
/// sin (Shift = 0) or cos (Shift = 1).
template <int Shift, int N> [[nodiscard]] TWILL_INLINE Pack<float, N> sine(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  using I = Pack<std::int32_t, N>;
  const auto large = ~(magnitude(a) < F{8192.0F});
  if (any(large)) [[unlikely]]
    return by_lane([](float x) { return Shift == 0 ? std::sin(x) : std::cos(x); }, a);
  const auto n = nearest(a, 0x1.45f306p-1F);
  F r = kernel::fma(n.value, F{-0x1.92p+0F}, a);
  r = kernel::fma(n.value, F{-0x1.fb4p-12F}, r);
  r = kernel::fma(n.value, F{-0x1.4442d2p-24F}, r);
  const F t = r * r;
  const F s = kernel::fma(r * t, polynomial(t, -0x1.555552p-3F, 0x1.110c08p-7F, -0x1.9ab942p-13F), r);
  const F c = kernel::fma(t * t, polynomial(t, 0x1.555554p-5F, -0x1.6c12bcp-10F, 0x1.9bcc4cp-16F),
                          kernel::fma(t, F{-0.5F}, F{1.0F}));
  const I quadrant{n.integer.v + Shift};
  const F y = select(I{quadrant.v & 1} == I{0}, s, c);
  const F signed_y = bits_as<F>(I{bits_as<I>(y).v ^ ((quadrant.v & 2) << 30)});
  return Shift == 0 ? select(a == F{0.0F}, a, signed_y) : signed_y;
}
} // namespace parts

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> sin(const Pack<float, N>& a) { return parts::sine<0>(a); }
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> cos(const Pack<float, N>& a) { return parts::sine<1>(a); }

template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> sin(const Pack<double, N>& a) {
  return by_lane([](double x) { return std::sin(x); }, a);
}
template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> cos(const Pack<double, N>& a) {
  return by_lane([](double x) { return std::cos(x); }, a);
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA::math
