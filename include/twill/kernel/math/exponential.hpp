#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Exponential functions exp, expm1 and exp2: x = n ln 2 + r with |r| <= ln(2) / 2, then e^x = 2^n e^r, subnormal
// results included. float32: exp within 1.1 ULP, expm1 within 1.6, exp2 within 0.9. float64: exp within 1, the others
// lane by lane through libm. Read next: kernel/math/logarithm.hpp.

#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cmath>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace math {

namespace table = math_coefficients;

namespace parts {
inline constexpr float log2_e = 0x1.715476p+0F;
inline constexpr float ln2_high = 0x1.62ep-1F; // 12 bits: its multiples are exact
inline constexpr float ln2_low = 0x1.0bfbe8p-15F;

/// e^r - 1 for |r| <= ln(2) / 2.
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> expm1_reduced(const Pack<float, N>& r) {
  return kernel::fma(r * r, polynomial(r, table::exp_reduced), r);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> reduced(const Pack<float, N>& x, const Nearest<N>& n) {
  using F = Pack<float, N>;
  return kernel::fma(n.value, F{-ln2_low}, kernel::fma(n.value, F{-ln2_high}, x));
}

/// y 2^n, rounded once: for n in [-252, 254].
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> scaled(const Pack<float, N>& y, const Nearest<N>& n) {
#if defined(__AVX512F__)
  if constexpr (N == 16) return __builtin_ia32_scalefps512_mask(y.v, n.value.v, y.v, vector_detail::all_16, 4);
#endif
  using I = Pack<std::int32_t, N>;
  const I half{n.integer.v >> 1};
  return y * power_of_two(half) * power_of_two(wrapped_difference(n.integer, half));
}
} // namespace parts

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> exp(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  // beyond these, 2^n alone overflows or underflows; the bound comes first so that NaN passes
  const F x = smaller(F{89.0F}, larger(F{-104.5F}, a));
  const auto n = nearest(x, parts::log2_e);
  return parts::scaled(F{1.0F} + parts::expm1_reduced(parts::reduced(x, n)), n);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> exp2(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F x = smaller(F{129.0F}, larger(F{-151.0F}, a));
  const auto n = nearest(x, 1.0F);
  const F r = x - n.value;
  return parts::scaled(kernel::fma(r, polynomial(r, table::exp2_reduced), F{1.0F}), n);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> expm1(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  using I = Pack<std::int32_t, N>;
  const F x = smaller(F{89.0F}, larger(F{-20.0F}, a));
  const auto n = nearest(x, parts::log2_e);
  // half the scale, so that n = 128 is still a number
  const F scale = power_of_two(wrapped_difference(n.integer, I{1}));
  const F y = kernel::fma(scale, parts::expm1_reduced(parts::reduced(x, n)), scale - F{0.5F});
  return select(magnitude(a) < F{0x1p-26F}, a, y + y); // keeps -0 and subnormals
}

namespace parts {
template <int N>
[[nodiscard]] TWILL_INLINE Pack<double, N> reduced(const Pack<double, N>& x, const NearestDouble<N>& n) {
  using F = Pack<double, N>;
  // ln 2 in two parts, the first of which has exact multiples
  return kernel::fma(n.value, F{-0x1.ef35793c7673p-45}, kernel::fma(n.value, F{-0x1.62e42fefa38p-1}, x));
}

/// y 2^n, rounded once.
template <int N>
[[nodiscard]] TWILL_INLINE Pack<double, N> scaled(const Pack<double, N>& y, const NearestDouble<N>& n) {
#if defined(__AVX512F__)
  if constexpr (N == 8) return __builtin_ia32_scalefpd512_mask(y.v, n.value.v, y.v, vector_detail::all_8_unsigned, 4);
#endif
  using I = Pack<std::int64_t, N>;
  using U = Pack<std::uint64_t, N>;
  // half of n, by a logical shift: not every instruction set has an arithmetic one for 64 bits
  const I half{bits_as<I>(U{(bits_as<U>(n.integer).v + 4096) >> 1}).v - 2048};
  return y * power_of_two(half) * power_of_two(wrapped_difference(n.integer, half));
}
} // namespace parts

template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> exp(const Pack<double, N>& a) {
  using F = Pack<double, N>;
  const F x = smaller(F{710.0}, larger(F{-746.0}, a));
  const auto n = nearest(x, 0x1.71547652b82fep+0);
  const F r = parts::reduced(x, n);
  const F y = F{1.0} + kernel::fma(r * r, polynomial(r, table::exp_reduced_double), r);
  return parts::scaled(y, n);
}
namespace parts {
/// e^(a + low) for a small low, which is omitted where a is out of bounds.
template <int N>
[[nodiscard]] TWILL_INLINE Pack<double, N> exp_with(const Pack<double, N>& a, const Pack<double, N>& low) {
  using F = Pack<double, N>;
  const F x = smaller(F{710.0}, larger(F{-746.0}, a));
  const auto n = nearest(x, 0x1.71547652b82fep+0);
  F r = reduced(x, n);
  r = r + select(magnitude(low) < F{0x1p-20}, low, F{0.0});
  const F y = F{1.0} + kernel::fma(r * r, polynomial(r, table::exp_reduced_double), r);
  return scaled(y, n);
}
} // namespace parts

template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> expm1(const Pack<double, N>& a) {
  return by_lane([](double x) { return std::expm1(x); }, a);
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::math
