#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Statistics of traced values over axes in angle brackets, as those of tensors: weighted means, reductions that pass
// over NaN, and covariances and correlations of the rows of a matrix. No gradient flows to NaN that is left out.
// Not in twill.hpp. Read next: ops/value_quantiles.hpp.

#include <twill/core/axes.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/norms.hpp>
#include <twill/ops/value_diagonals.hpp>

#include <limits>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// Weights for one axis of a value are placed along that axis; any others broadcast as they are.
[[nodiscard]] TWILL_CONSTEXPR Value along_axes(Value weights, int rank, unsigned axes) {
  if (weights.rank() != 1 || axes == 0 || (axes & (axes - 1)) != 0) return weights;
  Extents shape{};
  shape.append(weights.shape()[0]);
  for (int axis = rank - 1; (axes >> axis & 1U) == 0; --axis) shape.append({});
  return reshape(weights, shape);
}

[[nodiscard]] TWILL_CONSTEXPR Value average_over(Value x, Value weights, unsigned axes, KeepDims keep, CallSite site) {
  if (x.graph().fault.any()) return x;
  return in_wide(x, [&](Value wide) {
    const Value each = cast(along_axes(weights, x.rank(), axes), wide.dtype());
    const Value products = multiply(wide, each, site);
    if (x.graph().fault.any()) return x;
    return reduce(Reduction::sum, products, axes, keep) /
           reduce(Reduction::sum, broadcast_to(each, products.shape()), axes, keep);
  });
}

/// A number in place of NaN.
[[nodiscard]] TWILL_CONSTEXPR Value without_nan(Value x, double number) {
  return is_floating(x.dtype()) ? where(isnan(x), number, x) : x;
}

/// How many elements are no NaN, in the type of a wide value.
[[nodiscard]] TWILL_CONSTEXPR Value count_of_numbers(Value wide, unsigned axes, KeepDims keep) {
  return reduce(Reduction::sum, cast(logical_not(isnan(wide)), wide.dtype()), axes, keep);
}

[[nodiscard]] TWILL_CONSTEXPR Value mean_of_numbers(Value wide, unsigned axes, KeepDims keep) {
  return reduce(Reduction::sum, without_nan(wide, 0), axes, keep) / count_of_numbers(wide, axes, keep);
}

[[nodiscard]] TWILL_CONSTEXPR Value extreme_of_numbers(Reduction reduction, Value x, unsigned axes, KeepDims keep) {
  if (!is_floating(x.dtype())) return reduce(reduction, x, axes, keep);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Value extreme =
      reduce(reduction, without_nan(x, reduction == Reduction::max ? -infinity : infinity), axes, keep);
  const Value has_none = equal(reduce(Reduction::sum, cast(logical_not(isnan(x)), DType::int64), axes, keep), 0);
  return where(has_none, std::numeric_limits<double>::quiet_NaN(), extreme);
}

/// sum((x - mean)^2) / (n - correction) of the n elements that are no NaN.
[[nodiscard]] TWILL_CONSTEXPR Value variance_of_numbers(Value x, unsigned axes, double correction, KeepDims keep) {
  return in_wide(x, [&](Value wide) {
    const Value distance = without_nan(wide - mean_of_numbers(wide, axes, KeepDims::yes), 0);
    return reduce(Reduction::sum, square(distance), axes, keep) / (count_of_numbers(wide, axes, keep) - correction);
  });
}

[[nodiscard]] TWILL_CONSTEXPR Value covariances(Value x, double correction, CallSite site) {
  if (x.rank() != 2) x.graph().refuse(Problem::matrix_needs_two_axes, x.rank(), 2, site);
  if (x.graph().fault.any()) return x;
  return in_wide(x, [&](Value wide) {
    const Value centred = wide - mean(wide, {1}, KeepDims::yes, site);
    const Value products = matmul(centred, transpose(centred), site);
    if (correction == 0) return products * constant(x.graph(), wide.dtype(), 1.0, x.shape()[1]);
    return products / (static_cast<double>(x.size(1, site)) - correction);
  });
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// sum(x weights) / sum(weights). Weights have the shape of x, one that broadcasts to it, or that of the one axis.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value average(Value x, Value weights, K = {}, CallSite site = CallSite::here()) {
  return detail::average_over(x, weights, detail::axes_of<Axes...>(x, site), detail::keep_of<K>, site);
}

