#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Trigonometric functions: x = n pi / 2 + r with |r| <= pi / 4, pi / 2 in three parts. float32: sin within 1.6 ULP, cos
// within 1.6, tan within 3.8; float64: sin and cos within 1.5. Without fused multiply-add the parts are shorter, so
// that their multiples are exact, and float32 loses relative accuracy at the zeros. Magnitudes from 8192 on (float64:
// 2^30, and all without fused multiply-add) use libm. Read next: kernel/math/inverse_trigonometric.hpp.

#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cmath>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace math {

namespace table = math_coefficients;

namespace parts {
/// The sine and cosine of r, and the quadrant of the angle.
template <int N> struct Angle {
  Pack<float, N> sine;
  Pack<float, N> cosine;
  Pack<std::int32_t, N> quadrant;
};
/// requires: |a| < 8192
template <int N> [[nodiscard]] TWILL_INLINE Angle<N> angle(const Pack<float, N>& a) {
  using F = Pack<float, N>;
#if defined(__FMA__)
  constexpr float high = 0x1.921fb6p+0F, middle = -0x1.777a5cp-25F, low = -0x1.ee59dap-50F;
#else
  constexpr float high = 0x1.92p+0F, middle = 0x1.fb4p-12F, low = 0x1.4442d2p-24F;
#endif
  const auto n = nearest(a, 0x1.45f306p-1F);
  F r = kernel::fma(n.value, F{-high}, a);
  r = kernel::fma(n.value, F{-middle}, r);
  r = kernel::fma(n.value, F{-low}, r);
  const F t = r * r;
  const F s = kernel::fma(r * t, polynomial(t, table::sin_reduced), r);
  const F c = kernel::fma(t * t, polynomial(t, table::cos_reduced), kernel::fma(t, F{-0.5F}, F{1.0F}));
  return {s, c, n.integer};
}

/// Gives libm's results to lanes that the reduction does not cover; other lanes keep their bits, whatever their
/// neighbours hold. Out of line, so that the usual case pays nothing.
template <class F, class T, int N, class M>
[[gnu::noinline, gnu::cold]] void replace_large(F in_libm, const M& large, const Pack<T, N>& a, Pack<T, N>& y) {
  y = select(large, by_lane(in_libm, a), y);
}
template <class F, class T, int N, class M>
[[nodiscard]] TWILL_INLINE Pack<T, N> with_large(F in_libm, const M& large, const Pack<T, N>& a, const Pack<T, N>& y) {
  if (!any(large)) [[likely]]
    return y;
  Pack<T, N> result = y;
  replace_large(in_libm, large, a, result);
  return result;
}

/// sin (Shift = 0) or cos (Shift = 1).
template <int Shift, int N> [[nodiscard]] TWILL_INLINE Pack<float, N> sine(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  using I = Pack<std::int32_t, N>;
  const auto [s, c, n] = angle(a);
  const I quadrant = wrapped_sum(n, I{Shift});
  const F y = select(I{quadrant.v & 1} == I{0}, s, c);
  const F signed_y = bits_as<F>(I{bits_as<I>(y).v ^ ((quadrant.v & 2) << 30)});
  return with_large([](float x) { return Shift == 0 ? std::sin(x) : std::cos(x); }, ~(magnitude(a) < F{8192.0F}), a,
                    Shift == 0 ? select(a == F{0.0F}, a, signed_y) : signed_y);
}

/// Sine or cosine in float64.
template <int Shift, int N> [[nodiscard]] TWILL_INLINE Pack<double, N> sine(const Pack<double, N>& a) {
  [[maybe_unused]] const auto in_libm = [](double x) { return Shift == 0 ? std::sin(x) : std::cos(x); };
#if defined(__FMA__)
  using F = Pack<double, N>;
  using I = Pack<std::int64_t, N>;
  const auto n = nearest(a, 0x1.45f306dc9c883p-1);
  F r = kernel::fma(n.value, F{-0x1.921fb54442d18p+0}, a);
  r = kernel::fma(n.value, F{-0x1.1a62633145c07p-54}, r);
  r = kernel::fma(n.value, F{0x1.f1976b7ed8fbcp-110}, r);
  const F t = r * r;
  const F s = kernel::fma(r * t, polynomial(t, table::sin_reduced_double), r);
  // 1 - t / 2 and its rounding error
  const F half = t * F{0.5};
  const F one = F{1.0} - half;
  const F c = one + kernel::fma(t * t, polynomial(t, table::cos_reduced_double), (F{1.0} - one) - half);
  const I quadrant = wrapped_sum(n.integer, I{Shift});
  const F y = select(I{quadrant.v & 1} == I{0}, s, c);
  const F signed_y = bits_as<F>(I{bits_as<I>(y).v ^ ((quadrant.v & 2) << 62)});
  return with_large(in_libm, ~(magnitude(a) < F{0x1p30}), a, Shift == 0 ? select(a == F{0.0}, a, signed_y) : signed_y);
#else
  return by_lane(in_libm, a);
#endif
}
} // namespace parts

template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> sin(const Pack<T, N>& a) { return parts::sine<0>(a); }
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> cos(const Pack<T, N>& a) { return parts::sine<1>(a); }

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> tan(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  using I = Pack<std::int32_t, N>;
  const auto [s, c, n] = parts::angle(a);
  const auto even = I{n.v & 1} == I{0};
  const F y = select(even, s, -c) / select(even, c, s);
  return parts::with_large([](float x) { return std::tan(x); }, ~(magnitude(a) < F{8192.0F}), a,
                           select(a == F{0.0F}, a, y));
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::math
