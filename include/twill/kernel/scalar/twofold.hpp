#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of numbers in twice the precision of float64: each is the unevaluated sum of two doubles, with 106 bits
// (Dekker, "A floating-point technique for extending the available precision", 1971; Knuth, The Art of Computer
// Programming 2, 4.2.2). Special functions use it where terms cancel, or where an exponent is large. Scalars, on hosts
// and in device code. Read next: kernel/scalar/gamma.hpp; for vectors kernel/math/power.hpp.

#include <twill/core/config.hpp>

#include <cmath>

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

/// high + low, where low is at most half a unit in the last place of high.
struct Twofold {
  double high = 0, low = 0;
};

constexpr Twofold twofold_pi() { return {3.141592653589793116, 1.2246467991473532e-16}; }

/// a + b without an error.
constexpr Twofold exact_sum(double a, double b) {
  const double sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

/// a b without an error. Compilers may contract a product with a later sum, but not this sum with 0, which changes -0.
constexpr Twofold exact_product(double a, double b) {
  const double product = std::fma(a, b, 0.0);
  return {product, std::fma(a, b, -product)};
}

constexpr Twofold operator+(Twofold a, Twofold b) {
  const Twofold high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
  const Twofold sum = exact_sum(high.high, high.low + low.high);
  return exact_sum(sum.high, sum.low + low.low);
}
constexpr Twofold operator-(Twofold a, Twofold b) { return a + Twofold{-b.high, -b.low}; }
constexpr Twofold operator*(Twofold a, Twofold b) {
  const Twofold product = exact_product(a.high, b.high);
  return exact_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}
constexpr Twofold operator/(Twofold a, Twofold b) {
  const double first = a.high / b.high;
  const Twofold rest = a - b * Twofold{first};
  const double second = rest.high / b.high;
  const Twofold last = rest - b * Twofold{second};
  return exact_sum(first, second) + Twofold{last.high / b.high};
}

/// log x, with an error near 2^-100 of the larger of 1 and the result. requires: x > 0, finite
constexpr Twofold twofold_log(Twofold x) {
  // log x = e log 2 + log m, with m from sqrt(1/2) to sqrt(2); log m = 2 (s + s^3 / 3 + ...) of s = (m - 1) / (m + 1)
  constexpr Twofold log_2{0.6931471805599453094, 2.3190468138462996e-17};
  constexpr double low_parts[] = {1.850371707708594e-17,  -1.1102230246251566e-17, 7.93016446160826e-18,
                                  6.1679056923619804e-18, -2.523234146875356e-18,  -4.270088556250602e-18,
                                  9.251858538542971e-19,  8.163404592832033e-19,   2.921639538487254e-18};
  constexpr int accurate = 9, terms = 20; // those with two parts of 1 / (2 k + 1), and all
  int exponent = 0;
  if (std::frexp(x.high, &exponent) < 0.7071067811865476) --exponent;
  const Twofold m{std::ldexp(x.high, -exponent), std::ldexp(x.low, -exponent)};
  const Twofold s = (m - Twofold{1}) / (m + Twofold{1}), square = s * s;
  double tail = 0;
  for (int k = terms; k > accurate; --k) tail = tail * square.high + 1.0 / (2 * k + 1);
  Twofold series{tail};
  for (int k = accurate; k > 0; --k) series = series * square + Twofold{1.0 / (2 * k + 1), low_parts[k - 1]};
  const Twofold sum = s + s * square * series;
  return log_2 * Twofold{static_cast<double>(exponent)} + Twofold{2 * sum.high, 2 * sum.low};
}

/// cot(pi x). requires: 0 < x <= 1/2
constexpr Twofold cotangent_of_half_turns(Twofold x) {
  constexpr int terms = 14;
  const bool is_high = x.high > 0.25;
  const Twofold angle = twofold_pi() * (is_high ? Twofold{0.5} - x : x), square = angle * angle;
  Twofold sine{1}, cosine{1};
  for (int k = terms; k > 0; --k) { // 1 - y^2 / (2 k (2 k + 1)) (1 - ...), and the even one
    sine = Twofold{1} - square * sine / Twofold{2.0 * k * (2 * k + 1)};
    cosine = Twofold{1} - square * cosine / Twofold{2.0 * k * (2 * k - 1)};
  }
  return is_high ? angle * sine / cosine : cosine / (angle * sine);
}

}}}} // namespace twill::v0::kernel::detail
