#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of real numbers: exponentials and logarithms, trigonometric and hyperbolic functions with both of NumPy's
// spellings, special functions. Integers become float32. Errors are in units in the last place; tools/ulp/results.md
// lists all of them. Read next: elementwise/floating.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/elementwise/argument.hpp>
#include <twill/elementwise/arithmetic.hpp>
#include <twill/elementwise/comparison.hpp>
#include <twill/elementwise/floating.hpp>

#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace elementwise { inline namespace TWILL_ISA {

namespace formula {
struct Logaddexp {
  static constexpr std::string_view name = "logaddexp";
  // equal numbers apart, among them infinities of one sign
  constexpr auto operator()(auto a, auto b) const {
    return where(equal(a, b), a + 0.69314718055994530942, maximum(a, b) + log1p(exp(-abs(a - b))));
  }
};
struct Logaddexp2 {
  static constexpr std::string_view name = "logaddexp2";
  constexpr auto operator()(auto a, auto b) const {
    return where(equal(a, b), a + 1.0, maximum(a, b) + log1p(exp2(-abs(a - b))) * 1.4426950408889634074);
  }
};
struct Xlogy {
  static constexpr std::string_view name = "xlogy";
  constexpr auto operator()(auto x, auto y) const {
    const auto nothing = logical_and(equal(x, 0), logical_not(isnan(y)));
    return where(nothing, 0.0, x * log(where(nothing, 1.0, y)));
  }
};
struct Deg2rad {
  static constexpr std::string_view name = "deg2rad";
  constexpr auto operator()(auto x) const { return x * 0.017453292519943295769; }
};
struct Rad2deg {
  static constexpr std::string_view name = "rad2deg";
  constexpr auto operator()(auto x) const { return x * 57.295779513082320877; }
};
struct Sinc {
  static constexpr std::string_view name = "sinc";
  constexpr auto operator()(auto x) const {
    const auto t = where(equal(x, 0), 1.0, x * 3.14159265358979323846);
    return where(equal(x, 0), 1.0, sin(t) / t);
  }
};
struct Ndtr {
  static constexpr std::string_view name = "ndtr";
  constexpr auto operator()(auto x) const { return erfc(x * -0.70710678118654752440) * 0.5; }
};
} // namespace formula

/// e^x. float32: within 1.1 ULP, float64 within 1
template <Argument X> [[nodiscard]] constexpr auto exp(X&& x) { return apply<Primitive::exp>(std::forward<X>(x)); }
/// e^x - 1, accurate near 0. float32: within 1.6 ULP
template <Argument X> [[nodiscard]] constexpr auto expm1(X&& x) { return apply<Primitive::expm1>(std::forward<X>(x)); }
/// 2^x. float32: within 0.9 ULP
template <Argument X> [[nodiscard]] constexpr auto exp2(X&& x) { return apply<Primitive::exp2>(std::forward<X>(x)); }
/// The natural logarithm. float32: within 1.03 ULP, float64 within 0.8
template <Argument X> [[nodiscard]] constexpr auto log(X&& x) { return apply<Primitive::log>(std::forward<X>(x)); }
/// log(1 + x), accurate near 0. float32: within 1.5 ULP
template <Argument X> [[nodiscard]] constexpr auto log1p(X&& x) { return apply<Primitive::log1p>(std::forward<X>(x)); }
/// The logarithm to base 2. float32: within 1.06 ULP
template <Argument X> [[nodiscard]] constexpr auto log2(X&& x) { return apply<Primitive::log2>(std::forward<X>(x)); }
/// The logarithm to base 10. float32: within 0.9 ULP
template <Argument X> [[nodiscard]] constexpr auto log10(X&& x) { return apply<Primitive::log10>(std::forward<X>(x)); }
/// log(exp(a) + exp(b)) without overflow
template <class A, With<A> B> [[nodiscard]] constexpr auto logaddexp(A&& a, B&& b) {
  return compose<formula::Logaddexp>(std::forward<A>(a), std::forward<B>(b));
}
/// log2(2^a + 2^b) without overflow
template <class A, With<A> B> [[nodiscard]] constexpr auto logaddexp2(A&& a, B&& b) {
  return compose<formula::Logaddexp2>(std::forward<A>(a), std::forward<B>(b));
}
/// a log(b), 0 where a is 0 and b is not NaN. The derivative by a is 0 where a is 0 and b is not positive.
template <class A, With<A> B> [[nodiscard]] constexpr auto xlogy(A&& a, B&& b) {
  return compose<formula::Xlogy>(std::forward<A>(a), std::forward<B>(b));
}

