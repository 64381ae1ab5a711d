#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Exact remainders of float32: in float64 the quotient of two floats below 2^28 times the divisor is exact, so one
// subtraction and one correction give fmod; larger quotients go lane by lane through libm. Python's remainder and floor
// division follow from fmod. Read next: kernel/scalar/floats.hpp, which takes these steps too.

#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace math {

namespace table = math_coefficients;

/// The remainder of the division towards 0: it has the sign of a.
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> fmod(const Pack<float, N>& a, const Pack<float, N>& b) {
  using F = Pack<float, N>;
  const auto easy = (magnitude(a / b) < F{0x1p28F}) & (magnitude(b) < F{std::numeric_limits<float>::infinity()});
  if (any(~easy)) [[unlikely]]
    return by_lane([](float x, float y) { return std::fmod(x, y); }, a, b);
  const F rest = in_double(
      [](const auto& x, const auto& y) TWILL_ALWAYS_INLINE {
        using D = std::remove_cvref_t<decltype(x)>;
        const D size = magnitude(x);
        const D divisor = magnitude(y);
        const D left = size - round_to<Rounding::toward_zero>(size / divisor) * divisor;
        return select(left < D{0.0}, left + divisor, left); // the quotient was rounded up
      },
      a, b);
  return copy_sign(rest, a);
}

/// Python's remainder: it has the sign of b.
template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> remainder(const Pack<float, N>& a, const Pack<float, N>& b) {
  using F = Pack<float, N>;
  const F rest = fmod(a, b);
  const F moved = select((rest < F{0.0F}) ^ (b < F{0.0F}), rest + b, rest);
  return select(rest == F{0.0F}, copy_sign(F{0.0F}, b), moved);
}

/// The largest whole number not above a / b.
template <int N>
[[nodiscard]] TWILL_INLINE Pack<float, N> floor_divide(const Pack<float, N>& a, const Pack<float, N>& b) {
  using F = Pack<float, N>;
  const F rest = fmod(a, b);
  F quotient = (a - rest) / b;
  quotient = select((rest != F{0.0F}) & ((rest < F{0.0F}) ^ (b < F{0.0F})), quotient - F{1.0F}, quotient);
  F result = round_to<Rounding::down>(quotient);
  result = select(quotient - result > F{0.5F}, result + F{1.0F}, result);
  result = select(quotient == F{0.0F}, copy_sign(F{0.0F}, a / b), result);
  return select(b == F{0.0F}, a / b, result);
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::math
