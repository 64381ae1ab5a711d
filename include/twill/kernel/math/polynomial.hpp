#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Polynomials by Horner's rule, highest coefficient first applied, and small parts that several functions share. The
// coefficients in this folder come from tools/remez/remez.py. Read next: kernel/math/exponential.hpp.

#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <concepts>
#include <cstdint>

namespace twill::inline v0::kernel::inline TWILL_ISA::math {

/// c0 + x * (c1 + x * (c2 + ...))
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> polynomial(const Pack<T, N>&, T c0) {
  return Pack<T, N>{c0};
}
template <class T, int N, std::same_as<T>... Rest>
[[nodiscard]] TWILL_INLINE Pack<T, N> polynomial(const Pack<T, N>& x, T c0, T c1, Rest... rest) {
  return kernel::fma(polynomial(x, c1, rest...), x, Pack<T, N>{c0});
}

/// The nearest integer to `x * factor` in two forms, for magnitudes below 2^22: adding 1.5 * 2^23 leaves it in the low bits.
template <int N> struct Nearest {
  Pack<float, N> value;
  Pack<std::int32_t, N> integer;
};
template <int N> [[nodiscard]] TWILL_INLINE Nearest<N> nearest(const Pack<float, N>& x, float factor) {
  using F = Pack<float, N>;
  using I = Pack<std::int32_t, N>;
  const F magic{0x1.8p23F};
  const F sum = kernel::fma(x, F{factor}, magic);
  return {sum - magic, I{bits_as<I>(sum).v - bits_as<I>(magic).v}};
}

/// 2^n for n in [-126, 127].
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> power_of_two(const Pack<std::int32_t, N>& n) {
  return bits_as<Pack<float, N>>(Pack<std::int32_t, N>{(n.v + 127) << 23});
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA::math
