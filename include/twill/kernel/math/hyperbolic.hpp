#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Hyperbolic functions sinh and cosh, and the inverse hyperbolic functions, of float32. Their sums of exponentials are
// formed at a quarter of their size, so that representable results do not overflow; the inverses are logarithms in
// float64. sinh within 1.7 ULP, cosh within 1.6, asinh within 0.51, acosh within 0.51, atanh within 0.51. float64 goes
// lane by lane through libm. Read next: kernel/math/sigmoidal.hpp.

#include <twill/kernel/math/exponential.hpp>
#include <twill/kernel/math/logarithm.hpp>
#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace math {

namespace table = math_coefficients;

namespace parts {
/// e^x / 2 and e^-x / 2 for x >= 0, the first at half its size.
template <int N> struct Halves {
  Pack<float, N> quarter_of_large;
  Pack<float, N> small;
};
template <int N> [[nodiscard]] TWILL_INLINE Halves<N> halves(const Pack<float, N>& x) {
  using F = Pack<float, N>;
  using I = Pack<std::int32_t, N>;
  const F bounded = smaller(F{89.5F}, x);
  const auto n = nearest(bounded, log2_e);
  const F y = F{1.0F} + expm1_reduced(reduced(bounded, n));
  const F quarter = y * power_of_two(wrapped_difference(n.integer, I{2}));
  return {quarter, F{0.125F} / quarter};
}
} // namespace parts

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> sinh(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F size = magnitude(a);
  const auto [quarter, small] = parts::halves(size);
  const F z = a * a;
  const F near = kernel::fma(a * z, polynomial(z, table::sinh_small), a);
  const F half = quarter - small * F{0.5F};
  return select(size < F{1.0F}, near, copy_sign(half + half, a));
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> cosh(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const auto [quarter, small] = parts::halves(magnitude(a));
  const F half = quarter + small * F{0.5F};
  return half + half;
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> asinh(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F size = magnitude(a);
  const F y = in_double(
      [](const auto& x) TWILL_ALWAYS_INLINE {
        using D = std::remove_cvref_t<decltype(x)>;
        return log(x + kernel::sqrt(kernel::fma(x, x, D{1.0})));
      },
      size);
  const F near = kernel::fma(size * size * size, F{-1.0F / 6.0F}, size);
  return copy_sign(select(size < F{0x1p-12F}, near, y), a);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> acosh(const Pack<float, N>& a) {
  return in_double(
      [](const auto& x) TWILL_ALWAYS_INLINE {
        using D = std::remove_cvref_t<decltype(x)>;
        return log(x + kernel::sqrt(x - D{1.0}) * kernel::sqrt(x + D{1.0})); // NaN below 1
      },
      a);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> atanh(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F y = in_double(
      [](const auto& x) TWILL_ALWAYS_INLINE {
        using D = std::remove_cvref_t<decltype(x)>;
        return D{0.5} * log((D{1.0} + x) / (D{1.0} - x));
      },
      a);
  return select(magnitude(a) < F{0x1p-12F}, kernel::fma(a * a * a, F{1.0F / 3.0F}, a), y);
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::math
