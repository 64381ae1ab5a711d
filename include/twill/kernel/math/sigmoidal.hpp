#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// tanh and erf as x P(x^2) / Q(x^2), the forms that decide how fast activations are; their
// coefficients were rounded together by tools/remez/polish.py. float32: tanh within 5 ULP, erf within
// 6, tiny arguments and special values right; float64 goes lane by lane through libm.
// Read next: kernel/math/trigonometric.hpp.

#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cmath>

namespace twill::inline v0::kernel::inline TWILL_ISA::math {

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> tanh(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F x = smaller(F{9.02F}, larger(F{-9.02F}, a)); // the bound first: NaN passes
  const F t = x * x;
  // P(0) = Q(0) = 1, so the smallest arguments come back unchanged
  const F p = polynomial(t, 1.0F, 0x1.1213d0p-3F, 0x1.ca6b36p-9F, 0x1.5a3624p-16F, 0x1.cbe158p-27F);
  const F q = polynomial(t, 1.0F, 0x1.de5f34p-2F, 0x1.a816e0p-6F, 0x1.58d372p-12F, 0x1.a23c5ap-21F);
  return (x * p) / q;
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> erf(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F x = smaller(F{3.93F}, larger(F{-3.93F}, a));
  const F t = x * x;
  const F p =
      polynomial(t, 0x1.20dd74p+0F, 0x1.86b9b8p-3F, 0x1.b07546p-5F, 0x1.ef66bap-9F, 0x1.2aa4c4p-12F, 0x1.1211a2p-19F);
  const F q = polynomial(t, 1.0F, 0x1.013bf2p-1F, 0x1.d3ffbcp-4F, 0x1.eb6facp-7F, 0x1.317428p-10F, 0x1.3ecd2ap-15F);
  return (x * p) / q;
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> tanh(const Pack<double, N>& a) {
  return by_lane([](double x) { return std::tanh(x); }, a);
}
template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> erf(const Pack<double, N>& a) {
  return by_lane([](double x) { return std::erf(x); }, a);
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA::math
