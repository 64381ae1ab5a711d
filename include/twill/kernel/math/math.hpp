#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The vector functions of twill, one family a file. Those that have no vector form yet go lane by lane through libm.

#include <twill/core/config.hpp>
#include <twill/kernel/pack.hpp>

#include <cmath>

namespace twill::inline v0::kernel::inline TWILL_ISA::math {

template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> exp(const Pack<T, N>& a) {
  return by_lane([](T x) { return std::exp(x); }, a);
}
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> expm1(const Pack<T, N>& a) {
  return by_lane([](T x) { return std::expm1(x); }, a);
}
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> log(const Pack<T, N>& a) {
  return by_lane([](T x) { return std::log(x); }, a);
}
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> log1p(const Pack<T, N>& a) {
  return by_lane([](T x) { return std::log1p(x); }, a);
}
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> sin(const Pack<T, N>& a) {
  return by_lane([](T x) { return std::sin(x); }, a);
}
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> cos(const Pack<T, N>& a) {
  return by_lane([](T x) { return std::cos(x); }, a);
}
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> tanh(const Pack<T, N>& a) {
  return by_lane([](T x) { return std::tanh(x); }, a);
}
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> erf(const Pack<T, N>& a) {
  return by_lane([](T x) { return std::erf(x); }, a);
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA::math