/// The sum of the elements that are not NaN; integers and truth values become int64.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value nansum(Value x, K keep = {}, CallSite site = CallSite::here()) {
  return sum<Axes...>(detail::without_nan(x, 0), keep, site);
}
/// The product of the elements that are not NaN; integers and truth values become int64.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value nanprod(Value x, K keep = {}, CallSite site = CallSite::here()) {
  return prod<Axes...>(detail::without_nan(x, 1), keep, site);
}
/// The greatest element that is not NaN; NaN if all are.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value nanmax(Value x, K = {}, CallSite site = CallSite::here()) {
  return detail::extreme_of_numbers(Reduction::max, x, detail::axes_of<Axes...>(x, site), detail::keep_of<K>);
}
/// The least element that is not NaN; NaN if all are.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value nanmin(Value x, K = {}, CallSite site = CallSite::here()) {
  return detail::extreme_of_numbers(Reduction::min, x, detail::axes_of<Axes...>(x, site), detail::keep_of<K>);
}
/// The mean of the elements that are not NaN; NaN if nothing is left.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value nanmean(Value x, K = {}, CallSite site = CallSite::here()) {
  const unsigned axes = detail::axes_of<Axes...>(x, site);
  return detail::in_wide(x, [&](Value wide) { return detail::mean_of_numbers(wide, axes, detail::keep_of<K>); });
}
/// The variance of the n elements that are not NaN, with divisor n or n - c: `nanvar<0>(x, correction<1>)`.
template <int... Axes, int C = 0>
[[nodiscard]] constexpr Value nanvar(Value x, Correction<C> = {}, CallSite site = CallSite::here()) {
  return detail::variance_of_numbers(x, detail::axes_of<Axes...>(x, site), C, KeepDims::no);
}
template <int... Axes, int C = 0>
[[nodiscard]] constexpr Value nanvar(Value x, KeptDims, Correction<C> = {}, CallSite site = CallSite::here()) {
  return detail::variance_of_numbers(x, detail::axes_of<Axes...>(x, site), C, KeepDims::yes);
}
/// The root of nanvar, whose gradient is infinite where that is 0.
template <int... Axes, int C = 0>
[[nodiscard]] constexpr Value nanstd(Value x, Correction<C> divisor = {}, CallSite site = CallSite::here()) {
  return sqrt(nanvar<Axes...>(x, divisor, site));
}
template <int... Axes, int C = 0>
[[nodiscard]] constexpr Value nanstd(Value x, KeptDims keep, Correction<C> divisor = {},
                                     CallSite site = CallSite::here()) {
  return sqrt(nanvar<Axes...>(x, keep, divisor, site));
}

/// The covariances of n variables (n, observations), (n, n), with divisor n - 1 as NumPy's, or n - c:
/// `cov(x, correction<0>)`. errors: another rank, a number of observations unknown until run time, unless c is 0
template <int C = 1> [[nodiscard]] constexpr Value cov(Value x, Correction<C> = {}, CallSite site = CallSite::here()) {
  return detail::covariances(x, C, site);
}
/// The correlations of n variables (n, observations), (n, n), from -1 to 1; NaN beside a variable that does not vary.
/// errors: another rank, a number of variables unknown until run time
[[nodiscard]] TWILL_CONSTEXPR Value corrcoef(Value x, CallSite site = CallSite::here()) {
  const Value covariances = cov(x, correction<0>, site);
  if (x.graph().fault.any()) return x;
  const Value deviations = sqrt(diagonal(covariances, 0, site));
  return clamp(covariances / deviations / unsqueeze(deviations, -1), -1, 1);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
