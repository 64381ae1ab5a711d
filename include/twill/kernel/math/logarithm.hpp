#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Logarithms: x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)], then a polynomial in f. Subnormals and special
// values are right. float32: log within 1.03 ULP, log1p within 1.5, log2 within 1.06, log10 within 0.9. float64: log
// within 0.8 by s = f / (2 + f); log1p lane by lane through libm. Below them is the logarithm of the gamma function,
// for float32 in float64: (x - 1) (x - 2) P(x) / Q(x) between 1 and 3, Stirling's formula with a fitted rest above,
// one step of the recurrence below; within 0.51 ULP for positive arguments. Negative ones, and float64, go through
// libm. Read next: kernel/math/power.hpp.

#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/scalar/gamma.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace math {

namespace table = math_coefficients;

namespace parts {
/// x = 2^exponent (1 + fraction), for positive finite x.
template <int N> struct Split {
  Pack<float, N> exponent;
  Pack<float, N> fraction;
};
template <int N> [[nodiscard]] TWILL_INLINE Split<N> split(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  using I = Pack<std::int32_t, N>;
  using U = Pack<std::uint32_t, N>; // differences of bit patterns wrap
  const auto tiny = a < F{0x1p-126F};
  const F x = select(tiny, a * F{0x1p23F}, a);
  const auto bits = bits_as<U>(x).v;
  const I exponent{bits_as<I>(U{bits - 0x3f3504f3U}).v >> 23};
  const F f = bits_as<F>(U{bits - (bits_as<U>(exponent).v << 23)}) - F{1.0F};
  return {convert_lanes<float>(exponent) - select(tiny, F{23.0F}, F{0.0F}), f};
}

/// The logarithm y of a, or its special value where a is no positive finite number.
template <class T, int N> [[nodiscard]] TWILL_INLINE Pack<T, N> logarithm_of(const Pack<T, N>& a, const Pack<T, N>& y) {
  using F = Pack<T, N>;
  const F infinity{std::numeric_limits<T>::infinity()};
  const F special = select(a == F{T{0}}, -infinity, F{std::numeric_limits<T>::quiet_NaN()});
  return select(a > F{T{0}}, select(a < infinity, y, a), special);
}
} // namespace parts

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> log(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const auto [e, f] = parts::split(a);
  const F square = f * f;
  const F r = polynomial(f, table::log_mantissa);
  // log(1 + f) = f - f^2 / 2 + f^3 r; ln 2 in two parts, the first of which has exact multiples
  F y = kernel::fma(e, F{-0x1.bd0106p-13F}, (square * f) * r);
  y = kernel::fma(square, F{-0.5F}, y);
  y = kernel::fma(e, F{0x1.63p-1F}, y + f);
  return parts::logarithm_of(a, y);
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> log1p(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F u = F{1.0F} + a;
  const F lost = a - (u - F{1.0F}); // the rounding error of u
  const F y = log(u);
  const auto ordinary = magnitude(y) < F{std::numeric_limits<float>::infinity()};
  return select(magnitude(a) < F{0x1p-25F}, a, select(ordinary, y + lost / u, y));
}

// The slope at 1 has two parts as well: the first with few bits, the second in the polynomial.
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> log2(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const auto [e, f] = parts::split(a);
  return parts::logarithm_of(a, e + kernel::fma(f, F{1.4375F}, f * polynomial(f, table::log2_mantissa)));
}

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> log10(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const auto [e, f] = parts::split(a);
  const F low = kernel::fma(e, F{0x1.04d428p-12F}, f * polynomial(f, table::log10_mantissa));
  return parts::logarithm_of(a, kernel::fma(e, F{0x1.34p-2F}, kernel::fma(f, F{0.4375F}, low)));
}

namespace parts {
template <int N> struct SplitDouble {
  Pack<double, N> exponent;
  Pack<double, N> fraction;
};
template <int N> [[nodiscard]] TWILL_INLINE SplitDouble<N> split(const Pack<double, N>& a) {
  using F = Pack<double, N>;
  using U = Pack<std::uint64_t, N>;
  const auto tiny = a < F{0x1p-1022};
  const F x = select(tiny, a * F{0x1p54}, a);
  // the exponent stays biased by 1023 and never negative, and becomes a number through 2^52
  const auto bits = bits_as<U>(x).v - 0x3fe6a09e667f3bcdU + 0x3ff0000000000000U;
  const U exponent{bits >> 52};
  const F biased = bits_as<F>(U{exponent.v | 0x4330000000000000U}) - F{0x1p52};
  const F e = biased - select(tiny, F{1077.0}, F{1023.0});
  const F f = bits_as<F>(U{bits_as<U>(x).v - ((exponent.v - 1023) << 52)}) - F{1.0};
  return {e, f};
}
} // namespace parts

template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> log(const Pack<double, N>& a) {
  using F = Pack<double, N>;
  const auto [e, f] = parts::split(a);
  // log(1 + f) = f - (h - s (h + R(s^2))) with s = f / (2 + f), h = f^2 / 2
  const F s = f / (F{2.0} + f);
  const F z = s * s;
  const F h = F{0.5} * f * f;
  const F rest = z * polynomial(z, table::log_mantissa_double);
  const F low = kernel::fma(s, h + rest, e * F{0x1.ef35793c7673p-45});
  return parts::logarithm_of(a, kernel::fma(e, F{0x1.62e42fefa38p-1}, f - (h - low)));
}
template <int N> [[nodiscard]] TWILL_INLINE Pack<double, N> log1p(const Pack<double, N>& a) {
  return by_lane([](double x) { return std::log1p(x); }, a);
}

namespace table = math_coefficients;

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> lgamma(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F infinity{std::numeric_limits<float>::infinity()};
  const F y = in_double(
      [](const auto& x) TWILL_ALWAYS_INLINE {
        using D = std::remove_cvref_t<decltype(x)>;
        const D logarithm = log(x);
        const auto below = x < D{1.0};
        const D m = smaller(D{3.0}, select(below, x + D{1.0}, x));
        // no negative zero at 1
        const D near = D{0.0} + (m - D{1.0}) * (m - D{2.0}) *
                                    (polynomial(m, table::lgamma_middle_p) / polynomial(m, table::lgamma_middle_q));
        const D inverse = D{1.0} / x;
        const D rest = polynomial(smaller(D{1.0 / 9.0}, inverse * inverse), table::lgamma_stirling) * inverse;
        const D far = kernel::fma(x - D{0.5}, logarithm, (D{0x1.d67f1c864beb5p-1} - x) + rest);
        return select(x < D{3.0}, select(below, near - logarithm, near), far);
      },
      a);
  if (any(a < F{0.0F})) [[unlikely]]
    return select(
        a < F{0.0F},
        by_lane([](float x) { return static_cast<float>(kernel::detail::log_gamma(static_cast<double>(x))); }, a),
        select(a == infinity, a, y));
  return select(a == infinity, a, y);
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::math
