#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// exp and expm1: x = n ln 2 + r with |r| <= ln(2) / 2, then e^x = 2^n e^r. float32 within 1 ULP (exp) and 2 (expm1) over the
// whole range, subnormal results included; float64 goes lane by lane through libm. Read next: kernel/math/logarithm.hpp.

#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>

namespace twill::inline v0::kernel::inline TWILL_ISA::math {

namespace parts {
inline constexpr float log2_e = 0x1.715476p+0F;
inline constexpr float ln2_high = 0x1.62ep-1F; // 12 bits: its multiples are exact
inline constexpr float ln2_low = 0x1.0bfbe8p-15F;

/// e^r - 1 for |r| <= ln(2) / 2.
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> expm1_reduced(const Pack<float, N>& r) {
  const auto q = polynomial(r, 0x1.0p-1F, 0x1.5554dep-3F, 0x1.5555bap-5F, 0x1.120b1ep-7F, 0x1.6c6a18p-10F);
  return kernel::fma(r * r, q, r);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> reduced(const Pack<float, N>& x, const Nearest<N>& n) {
  using F = Pack<float, N>;
  return kernel::fma(n.value, F{-ln2_low}, kernel::fma(n.value, F{-ln2_high}, x));
}
} // namespace parts

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> exp(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  using I = Pack<std::int32_t, N>;
  // beyond these, 2^n alone overflows or underflows; the bound stands first so that NaN passes
  const F x = smaller(F{89.0F}, larger(F{-104.5F}, a));
  const auto n = nearest(x, parts::log2_e);
  const F y = F{1.0F} + parts::expm1_reduced(parts::reduced(x, n));
#if defined(__AVX512F__)
  if constexpr (N == 16) return __builtin_ia32_scalefps512_mask(y.v, n.value.v, y.v, vector_detail::all_16, 4);
#endif
  const I half{n.integer.v >> 1};
  return y * power_of_two(half) * power_of_two(I{n.integer.v - half.v});
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> expm1(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  using I = Pack<std::int32_t, N>;
  const F x = smaller(F{89.0F}, larger(F{-20.0F}, a));
  const auto n = nearest(x, parts::log2_e);
  // half the scale, so that n = 128 is still a number
  const F scale = power_of_two(I{n.integer.v - 1});
  const F y = kernel::fma(scale, parts::expm1_reduced(parts::reduced(x, n)), scale - F{0.5F});
  return select(magnitude(a) < F{0x1p-26F}, a, y + y); // keeps -0 and subnormals
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> exp(const Pack<double, N>& a) {
  return by_lane([](double x) { return std::exp(x); }, a);
}
template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> expm1(const Pack<double, N>& a) {
  return by_lane([](double x) { return std::expm1(x); }, a);
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA::math
