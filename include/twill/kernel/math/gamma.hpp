#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Logarithm of the gamma function for float32, in float64: (x - 1) (x - 2) P(x) / Q(x) between 1 and 3, Stirling's
// formula with a fitted rest above, one step of the recurrence below. Within 0.51 ULP for positive arguments; negative
// ones, and float64, go through libm. Read next: kernel/math/division.hpp.

#include <twill/kernel/math/logarithm.hpp>
#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/scalar/gamma.hpp>

#include <limits>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace math {

namespace table = math_coefficients;

template <int N> [[nodiscard]] TWILL_INLINE Pack<float, N> lgamma(const Pack<float, N>& a) {
  using F = Pack<float, N>;
  const F infinity{std::numeric_limits<float>::infinity()};
  const F y = in_double(
      [](const auto& x) __attribute__((always_inline)) {
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
