#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Inverse functions asin, acos, atan and atan2 of float32. Beyond 1/2 asin is taken at sqrt((1 - x) / 2), beyond 0.6
// atan by the formula for differences, so that short polynomials suffice. asin within 2.1 ULP, acos within 1.35, atan
// within 1.8, atan2 within 1.85. float64: libm, lane by lane. Read next: kernel/math/hyperbolic.hpp.

#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <limits>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace math {

namespace table = math_coefficients;

namespace parts {
inline constexpr float half_pi_high = 0x1.921fb6p+0F;
inline constexpr float half_pi_low = -0x1.777a5cp-25F;
inline constexpr float small_tangent = 0.6F; ///< up to which the polynomial of atan reaches

/// s + s z P(z): the arc sine of s, for z = s^2 <= 1/4.
template <int N>
[[nodiscard]] TWILL_INLINE Pack<float, N> small_asin(const Pack<float, N>& s, const Pack<float, N>& z) {
  return kernel::fma(s * z, polynomial(z, table::asin_small), s);
}
} // namespace parts

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> asin(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F size = magnitude(a);
  const auto large = size > F{0.5F};
  const F z = select(large, (F{1.0F} - size) * F{0.5F}, a * a);
  const F s = select(large, kernel::sqrt(z), size);
  const F tail = s * z * polynomial(z, table::asin_small);
  // pi / 2 - 2 s is exact
  const F y = kernel::fma(s, F{-2.0F}, F{parts::half_pi_high}) - (tail + tail - F{parts::half_pi_low});
  return copy_sign(select(large, y, s + tail), a);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> acos(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F size = magnitude(a);
  const auto large = size > F{0.5F};
  const F z = select(large, (F{1.0F} - size) * F{0.5F}, a * a);
  const F p = parts::small_asin(select(large, kernel::sqrt(z), a), z);
  // pi / 2 - asin(a), 2 asin(sqrt((1 - a) / 2)), or pi - 2 asin(sqrt((1 + a) / 2))
  const F middle = F{parts::half_pi_high} - (p - F{parts::half_pi_low});
  const F left = F{2 * parts::half_pi_high} - (p + p - F{2 * parts::half_pi_low});
  return select(large, select(a < F{0.0F}, left, p + p), middle);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> atan(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F size = magnitude(a);
  const auto large = size > F{1.0F / parts::small_tangent};
  const auto middle = size > F{parts::small_tangent};
  const F above = select(large, F{-1.0F}, select(middle, size - F{1.0F}, size));
  const F below = select(large, size, select(middle, size + F{1.0F}, F{1.0F}));
  const F r = above / below;
  const F z = r * r;
  const F share = select(large, F{1.0F}, select(middle, F{0.5F}, F{0.0F})); // of pi / 2
  const F low = kernel::fma(share, F{parts::half_pi_low}, r * z * polynomial(z, table::atan_small));
  return copy_sign(kernel::fma(share, F{parts::half_pi_high}, r) + low, a);
}

/// The angle of the point (b, a), with C's special values.
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> atan2(const Pack<float, N>& a, const Pack<float, N>& b) {
  using F = Pack<float, N>;
  const F infinity{std::numeric_limits<float>::infinity()};
  const F height = magnitude(a);
  const F width = magnitude(b);
  const auto steep = height > width;
  const F shorter = select(steep, width, height);
  const F longer = select(steep, height, width);
  F q = shorter / longer; // in [0, 1]
  q = select(longer == F{0.0F}, F{0.0F}, select(shorter == infinity, F{1.0F}, q));
  const auto middle = q > F{parts::small_tangent};
  const F r = select(middle, (q - F{1.0F}) / (q + F{1.0F}), q);
  const F z = r * r;
  const F tail = r * z * polynomial(z, table::atan_small);
  // angle: base + or - (pi / 4 if middle + r + tail), in quarters of pi: 0 or 1, taken from 2 if steep, then from 4
  const auto left = copy_sign(F{1.0F}, b) < F{0.0F};
  const auto turned = steep ^ left;
  const F quarter = select(middle, F{1.0F}, F{0.0F});
  const F base = select(steep, F{2.0F}, select(left, F{4.0F}, F{0.0F}));
  const F count = select(turned, base - quarter, base + quarter);
  const F way = select(turned, F{-1.0F}, F{1.0F});
  const F low = kernel::fma(count, F{parts::half_pi_low * 0.5F}, tail * way);
  const F y = kernel::fma(count, F{parts::half_pi_high * 0.5F}, r * way) + low;
  return select((a == a) & (b == b), copy_sign(y, a), a + b);
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::math
