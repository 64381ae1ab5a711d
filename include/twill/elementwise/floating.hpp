#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Rounding, which leaves integers alone, and the parts of floating-point numbers: classification, signs, neighbours,
// powers of two. Integers become float32 where a real number is needed. Read next: elementwise/activations.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/elementwise/argument.hpp>
#include <twill/elementwise/arithmetic.hpp>
#include <twill/elementwise/comparison.hpp>

#include <limits>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace elementwise { inline namespace TWILL_ISA {

namespace formula {
struct Signbit {
  static constexpr std::string_view name = "signbit";
  constexpr auto operator()(auto x) const { return less(copysign(1.0, x), 0); }
};
struct Isposinf {
  static constexpr std::string_view name = "isposinf";
  constexpr auto operator()(auto x) const { return equal(x, std::numeric_limits<double>::infinity()); }
};
struct Isneginf {
  static constexpr std::string_view name = "isneginf";
  constexpr auto operator()(auto x) const { return equal(x, -std::numeric_limits<double>::infinity()); }
};
struct Spacing {
  static constexpr std::string_view name = "spacing";
  constexpr auto operator()(auto x) const {
    const auto size = abs(x);
    const auto distance = nextafter(size, std::numeric_limits<double>::infinity()) - size;
    return where(less(x, 0), -distance, distance); // NumPy's of -0 is positive
  }
};
} // namespace formula

/// The largest whole number not above x.
template <Argument X> [[nodiscard]] constexpr auto floor(X&& x) { return apply<Primitive::floor>(std::forward<X>(x)); }
/// The smallest whole number not below x.
template <Argument X> [[nodiscard]] constexpr auto ceil(X&& x) { return apply<Primitive::ceil>(std::forward<X>(x)); }
/// The nearest whole number, the even one of two.
template <Argument X> [[nodiscard]] constexpr auto round(X&& x) { return apply<Primitive::round>(std::forward<X>(x)); }
/// The whole number towards 0.
template <Argument X> [[nodiscard]] constexpr auto trunc(X&& x) { return apply<Primitive::trunc>(std::forward<X>(x)); }
/// NumPy's name of `round`: to the nearest integer, ties to even.
template <Argument X> [[nodiscard]] constexpr auto rint(X&& x) { return round(std::forward<X>(x)); }
/// NumPy's name of `trunc`: towards zero.
template <Argument X> [[nodiscard]] constexpr auto fix(X&& x) { return trunc(std::forward<X>(x)); }

/// Whether x is NaN.
template <Argument X> [[nodiscard]] constexpr auto isnan(X&& x) { return apply<Primitive::isnan>(std::forward<X>(x)); }
/// Whether x is an infinity.
template <Argument X> [[nodiscard]] constexpr auto isinf(X&& x) { return apply<Primitive::isinf>(std::forward<X>(x)); }
/// Whether x is neither an infinity nor NaN.
template <Argument X> [[nodiscard]] constexpr auto isfinite(X&& x) {
  return apply<Primitive::isfinite>(std::forward<X>(x));
}
/// Whether x is the positive infinity.
template <Argument X> [[nodiscard]] constexpr auto isposinf(X&& x) {
  return compose<formula::Isposinf>(std::forward<X>(x));
}
/// Whether x is the negative infinity.
template <Argument X> [[nodiscard]] constexpr auto isneginf(X&& x) {
  return compose<formula::Isneginf>(std::forward<X>(x));
}
/// Whether x has its sign bit set: negative numbers, -0, and NaNs that say so.
template <Argument X> [[nodiscard]] constexpr auto signbit(X&& x) {
  return compose<formula::Signbit>(std::forward<X>(x));
}
/// The magnitude of a with the sign of b.
template <class A, With<A> B> [[nodiscard]] constexpr auto copysign(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::copysign>(std::forward<A>(a), std::forward<B>(b), site);
}
/// The next number after a on the way to b, in float32 or float64.
template <class A, With<A> B> [[nodiscard]] constexpr auto nextafter(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::nextafter>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a 2^b for a whole b
template <class A, With<A> B> [[nodiscard]] constexpr auto ldexp(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::ldexp>(std::forward<A>(a), std::forward<B>(b), site);
}
/// The distance to the next number away from 0, with the sign of x, in float32 or float64.
template <Argument X> [[nodiscard]] constexpr auto spacing(X&& x) {
  return compose<formula::Spacing>(std::forward<X>(x));
}

}}}} // namespace twill::v0::elementwise::TWILL_ISA
