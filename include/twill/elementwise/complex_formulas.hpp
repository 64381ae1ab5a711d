#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of complex numbers as formulas of their real and imaginary parts, for symbols of expressions and for values
// of models, so that they fuse and run in the packs of real numbers. Branch cuts, signed zeros and infinities are those
// of C's Annex G, which NumPy follows. Errors are a few times those of the real functions, relative to the size of the
// result (tools/ulp/complex_functions.md); inverse functions have both parts precise, beside their branch points, too,
// since their sums have terms of one sign. Read next: expr/complex_symbols.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/elementwise/arithmetic.hpp>
#include <twill/elementwise/comparison.hpp>
#include <twill/elementwise/floating.hpp>
#include <twill/elementwise/real.hpp>

#include <limits>

namespace twill { inline namespace v0 { namespace elementwise { inline namespace TWILL_ISA { namespace formula {

/// The real and the imaginary part of a complex number.
template <class X> struct Parts {
  X re{};
  X im{};

  /// i times the conjugate: sin z is sinh of the exchanged number, exchanged again, and so are all such pairs.
  constexpr Parts exchanged() const { return {im, re}; }
  constexpr Parts times(double factor) const { return {re * factor, im * factor}; }
};

/// A bound that depends on the type: float64's, or that of narrower ones.
template <class X> constexpr double bound(const X& x, double of_double, double of_float) {
  if constexpr (requires { x.dtype(); })
    return x.dtype() == DType::float64 ? of_double : of_float;
  else
    return x.type() == DType::float64 ? of_double : of_float;
}

/// The formulas for parts of type X.
template <class X> struct ComplexFormulas {
  using Z = Parts<X>;

  /// a b, but 0 where one of them is 0 and the other not finite.
  static constexpr X product(X a, X b) {
    return where((a == 0) & !isfinite(b), a, where((b == 0) & !isfinite(a), b, a * b));
  }

  static constexpr Z times(Z a, Z b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

  /// Source: Smith, "Algorithm 116: Complex division" (1962).
  template <class A> static constexpr Z quotient(A a, Z b) {
    const X is_wide = abs(b.re) >= abs(b.im);
    const X large = where(is_wide, b.re, b.im);
    const X small = where(is_wide, b.im, b.re);
    const X is_zero = (large == 0) & (small == 0);
    const X ratio = where(is_zero, 0.0, small / large);
    const X divisor = where(is_zero, 0.0, large + small * ratio);
    const X x = where(is_wide, a.re + a.im * ratio, a.re * ratio + a.im);
    const X y = where(is_wide, a.im - a.re * ratio, a.im * ratio - a.re);
    return {x / divisor, y / divisor};
  }

  /// Numbers times a power of 4 where they are so large or small that |z| is not in the type, or not precise.
  struct Scaled {
    Z z{};
    X is_large{}; ///< times 2^-4
    X is_small{}; ///< times 2^106
  };
  static constexpr Scaled scaled(Z z) {
    const X large = maximum(abs(z.re), abs(z.im));
    const X is_large = large > bound(large, 0x1p1020, 0x1p124);
    const X is_small = large < bound(large, 0x1p-960, 0x1p-110);
    const auto fitting = [&](X part) { return where(is_large, part * 0x1p-4, where(is_small, part * 0x1p106, part)); };
    return {{fitting(z.re), fitting(z.im)}, is_large, is_small};
  }

  /// size (cos y + i sin y), where size is a function of x that is infinite or 0 where x is. Beside the largest numbers
  /// it comes divided by a factor, since a cosine may be small.
  static constexpr Z turned(X x, X y, X size, X is_large, double factor) {
    const X is_limit = isinf(x) & !isfinite(y);
    const auto grown = [&](X part) { return where(is_large, part * factor, part); };
    return {where(is_limit, size, grown(size * cos(y))),
            where(y == 0, y, where(is_limit & (x < 0), 0.0, grown(size * sin(y))))};
  }
  /// e^x (cos y + i sin y)
  static constexpr Z exponential(Z z) {
    const X is_large = z.re > bound(z.re, 700, 80);
    const X size = exp(where(is_large, z.re - 20.0, z.re));
    return turned(z.re, z.im, size, is_large, 485165195.40979027796910683054154);
  }
  /// 2^z, whose size has no error of a rounded product.
  static constexpr Z exponential_2(Z z) {
    const X is_large = z.re > bound(z.re, 1000, 120);
    const X size = exp2(where(is_large, z.re - 20.0, z.re));
    return turned(z.re, z.im * 0.69314718055994530942, size, is_large, 0x1p20);
  }
  /// e^z - 1, near 0 without cancellation.
  static constexpr Z exponential_minus_1(Z z) {
    const Z whole = exponential(z);
    const X half = sin(z.im * 0.5);
    return {where(abs(z.re) < 1.0, expm1(z.re) * cos(z.im) - half * half * 2.0, whole.re - 1.0), whole.im};
  }

  /// log |z|. Near |z| = 1 it is log1p(|z|^2 - 1) / 2 without cancellation.
  static constexpr X log_size(Z z) {
    const X x = abs(z.re), y = abs(z.im);
    const X size = hypot(x, y);
    const X large = maximum(x, y), small = minimum(x, y);
    const X excess = (large - 1.0) * (large + 1.0) + small * small;
    return where((size > 0.5) & (size < 2.0), log1p(excess) * 0.5, log(size));
  }
  /// log|z| + i arg z
  static constexpr Z logarithm(Z z) {
    const Scaled fitting = scaled(z);
    const X size = log_size(fitting.z);
    const X shifted = where(fitting.is_small, size - 73.473601139354202798, size);
    return {where(fitting.is_large, size + 2.7725887222397812377, shifted), atan2(z.im, z.re)};
  }
  /// log(1 + z). Near 0 it is that of |1 + z|^2 - 1 without cancellation.
  static constexpr Z logarithm_of_1_plus(Z z) {
    const Z whole = logarithm(Z{z.re + 1.0, z.im});
    const X excess = z.re * (z.re + 2.0) + z.im * z.im;
    return {where((abs(z.re) < 0.5) & (abs(z.im) < 0.5), log1p(excess) * 0.5, whole.re), whole.im};
  }

  /// Source: Kahan, "Branch cuts for complex elementary functions" (1987).
  static constexpr Z root(Z z) {
    const Scaled fitting = scaled(z);
    const X x = fitting.z.re, y = fitting.z.im;
    const X size = sqrt((abs(x) + hypot(x, y)) * 0.5);
    const X rest = where(size == 0, y, y / (size + size));
    const X is_right = x >= 0.0;
    const X is_limit = isinf(y);
    const X re = where(is_limit, abs(y), where(is_right, size, abs(rest)));
    const X im = where(is_limit, y, where(is_right | isnan(x), rest, copysign(size, y)));
    const auto whole = [&](X part) {
      return where(fitting.is_large, part * 4.0, where(fitting.is_small, part * 0x1p-53, part));
    };
    return {whole(re), whole(im)};
  }

  /// z / |z|, 0 at 0; of an infinite part the sign.
  static constexpr Z direction(Z z) {
    const Z fitting = scaled(z).z;
    const X size = hypot(fitting.re, fitting.im);
    const X is_wide = isinf(z.re), is_high = isinf(z.im);
    const auto part = [&](X x, X is_infinite, X other_is) {
      const X of_limits =
          where(is_infinite & !other_is, copysign(1.0, x), where(other_is & !is_infinite, 0.0, x / size));
      return where(size == 0, 0.0, of_limits);
    };
    return {part(fitting.re, is_wide, is_high), part(fitting.im, is_high, is_wide)};
  }

  /// a b for the part that is infinite where a is, although the direction b is unknown.
  static constexpr X large_product(X a, X b) { return where(isinf(a) & isnan(b), abs(a), product(a, b)); }
  /// sinh x cos y + i cosh x sin y
  static constexpr Z hyperbolic_sine(Z z) {
    return {large_product(sinh(z.re), cos(z.im)), product(sin(z.im), cosh(z.re))};
  }
  /// cosh x cos y + i sinh x sin y
  static constexpr Z hyperbolic_cosine(Z z) {
    return {large_product(cosh(z.re), cos(z.im)), product(sinh(z.re), sin(z.im))};
  }
  /// Source: Kahan, "Branch cuts for complex elementary functions" (1987); beside large |x| the limit.
  static constexpr Z hyperbolic_tangent(Z z) {
    const X x = z.re, y = z.im;
    const X is_large = abs(x) > bound(x, 20, 9);
    const X tangent = tan(y);
    const X slope = 1.0 + tangent * tangent;
    const X sine = sinh(where(is_large, 0.0, x));
    const X divisor = 1.0 + slope * sine * sine;
    const X decay = exp(abs(x) * -2.0) * 4.0;
    const X wave = sin(y) * cos(y);
    const X limit = where(decay == 0, copysign(0.0, wave), decay * wave);
    const X real = slope * sqrt(1.0 + sine * sine) * sine / divisor;
    return {where(x == 0, x, where(is_large, copysign(1.0, x), real)),
            where(y == 0, y, where(is_large, limit, tangent / divisor))};
  }

  /// z^w = e^(w log z), 1 for w = 0, and 0 for z = 0 where the real part of w is positive.
  static constexpr Z power_of(Z z, Z w) {
    const Z general = exponential(times(w, Z{log_size(z), atan2(z.im, z.re)}));
    const X is_zero = (z.re == 0) & (z.im == 0), is_one = (w.re == 0) & (w.im == 0);
    const auto settled = [&](X part, double one) {
      const X of_zero = where(w.re > 0.0, 0.0, part * std::numeric_limits<double>::quiet_NaN());
      return where(is_one, one, where(is_zero, of_zero, part));
    };
    return {settled(general.re, 1), settled(general.im, 0)};
  }

  /// What arcsine and arccosine are made of: the parts of sqrt(1 - z) and sqrt(1 + z) for z in the first quadrant.
  /// Source: Kahan, "Branch cuts for complex elementary functions" (1987).
  struct ArcRoots {
    X x{};        ///< |x|
    X y{};        ///< |y|
    X near_re{};  ///< of sqrt(1 - z)
    X near_im{};  ///< ... with the other sign
    X far_re{};   ///< of sqrt(1 + z)
    X far_im{};   ///< ...
    X is_large{}; ///< so large that 1 is nothing beside z, or infinite

    constexpr explicit ArcRoots(Z z) : x{abs(z.re)}, y{abs(z.im)} {
      const double limit = bound(x, 0x1p60, 0x1p30);
      const X beside = 1.0 - x, above = x + 1.0;
      const X size = sqrt((abs(beside) + hypot(beside, y)) * 0.5);
      const X rest = where(size == 0, y, y / (size + size));
      const X is_inside = beside >= 0.0;
      near_re = where(is_inside, size, rest);
      near_im = where(is_inside, rest, size);
      far_re = sqrt((above + hypot(above, y)) * 0.5);
      far_im = y / (far_re + far_re);
      is_large = (x > limit) | (y > limit);
    }

    /// The magnitude of the imaginary part of both functions: of a large number log |2z|.
    constexpr X height() const {
      return where(is_large, log(hypot(x * 0.125, y * 0.125)) + 2.7725887222397812377,
                   asinh(near_re * far_im + near_im * far_re));
    }
  };

  static constexpr Z arcsine(Z z) {
    const ArcRoots roots{z};
    const X cosine = where(roots.is_large, roots.y, roots.near_re * roots.far_re + roots.near_im * roots.far_im);
    return {where(z.re == 0, z.re, copysign(atan2(roots.x, cosine), z.re)), copysign(roots.height(), z.im)};
  }

  static constexpr Z arccosine(Z z) {
    const ArcRoots roots{z};
    const X is_left = z.re < 0;
    const X angle = atan2(where(roots.is_large, roots.y, where(is_left, roots.far_re, roots.near_re)),
                          where(roots.is_large, z.re, where(is_left, roots.near_re, roots.far_re)));
    const X whole = where(roots.is_large, angle, angle + angle);
    return {where(z.re == 0, 1.5707963267948966192, whole), copysign(roots.height(), -z.im)};
  }

  /// acos z turned by a quarter, into the right half-plane.
  static constexpr Z hyperbolic_arccosine(Z z) {
    const Z angle = arccosine(z);
    return {abs(angle.im), copysign(angle.re, z.im)};
  }

  /// log((1 + z) / (1 - z)) / 2: log1p(4x / |1 - z|^2) / 4 and half the angle of 1 - |z|^2 + 2yi.
  static constexpr Z hyperbolic_arctangent(Z z) {
    const X x = abs(z.re), y = abs(z.im);
    const double limit = bound(x, 1e9, 1e5);
    const X beside = 1.0 - x;
    const X square = y * y;
    const X general = log1p(x * 4.0 / (beside * beside + square)) * 0.25;
    const X at_one = (0.69314718055994530942 - log(y)) * 0.5; // where the square may vanish
    const X size = hypot(x * 0.25, y * 0.25);
    const X is_infinite = isinf(x) | isinf(y);
    const X far = where(is_infinite, 0.0, x * 0.25 / size / size * 0.25); // x / |z|^2
    const X is_far = (x > limit) | (y > limit);
    const X re = where(is_far, far, where((x == 1) & (y < 1 / limit), at_one, general));
    const X angle = atan2(y, (beside * (x + 1.0) - square) * 0.5) * 0.5;
    return {where(z.re == 0, z.re, copysign(re, z.re)), copysign(where(isinf(y), 1.5707963267948966192, angle), z.im)};
  }

  /// The function of a primitive that complex numbers have and whose results are complex.
  static constexpr Z of(Primitive primitive, Z z) {
    using enum Primitive;
    const Z turned = z.exchanged();
    switch (primitive) {
    case negate:
      return {-z.re, -z.im};
    case square:
      return times(z, z);
    case Primitive::sign:
      return direction(z);
    case sqrt:
      return root(z);
    case rsqrt:
      return quotient(Parts<double>{1, 0}, root(z));
    case reciprocal:
      return quotient(Parts<double>{1, 0}, z);
    case exp:
      return exponential(z);
    case exp2:
      return exponential_2(z);
    case expm1:
      return exponential_minus_1(z);
    case log:
      return logarithm(z);
    case log2:
      return logarithm(z).times(1.4426950408889634074);
    case log10:
      return logarithm(z).times(0.43429448190325182765);
    case log1p:
      return logarithm_of_1_plus(z);
    case sin:
      return hyperbolic_sine(turned).exchanged();
    case cos:
      return hyperbolic_cosine({-z.im, z.re});
    case tan:
      return hyperbolic_tangent(turned).exchanged();
    case sinh:
      return hyperbolic_sine(z);
    case cosh:
      return hyperbolic_cosine(z);
    case asin:
      return arcsine(z);
    case acos:
      return arccosine(z);
    case atan:
      return hyperbolic_arctangent(turned).exchanged();
    case asinh:
      return arcsine(turned).exchanged();
    case acosh:
      return hyperbolic_arccosine(z);
    case atanh:
      return hyperbolic_arctangent(z);
    default: // tanh and tanh_accurate
      return hyperbolic_tangent(z);
    }
  }
};

}}}}} // namespace twill::v0::elementwise::TWILL_ISA::formula