/// The sine of radians. float32: within 1.6 ULP, float64 within 1.5
template <Argument X> [[nodiscard]] constexpr auto sin(X&& x) { return apply<Primitive::sin>(std::forward<X>(x)); }
/// The cosine of radians. float32: within 1.6 ULP, float64 within 1.5
template <Argument X> [[nodiscard]] constexpr auto cos(X&& x) { return apply<Primitive::cos>(std::forward<X>(x)); }
/// The tangent of radians. float32: within 3.8 ULP
template <Argument X> [[nodiscard]] constexpr auto tan(X&& x) { return apply<Primitive::tan>(std::forward<X>(x)); }
/// The angle in [-pi / 2, pi / 2]; NaN outside [-1, 1].
template <Argument X> [[nodiscard]] constexpr auto asin(X&& x) { return apply<Primitive::asin>(std::forward<X>(x)); }
/// The angle in [0, pi]; NaN outside [-1, 1].
template <Argument X> [[nodiscard]] constexpr auto acos(X&& x) { return apply<Primitive::acos>(std::forward<X>(x)); }
/// The angle in [-pi / 2, pi / 2].
template <Argument X> [[nodiscard]] constexpr auto atan(X&& x) { return apply<Primitive::atan>(std::forward<X>(x)); }
/// The hyperbolic sine. float32: within 1.7 ULP
template <Argument X> [[nodiscard]] constexpr auto sinh(X&& x) { return apply<Primitive::sinh>(std::forward<X>(x)); }
/// The hyperbolic cosine. float32: within 1.6 ULP
template <Argument X> [[nodiscard]] constexpr auto cosh(X&& x) { return apply<Primitive::cosh>(std::forward<X>(x)); }
/// The hyperbolic tangent. float32: within 5 ULP; tanh_accurate is closer and slower
template <Argument X> [[nodiscard]] constexpr auto tanh(X&& x) { return apply<Primitive::tanh>(std::forward<X>(x)); }
/// The hyperbolic tangent. float32: within 1.4 ULP
template <Argument X> [[nodiscard]] constexpr auto tanh_accurate(X&& x) {
  return apply<Primitive::tanh_accurate>(std::forward<X>(x));
}
/// The inverse of sinh. float32: within 0.51 ULP
template <Argument X> [[nodiscard]] constexpr auto asinh(X&& x) { return apply<Primitive::asinh>(std::forward<X>(x)); }
/// The inverse of cosh; NaN below 1.
template <Argument X> [[nodiscard]] constexpr auto acosh(X&& x) { return apply<Primitive::acosh>(std::forward<X>(x)); }
/// The inverse of tanh; NaN outside [-1, 1].
template <Argument X> [[nodiscard]] constexpr auto atanh(X&& x) { return apply<Primitive::atanh>(std::forward<X>(x)); }
/// The angle of the point (b, a) in [-pi, pi], signed zeros and infinities as in C.
template <class A, With<A> B> [[nodiscard]] constexpr auto atan2(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::atan2>(std::forward<A>(a), std::forward<B>(b), site);
}
/// NumPy's name of `atan2`: the angle in radians of the point (b, a).
template <class A, With<A> B> [[nodiscard]] constexpr auto arctan2(A&& a, B&& b, CallSite site = CallSite::here()) {
  return atan2(std::forward<A>(a), std::forward<B>(b), site);
}
/// NumPy's name of `asin`, in radians.
template <Argument X> [[nodiscard]] constexpr auto arcsin(X&& x) { return asin(std::forward<X>(x)); }
/// NumPy's name of `acos`, in radians.
template <Argument X> [[nodiscard]] constexpr auto arccos(X&& x) { return acos(std::forward<X>(x)); }
/// NumPy's name of `atan`, in radians.
template <Argument X> [[nodiscard]] constexpr auto arctan(X&& x) { return atan(std::forward<X>(x)); }
/// NumPy's name of `asinh`.
template <Argument X> [[nodiscard]] constexpr auto arcsinh(X&& x) { return asinh(std::forward<X>(x)); }
/// NumPy's name of `acosh`.
template <Argument X> [[nodiscard]] constexpr auto arccosh(X&& x) { return acosh(std::forward<X>(x)); }
/// NumPy's name of `atanh`.
template <Argument X> [[nodiscard]] constexpr auto arctanh(X&& x) { return atanh(std::forward<X>(x)); }
/// Degrees as radians.
template <Argument X> [[nodiscard]] constexpr auto deg2rad(X&& x) {
  return compose<formula::Deg2rad>(std::forward<X>(x));
}
/// Degrees to radians, as `deg2rad`.
template <Argument X> [[nodiscard]] constexpr auto radians(X&& x) { return deg2rad(std::forward<X>(x)); }
/// Radians as degrees.
template <Argument X> [[nodiscard]] constexpr auto rad2deg(X&& x) {
  return compose<formula::Rad2deg>(std::forward<X>(x));
}
/// Radians to degrees, as `rad2deg`.
template <Argument X> [[nodiscard]] constexpr auto degrees(X&& x) { return rad2deg(std::forward<X>(x)); }
/// sin(pi x) / (pi x), 1 at 0
template <Argument X> [[nodiscard]] constexpr auto sinc(X&& x) { return compose<formula::Sinc>(std::forward<X>(x)); }

