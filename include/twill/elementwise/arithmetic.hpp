#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic by NumPy's names. Integers stay integers and wrap; `divide` and `reciprocal` make real numbers. Shapes
// broadcast, and a plain number takes the type of the argument beside it unless its kind is higher. Read next:
// elementwise/real.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/elementwise/argument.hpp>
#include <twill/elementwise/comparison.hpp>

#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace elementwise { inline namespace TWILL_ISA {

namespace formula {
struct Heaviside {
  static constexpr std::string_view name = "heaviside";
  constexpr auto operator()(auto x, auto at_zero) const {
    return where(equal(x, 0), at_zero * 1.0, where(less(x, 0), 0.0, where(isnan(x), x * 1.0, 1.0)));
  }
};
struct Fmax {
  static constexpr std::string_view name = "fmax";
  static constexpr bool keeps_integers = true;
  constexpr auto operator()(auto a, auto b) const { return where(logical_or(greater_equal(a, b), isnan(b)), a, b); }
};
struct Fmin {
  static constexpr std::string_view name = "fmin";
  static constexpr bool keeps_integers = true;
  constexpr auto operator()(auto a, auto b) const { return where(logical_or(less_equal(a, b), isnan(b)), a, b); }
};
struct Lcm {
  static constexpr std::string_view name = "lcm";
  static constexpr bool keeps_integers = true;
  // the division first: it is exact, and 0 for two zeros
  constexpr auto operator()(auto a, auto b) const { return abs(floor_divide(a, gcd(a, b)) * b); }
};
struct Lerp {
  static constexpr std::string_view name = "lerp";
  constexpr auto operator()(auto start, auto end, auto weight) const {
    const auto way = end - start;
    return where(less(weight, 0.5), start + weight * way, end - way * (1.0 - weight));
  }
};
} // namespace formula

/// -x
template <Argument X> [[nodiscard]] constexpr auto negative(X&& x) {
  return apply<Primitive::negate>(std::forward<X>(x));
}
/// |x|; the most negative integer stays what it is
template <Argument X> [[nodiscard]] constexpr auto abs(X&& x) { return apply<Primitive::abs>(std::forward<X>(x)); }
/// -1, 0 or 1; NaN stays NaN
template <Argument X> [[nodiscard]] constexpr auto sign(X&& x) { return apply<Primitive::sign>(std::forward<X>(x)); }
/// x x
template <Argument X> [[nodiscard]] constexpr auto square(X&& x) {
  return apply<Primitive::square>(std::forward<X>(x));
}
/// The square root; NaN below 0.
template <Argument X> [[nodiscard]] constexpr auto sqrt(X&& x) { return apply<Primitive::sqrt>(std::forward<X>(x)); }
/// 1 / sqrt(x)
template <Argument X> [[nodiscard]] constexpr auto rsqrt(X&& x) { return apply<Primitive::rsqrt>(std::forward<X>(x)); }
/// The cube root, of negative numbers too.
template <Argument X> [[nodiscard]] constexpr auto cbrt(X&& x) { return apply<Primitive::cbrt>(std::forward<X>(x)); }
/// 1 / x as a real number
template <Argument X> [[nodiscard]] constexpr auto reciprocal(X&& x) {
  return apply<Primitive::reciprocal>(std::forward<X>(x));
}
/// NumPy's other name of `abs`.
template <Argument X> [[nodiscard]] constexpr auto absolute(X&& x) { return abs(std::forward<X>(x)); }
/// x with its element type
template <Argument X> [[nodiscard]] constexpr auto positive(X&& x) { return +std::forward<X>(x); }
/// |x| as a real number
template <Argument X> [[nodiscard]] constexpr auto fabs(X&& x) {
  return abs(Algebra<kind_of<X>>::floating(std::forward<X>(x)));
}
/// a + b
template <class A, With<A> B> [[nodiscard]] constexpr auto add(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::add>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a - b
template <class A, With<A> B> [[nodiscard]] constexpr auto subtract(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::subtract>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a b
template <class A, With<A> B> [[nodiscard]] constexpr auto multiply(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::multiply>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a / b as real numbers
template <class A, With<A> B> [[nodiscard]] constexpr auto divide(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::divide>(std::forward<A>(a), std::forward<B>(b), site);
}
/// The largest whole number not above a / b; integers divided by 0 give 0.
template <class A, With<A> B>
[[nodiscard]] constexpr auto floor_divide(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::floor_divide>(std::forward<A>(a), std::forward<B>(b), site);
}
/// The rest of floor_divide: it has the sign of b.
template <class A, With<A> B> [[nodiscard]] constexpr auto remainder(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::remainder>(std::forward<A>(a), std::forward<B>(b), site);
}
/// The rest of the division towards 0: it has the sign of a.
template <class A, With<A> B> [[nodiscard]] constexpr auto fmod(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::fmod>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a to the power of b; integers to negative powers are rounded towards 0.
template <class A, With<A> B> [[nodiscard]] constexpr auto power(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::power>(std::forward<A>(a), std::forward<B>(b), site);
}
/// The larger; NaN wins.
template <class A, With<A> B> [[nodiscard]] constexpr auto maximum(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::maximum>(std::forward<A>(a), std::forward<B>(b), site);
}
/// The smaller; NaN wins.
template <class A, With<A> B> [[nodiscard]] constexpr auto minimum(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::minimum>(std::forward<A>(a), std::forward<B>(b), site);
}
/// sqrt(a a + b b) without overflow on the way
template <class A, With<A> B> [[nodiscard]] constexpr auto hypot(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::hypot>(std::forward<A>(a), std::forward<B>(b), site);
}
/// The greatest common divisor of integers, never negative.
template <class A, With<A> B> [[nodiscard]] constexpr auto gcd(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::gcd>(std::forward<A>(a), std::forward<B>(b), site);
}
/// NumPy's other name of `divide`.
template <class A, With<A> B> [[nodiscard]] constexpr auto true_divide(A&& a, B&& b, CallSite site = CallSite::here()) {
  return divide(std::forward<A>(a), std::forward<B>(b), site);
}
/// NumPy's other name of `remainder`.
template <class A, With<A> B> [[nodiscard]] constexpr auto mod(A&& a, B&& b, CallSite site = CallSite::here()) {
  return remainder(std::forward<A>(a), std::forward<B>(b), site);
}
/// The larger; a NaN beside a number is left out.
template <class A, With<A> B> [[nodiscard]] constexpr auto fmax(A&& a, B&& b) {
  return compose<formula::Fmax>(std::forward<A>(a), std::forward<B>(b));
}
/// The smaller; a NaN beside a number is left out.
template <class A, With<A> B> [[nodiscard]] constexpr auto fmin(A&& a, B&& b) {
  return compose<formula::Fmin>(std::forward<A>(a), std::forward<B>(b));
}
/// The least common multiple of integers; 0 when one of them is 0.
template <class A, With<A> B> [[nodiscard]] constexpr auto lcm(A&& a, B&& b) {
  return compose<formula::Lcm>(std::forward<A>(a), std::forward<B>(b));
}
/// 0 below 0, b at 0, 1 above; NaN stays NaN.
template <class A, With<A> B> [[nodiscard]] constexpr auto heaviside(A&& a, B&& b) {
  return compose<formula::Heaviside>(std::forward<A>(a), std::forward<B>(b));
}
/// Another name of `power`.
template <class A, With<A> B> [[nodiscard]] constexpr auto pow(A&& a, B&& b, CallSite site = CallSite::here()) {
  return power(std::forward<A>(a), std::forward<B>(b), site);
}
/// a to the power of b in float64
template <class A, With<A> B> [[nodiscard]] constexpr auto float_power(A&& a, B&& b, CallSite site = CallSite::here()) {
  constexpr auto as_double = []<class X>(X&& x) {
    if constexpr (Argument<X>)
      return cast<double>(std::forward<X>(x));
    else
      return static_cast<double>(x);
  };
  return power(as_double(std::forward<A>(a)), as_double(std::forward<B>(b)), site);
}
/// start + weight (end - start), exact at both ends
template <class A, class B, With<A, B> W> [[nodiscard]] constexpr auto lerp(A&& start, B&& end, W&& weight) {
  return compose<formula::Lerp>(std::forward<A>(start), std::forward<B>(end), std::forward<W>(weight));
}

/// x between low and high; NaN stays NaN. Where low is above high, high. At a bound that is a number the gradient is 0.
template <Argument X, class Low, With<X, Low> High>
[[nodiscard]] constexpr auto clamp(X&& x, Low&& low, High&& high, CallSite site = CallSite::here()) {
  return minimum(maximum(std::forward<X>(x), std::forward<Low>(low), site), std::forward<High>(high), site);
}
/// NumPy's name of `clamp`: x between low and high.
template <Argument X, class Low, With<X, Low> High>
[[nodiscard]] constexpr auto clip(X&& x, Low&& low, High&& high, CallSite site = CallSite::here()) {
  return clamp(std::forward<X>(x), std::forward<Low>(low), std::forward<High>(high), site);
}
/// x, but at least low; NaN stays NaN.
template <Argument X, With<X> Low>
[[nodiscard]] constexpr auto clamp_min(X&& x, Low&& low, CallSite site = CallSite::here()) {
  return maximum(std::forward<X>(x), std::forward<Low>(low), site);
}
/// x, but at most high; NaN stays NaN.
template <Argument X, With<X> High>
[[nodiscard]] constexpr auto clamp_max(X&& x, High&& high, CallSite site = CallSite::here()) {
  return minimum(std::forward<X>(x), std::forward<High>(high), site);
}

}}}} // namespace twill::v0::elementwise::TWILL_ISA
