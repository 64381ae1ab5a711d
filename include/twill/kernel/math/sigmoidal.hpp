#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sigmoidal functions: tanh and erf as x P(x^2) / Q(x^2), the forms that decide how fast activations are, with
// coefficients rounded together by tools/remez/polish.py; accurate forms by the exponential function away from 0; and
// erfc. float32: tanh within 5 ULP, erf within 6, tanh_accurate within 1.4, erf_accurate within 1.2, erfc within 0.51.
// float64: tanh within 1.4; erf and erfc lane by lane through libm. Read next: kernel/math/logarithm.hpp.

#include <twill/kernel/math/exponential.hpp>
#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cmath>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace math {

namespace table = math_coefficients;

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> tanh(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F x = smaller(F{table::tanh_fast_bound}, larger(F{-table::tanh_fast_bound}, a)); // the bound first: NaN passes
  const F t = x * x;
  // P(0) = Q(0) = 1, so the smallest arguments come back unchanged
  return (x * polynomial(t, table::tanh_fast_p)) / polynomial(t, table::tanh_fast_q);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> erf(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F x = smaller(F{table::erf_fast_bound}, larger(F{-table::erf_fast_bound}, a));
  const F t = x * x;
  return (x * polynomial(t, table::erf_fast_p)) / polynomial(t, table::erf_fast_q);
}

// x + x^3 P(x^2) near 0, 1 - 2 / (e^2x + 1) elsewhere
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> tanh_accurate(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F x = smaller(F{10.0F}, magnitude(a));
  const F t = x * x;
  const F near = kernel::fma(x * t, polynomial(t, table::tanh_small), x);
  const F far = F{1.0F} - F{2.0F} / (exp(x + x) + F{1.0F});
  return copy_sign(select(x < F{0.6F}, near, far), a);
}

// x P(x^2) near 0, 1 - e^-Q(x) elsewhere
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> erf_accurate(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F x = smaller(F{3.95F}, magnitude(a));
  const F near = kernel::fma(x, F{1.125F}, x * polynomial(x * x, table::erf_small));
  const F far = F{1.0F} - exp(-polynomial(x, table::erf_large));
  return copy_sign(select(x < F{0.89F}, near, far), a);
}

// e^(-x^2) P(x) / Q(x) for x >= 0, 2 minus that for x < 0; in float64, where x^2 is exact
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> erfc(const Pack<float, N>& a) {
  return in_double(
      [](const auto& x) TWILL_ALWAYS_INLINE {
        using D = std::remove_cvref_t<decltype(x)>;
        const D size = smaller(D{10.3}, magnitude(x));
        const D y =
            exp(-(size * size)) * (polynomial(size, table::erfc_scaled_p) / polynomial(size, table::erfc_scaled_q));
        return select(x < D{0.0}, D{2.0} - y, y);
      },
      a);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> tanh(const Pack<double, N>& a) {
  using F = Pack<double, N>;
  const F x = smaller(F{22.0}, magnitude(a));
  const F t = x * x;
  const F rest = polynomial(t, table::tanh_small_double_p) / polynomial(t, table::tanh_small_double_q);
  const F near = kernel::fma(x * t, rest, x);
  const F far = F{1.0} - F{2.0} / (exp(x + x) + F{1.0});
  return copy_sign(select(x < F{0.6}, near, far), a);
}
template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> erf(const Pack<double, N>& a) {
  return by_lane([](double x) { return std::erf(x); }, a);
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::math