/// The error function. float32: within 6 ULP; erf_accurate is closer and slower
template <Argument X> [[nodiscard]] constexpr auto erf(X&& x) { return apply<Primitive::erf>(std::forward<X>(x)); }
/// The error function. float32: within 1.2 ULP
template <Argument X> [[nodiscard]] constexpr auto erf_accurate(X&& x) {
  return apply<Primitive::erf_accurate>(std::forward<X>(x));
}
/// 1 - erf(x), accurate in the right tail. float32: within 0.51 ULP
template <Argument X> [[nodiscard]] constexpr auto erfc(X&& x) { return apply<Primitive::erfc>(std::forward<X>(x)); }
/// The logarithm of the magnitude of the gamma function.
template <Argument X> [[nodiscard]] constexpr auto lgamma(X&& x) {
  return apply<Primitive::lgamma>(std::forward<X>(x));
}
/// The derivative of lgamma.
template <Argument X> [[nodiscard]] constexpr auto digamma(X&& x) {
  return apply<Primitive::digamma>(std::forward<X>(x));
}
/// The inverse of erf: infinite at -1 and 1, NaN outside.
template <Argument X> [[nodiscard]] constexpr auto erfinv(X&& x) {
  return apply<Primitive::erfinv>(std::forward<X>(x));
}
/// The standard normal quantile: the number below which a share x of the distribution is. The inverse of `ndtr`.
template <Argument X> [[nodiscard]] constexpr auto ndtri(X&& x) { return apply<Primitive::ndtri>(std::forward<X>(x)); }
/// The standard normal distribution function, accurate in the left tail.
template <Argument X> [[nodiscard]] constexpr auto ndtr(X&& x) { return compose<formula::Ndtr>(std::forward<X>(x)); }
/// The modified Bessel function of the first kind of order 0.
template <Argument X> [[nodiscard]] constexpr auto i0(X&& x) { return apply<Primitive::i0>(std::forward<X>(x)); }
/// exp(-|x|) i0(x), which does not overflow.
template <Argument X> [[nodiscard]] constexpr auto i0e(X&& x) { return apply<Primitive::i0e>(std::forward<X>(x)); }
/// The modified Bessel function of the first kind of order 1.
template <Argument X> [[nodiscard]] constexpr auto i1(X&& x) { return apply<Primitive::i1>(std::forward<X>(x)); }
/// exp(-|x|) i1(x), which does not overflow.
template <Argument X> [[nodiscard]] constexpr auto i1e(X&& x) { return apply<Primitive::i1e>(std::forward<X>(x)); }
/// The Bessel function of the first kind of order 0.
template <Argument X> [[nodiscard]] constexpr auto bessel_j0(X&& x) {
  return apply<Primitive::bessel_j0>(std::forward<X>(x));
}
/// The Bessel function of the first kind of order 1.
template <Argument X> [[nodiscard]] constexpr auto bessel_j1(X&& x) {
  return apply<Primitive::bessel_j1>(std::forward<X>(x));
}
/// The regularised lower incomplete gamma function P(a, b), differentiable by b.
template <class A, With<A> B> [[nodiscard]] constexpr auto gammainc(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::gammainc>(std::forward<A>(a), std::forward<B>(b), site);
}
/// The regularised upper incomplete gamma function Q(a, b) = 1 - P(a, b), differentiable by b.
template <class A, With<A> B> [[nodiscard]] constexpr auto gammaincc(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::gammaincc>(std::forward<A>(a), std::forward<B>(b), site);
}
/// The regularised incomplete beta function I_x(a, b), differentiable by x. SciPy's order of arguments.
template <class A, class B, With<A, B> X>
[[nodiscard]] constexpr auto betainc(A&& a, B&& b, X&& x, CallSite site = CallSite::here()) {
  return apply<Primitive::betainc>(std::forward<A>(a), std::forward<B>(b), std::forward<X>(x), site);
}
/// The derivative of order a of digamma at b.
template <class A, With<A> B> [[nodiscard]] constexpr auto polygamma(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::polygamma>(std::forward<A>(a), std::forward<B>(b), site);
}

}}}} // namespace twill::v0::elementwise::TWILL_ISA
