#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// More functions of traced values by NumPy's names: second spellings, and formulas, whose derivatives follow from those of the
// primitives. With graph/operators.hpp they are the names that tensors have, so a generic function serves both. Read next:
// graph/reductions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/graph/operators.hpp>
#include <twill/graph/smooth.hpp>
#include <twill/kernel/formulas.hpp>

#include <numbers>

namespace twill::inline v0::graph {

namespace detail {
/// A formula of two operands; a number beside a value becomes one of its type, a real one if need be.
template <class F> [[nodiscard]] constexpr Value formula_of(F formula, const Term& left, const Term& right) {
  Graph& graph = left.is_number ? right.value.graph() : left.value.graph();
  const DType dtype = common_dtype(left, right);
  return formula(materialise(graph, left, dtype), materialise(graph, right, dtype));
}
} // namespace detail

// clang-format off
/// NumPy's other names of operations.
[[nodiscard]] constexpr Value negative(Value x) { return -x; }
[[nodiscard]] constexpr Value absolute(Value x) { return abs(x); }
[[nodiscard]] constexpr Value positive(Value x) { return x; }
[[nodiscard]] constexpr Value fabs(Value x) { return abs(cast(x, floating_type(x.dtype()))); }
[[nodiscard]] constexpr Value rint(Value x) { return round(x); }
[[nodiscard]] constexpr Value fix(Value x) { return trunc(x); }
[[nodiscard]] constexpr Value arcsin(Value x) { return asin(x); }
[[nodiscard]] constexpr Value arccos(Value x) { return acos(x); }
[[nodiscard]] constexpr Value arctan(Value x) { return atan(x); }
[[nodiscard]] constexpr Value arcsinh(Value x) { return asinh(x); }
[[nodiscard]] constexpr Value arccosh(Value x) { return acosh(x); }
[[nodiscard]] constexpr Value arctanh(Value x) { return atanh(x); }
[[nodiscard]] constexpr Value bitwise_not(Value x) { return invert(x); }
[[nodiscard]] constexpr Value true_divide(Term left, Term right) { return divide(left, right); }
[[nodiscard]] constexpr Value mod(Term left, Term right) { return remainder(left, right); }
[[nodiscard]] constexpr Value arctan2(Term left, Term right) { return atan2(left, right); }

/// Operations made of others, so they fuse and have gradients as those have.
[[nodiscard]] constexpr Value signbit(Value x) { return formula::Signbit{}(x); }
[[nodiscard]] constexpr Value isposinf(Value x) { return formula::Isposinf{}(x); }
[[nodiscard]] constexpr Value isneginf(Value x) { return formula::Isneginf{}(x); }
[[nodiscard]] constexpr Value deg2rad(Value x) { return formula::Deg2rad{}(x); }
[[nodiscard]] constexpr Value radians(Value x) { return formula::Deg2rad{}(x); }
[[nodiscard]] constexpr Value rad2deg(Value x) { return formula::Rad2deg{}(x); }
[[nodiscard]] constexpr Value degrees(Value x) { return formula::Rad2deg{}(x); }
[[nodiscard]] constexpr Value spacing(Value x) { return formula::Spacing{}(x); }
[[nodiscard]] constexpr Value heaviside(Term left, Term right) { return detail::formula_of(formula::Heaviside{}, left, right); }
[[nodiscard]] constexpr Value lcm(Term left, Term right) { return detail::formula_of(formula::Lcm{}, left, right); }
// clang-format on

namespace detail {
using Two = Applied<2>;

// Which share of a sum of exponentials a term has, by how much the other exceeds it. Its slope is the product of both shares,
// exact in both tails.
[[nodiscard]] constexpr Value share_slope(const Applied<1>& f);
[[nodiscard]] constexpr Value share_slope_of_2(const Applied<1>& f);
[[nodiscard]] TWILL_CONSTEXPR Value share(Value excess) {
  return with_derivative<share_slope>(reciprocal(exp(excess) + 1), excess);
}
[[nodiscard]] TWILL_CONSTEXPR Value share_of_2(Value excess) {
  return with_derivative<share_slope_of_2>(reciprocal(exp2(excess) + 1), excess);
}
constexpr Value share_slope(const Applied<1>& f) { return -(f.y * share(-f.x[0])); }
constexpr Value share_slope_of_2(const Applied<1>& f) { return f.y * share_of_2(-f.x[0]) * -std::numbers::ln2; }
[[nodiscard]] constexpr Value share_of_first(const Two& f) { return share(f.x[1] - f.x[0]); }
[[nodiscard]] constexpr Value share_of_second(const Two& f) { return share(f.x[0] - f.x[1]); }
[[nodiscard]] constexpr Value share_of_first_of_2(const Two& f) { return share_of_2(f.x[1] - f.x[0]); }
[[nodiscard]] constexpr Value share_of_second_of_2(const Two& f) { return share_of_2(f.x[0] - f.x[1]); }

[[nodiscard]] TWILL_CONSTEXPR Value log_or_nothing(const Two& f) {
  const Value none = logical_and(equal(f.x[0], 0), f.x[1] <= 0);
  return where(none, 0, log(where(none, 1, f.x[1])));
}
[[nodiscard]] constexpr Value ratio(const Two& f) { return f.x[0] / f.x[1]; }

// Which of two the larger or smaller is: each half where they are equal.
[[nodiscard]] constexpr Value halves(Value wins, Value is_equal) { return where(wins, 1, where(is_equal, 0.5, 0)); }
[[nodiscard]] TWILL_CONSTEXPR Value first_is_larger(const Two& f) {
  return halves(logical_or(f.x[0] > f.x[1], isnan(f.x[1])), equal(f.x[0], f.x[1]));
}
[[nodiscard]] constexpr Value second_is_larger(const Two& f) { return 1 - first_is_larger(f); }
[[nodiscard]] TWILL_CONSTEXPR Value first_is_smaller(const Two& f) {
  return halves(logical_or(f.x[0] < f.x[1], isnan(f.x[1])), equal(f.x[0], f.x[1]));
}
[[nodiscard]] constexpr Value second_is_smaller(const Two& f) { return 1 - first_is_smaller(f); }

/// (cos(pi x) - sinc(x)) / x.
[[nodiscard]] TWILL_CONSTEXPR Value sinc_slope(const Applied<1>& f) {
  const Value is_zero = equal(f.x[0], 0);
  return where(is_zero, 0, (cos(f.x[0] * 3.14159265358979323846) - f.y) / where(is_zero, 1, f.x[0]));
}
} // namespace detail

/// The larger of two, a number rather than NaN.
[[nodiscard]] TWILL_CONSTEXPR Value fmax(Term left, Term right) {
  return detail::with_derivatives<detail::first_is_larger, detail::second_is_larger>(
      detail::formula_of(formula::Fmax{}, left, right), left, right);
}

/// The smaller of two, a number rather than NaN.
[[nodiscard]] TWILL_CONSTEXPR Value fmin(Term left, Term right) {
  return detail::with_derivatives<detail::first_is_smaller, detail::second_is_smaller>(
      detail::formula_of(formula::Fmin{}, left, right), left, right);
}

/// sin(pi x) / (pi x), and 1 at 0.
[[nodiscard]] TWILL_CONSTEXPR Value sinc(Value x) {
  return detail::with_derivative<detail::sinc_slope>(formula::Sinc{}(x), x);
}

/// log(exp(a) + exp(b)) without overflow.
[[nodiscard]] TWILL_CONSTEXPR Value logaddexp(Term left, Term right) {
  return detail::with_derivatives<detail::share_of_first, detail::share_of_second>(
      detail::formula_of(formula::Logaddexp{}, left, right), left, right);
}

/// log2(2^a + 2^b) without overflow.
[[nodiscard]] TWILL_CONSTEXPR Value logaddexp2(Term left, Term right) {
  return detail::with_derivatives<detail::share_of_first_of_2, detail::share_of_second_of_2>(
      detail::formula_of(formula::Logaddexp2{}, left, right), left, right);
}

/// x log y, 0 where x is 0 and y is no NaN. The derivative by x is 0 where x is 0 and y is not positive.
[[nodiscard]] TWILL_CONSTEXPR Value xlogy(Term left, Term right) {
  return detail::with_derivatives<detail::log_or_nothing, detail::ratio>(
      detail::formula_of(formula::Xlogy{}, left, right), left, right);
}

/// start + weight (end - start), exact at both ends.
[[nodiscard]] TWILL_CONSTEXPR Value lerp(Value start, Value end, Term weight) {
  const DType dtype = detail::common_dtype(start, weight);
  return formula::Lerp{}(start, end, detail::materialise(start.graph(), weight, dtype));
}

/// A power in float64.
[[nodiscard]] TWILL_CONSTEXPR Value float_power(Term left, Term right) {
  Graph& graph = left.is_number ? right.value.graph() : left.value.graph();
  return power(detail::materialise(graph, left, DType::float64), detail::materialise(graph, right, DType::float64));
}

/// x between low and high; NaN stays NaN. At a bound that is a number the gradient of x is 0.
[[nodiscard]] constexpr Value clamp(Value x, Term low, Term high) { return minimum(maximum(x, low), high); }
[[nodiscard]] constexpr Value clip(Value x, Term low, Term high) { return clamp(x, low, high); }
[[nodiscard]] constexpr Value clamp_min(Value x, Term low) { return maximum(x, low); }
[[nodiscard]] constexpr Value clamp_max(Value x, Term high) { return minimum(x, high); }

/// Converts as static_cast does; to bool: different from zero.
template <Scalar T> [[nodiscard]] constexpr Value cast(Value x) { return cast(x, dtype_of<T>); }

} // namespace twill::inline v0::graph
