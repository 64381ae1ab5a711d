#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Vector forms of primitives that exist for float32 but not for float64; all others go lane by lane through the scalar
// definition. Read next: kernel/apply_pack.hpp.

#include <twill/kernel/apply.hpp>
#include <twill/kernel/math/division.hpp>
#include <twill/kernel/math/exponential.hpp>
#include <twill/kernel/math/hyperbolic.hpp>
#include <twill/kernel/math/inverse_trigonometric.hpp>
#include <twill/kernel/math/logarithm.hpp>
#include <twill/kernel/math/power.hpp>
#include <twill/kernel/math/sigmoidal.hpp>
#include <twill/kernel/math/trigonometric.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/primitive.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

/// Functions that have a vector form for float32 only.
template <Primitive P, int N> TWILL_INLINE Pack<float, N> apply_to_floats(const Pack<float, N>& a) {
  using enum Primitive;
  if constexpr (P == exp2)
    return math::exp2(a);
  else if constexpr (P == log2)
    return math::log2(a);
  else if constexpr (P == log10)
    return math::log10(a);
  else if constexpr (P == cbrt)
    return math::cbrt(a);
  else if constexpr (P == tan)
    return math::tan(a);
  else if constexpr (P == asin)
    return math::asin(a);
  else if constexpr (P == acos)
    return math::acos(a);
  else if constexpr (P == atan)
    return math::atan(a);
  else if constexpr (P == sinh)
    return math::sinh(a);
  else if constexpr (P == cosh)
    return math::cosh(a);
  else if constexpr (P == asinh)
    return math::asinh(a);
  else if constexpr (P == acosh)
    return math::acosh(a);
  else if constexpr (P == atanh)
    return math::atanh(a);
  else if constexpr (P == erfc)
    return math::erfc(a);
  else if constexpr (P == lgamma)
    return math::lgamma(a);
  else if constexpr (P == tanh_accurate)
    return math::tanh_accurate(a);
  else if constexpr (P == erf_accurate)
    return math::erf_accurate(a);
  else
    return by_lane([](float x) { return kernel::apply<P>(x); }, a);
}
template <Primitive P, int N>
TWILL_INLINE Pack<float, N> apply_to_floats(const Pack<float, N>& a, const Pack<float, N>& b) {
  using enum Primitive;
  if constexpr (P == atan2)
    return math::atan2(a, b);
  else if constexpr (P == hypot)
    return math::hypot(a, b);
  else if constexpr (P == fmod)
    return math::fmod(a, b);
  else if constexpr (P == remainder)
    return math::remainder(a, b);
  else if constexpr (P == floor_divide)
    return math::floor_divide(a, b);
  else
    return by_lane([](float x, float y) { return kernel::apply<P>(x, y); }, a, b);
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail
