#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise functions that are formulas over primitives, written once for whatever has the primitives' names: symbols of
// an expression and traced values of a graph. They fuse, and their derivatives follow from those of the primitives. What has
// to be exact or fast on its own is a primitive instead. Read next: expr/functions.hpp, graph/functions.hpp.

#include <limits>
#include <string_view>

namespace twill::inline v0::formula {

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

struct Deg2rad {
  static constexpr std::string_view name = "deg2rad";
  constexpr auto operator()(auto x) const { return x * 0.017453292519943295769; }
};
struct Rad2deg {
  static constexpr std::string_view name = "rad2deg";
  constexpr auto operator()(auto x) const { return x * 57.295779513082320877; }
};
/// sin(pi x) / (pi x), 1 at 0
struct Sinc {
  static constexpr std::string_view name = "sinc";
  constexpr auto operator()(auto x) const {
    const auto t = where(equal(x, 0), 1.0, x * 3.14159265358979323846);
    return where(equal(x, 0), 1.0, sin(t) / t);
  }
};
/// The distance to the next number away from 0, with the sign of x.
struct Spacing {
  static constexpr std::string_view name = "spacing";
  constexpr auto operator()(auto x) const {
    const auto size = abs(x);
    const auto distance = nextafter(size, std::numeric_limits<double>::infinity()) - size;
    return where(less(x, 0), -distance, distance); // NumPy's of -0 is positive
  }
};

/// 0 below 0, at_zero at 0, 1 above; NaN stays NaN.
struct Heaviside {
  static constexpr std::string_view name = "heaviside";
  constexpr auto operator()(auto x, auto at_zero) const {
    return where(equal(x, 0), at_zero * 1.0, where(less(x, 0), 0.0, where(isnan(x), x * 1.0, 1.0)));
  }
};
/// The larger; a NaN beside a number is left out.
struct Fmax {
  static constexpr std::string_view name = "fmax";
  constexpr auto operator()(auto a, auto b) const { return where(logical_or(greater_equal(a, b), isnan(b)), a, b); }
};
struct Fmin {
  static constexpr std::string_view name = "fmin";
  constexpr auto operator()(auto a, auto b) const { return where(logical_or(less_equal(a, b), isnan(b)), a, b); }
};
struct Lcm {
  static constexpr std::string_view name = "lcm";
  // the division first: it is exact, and 0 for two zeros
  constexpr auto operator()(auto a, auto b) const { return abs(floor_divide(a, gcd(a, b)) * b); }
};

/// log(exp(a) + exp(b)) without overflow
struct Logaddexp {
  static constexpr std::string_view name = "logaddexp";
  // equal numbers apart, among them infinities of one sign
  constexpr auto operator()(auto a, auto b) const {
    return where(equal(a, b), a + 0.69314718055994530942, maximum(a, b) + log1p(exp(-abs(a - b))));
  }
};
/// log2(2^a + 2^b) without overflow
struct Logaddexp2 {
  static constexpr std::string_view name = "logaddexp2";
  constexpr auto operator()(auto a, auto b) const {
    return where(equal(a, b), a + 1.0, maximum(a, b) + log1p(exp2(-abs(a - b))) * 1.4426950408889634074);
  }
};
/// x log y, 0 where x is 0 and y is no NaN
struct Xlogy {
  static constexpr std::string_view name = "xlogy";
  constexpr auto operator()(auto x, auto y) const {
    const auto nothing = logical_and(equal(x, 0), logical_not(isnan(y)));
    return where(nothing, 0.0, x * log(where(nothing, 1.0, y)));
  }
};
/// start + weight (end - start), exact at both ends
struct Lerp {
  static constexpr std::string_view name = "lerp";
  constexpr auto operator()(auto start, auto end, auto weight) const {
    const auto way = end - start;
    return where(less(weight, 0.5), start + weight * way, end - way * (1.0 - weight));
  }
};

/// 1 / (1 + exp(-x))
struct Sigmoid {
  static constexpr std::string_view name = "sigmoid";
  constexpr auto operator()(auto x) const { return reciprocal(exp(-x) + 1.0); }
};
/// x times the normal distribution function
struct Gelu {
  static constexpr std::string_view name = "gelu";
  constexpr auto operator()(auto x) const { return x * 0.5 * (erf(x * 0.70710678118654752440) + 1.0); }
};
/// The approximation of gelu by tanh that GPT-2 uses.
struct GeluTanh {
  static constexpr std::string_view name = "gelu_tanh";
  constexpr auto operator()(auto x) const {
    return x * 0.5 * (tanh((x + x * x * x * 0.044715) * 0.79788456080286535588) + 1.0);
  }
};
/// x times the normal distribution function, by erfc: no cancellation in the left tail.
struct GeluAccurate {
  static constexpr std::string_view name = "gelu_accurate";
  constexpr auto operator()(auto x) const { return x * 0.5 * erfc(x * -0.70710678118654752440); }
};
/// log(1 + exp(x)) without overflow
struct Softplus {
  static constexpr std::string_view name = "softplus";
  constexpr auto operator()(auto x) const { return maximum(x, 0.0) + log1p(exp(-abs(x))); }
};
/// x where positive, alpha (exp(x) - 1) elsewhere
struct Elu {
  static constexpr std::string_view name = "elu";
  constexpr auto operator()(auto x, auto alpha) const {
    return where(greater(x, 0.0), x, expm1(minimum(x, 0.0)) * alpha);
  }
};
/// x where positive, alpha (exp(x / alpha) - 1) elsewhere
struct Celu {
  static constexpr std::string_view name = "celu";
  constexpr auto operator()(auto x, auto alpha) const {
    return where(greater(x, 0.0), x, expm1(minimum(x, 0.0) / alpha) * alpha);
  }
};
/// The factor and alpha of selu.
/// Source: Klambauer, Unterthiner, Mayr and Hochreiter, "Self-normalizing neural networks" (2017).
inline constexpr double selu_scale = 1.0507009873554804934193349852946;
inline constexpr double selu_alpha = 1.6732632423543772848170429916717;

} // namespace twill::inline v0::formula
