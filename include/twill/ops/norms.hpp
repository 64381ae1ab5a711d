#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Vector norms and distances of traced values, as for tensors: over several axes the elements are one vector. Sums of
// squares are in float32 at least. Where a norm is 0, it has a kink; the gradient there is 0, as in PyTorch. Read next:
// core/axes.hpp, nn/normalisation.hpp.

#include <twill/core/axes.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>

#include <limits>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// f(x), computed in float32 at least: 16 bits cannot represent a small epsilon or sums of squares.
template <class F> [[nodiscard]] constexpr Value in_wide(Value x, F&& f) {
  return cast(f(widened(x)), floating_type(autocast_to_wide(x).dtype()));
}

/// total^(1 / p) of a sum of powers, with the gradient 0 where the sum is 0.
[[nodiscard]] TWILL_CONSTEXPR Value root_of_sum(Value total, double p) {
  const Value none = equal(total, 0);
  const Value some = where(none, 1.0, total);
  return where(none, 0.0, p == 2 ? sqrt(some) : power(some, 1 / p));
}

/// The root of the sum of squares over one axis.
[[nodiscard]] TWILL_CONSTEXPR Value euclidean_norm(Value x, int axis, KeepDims keep, CallSite site) {
  return root_of_sum(sum(square(x), {axis}, keep, site), 2);
}

/// The norm of an order over a set of axes, by their bits; infinity is the greatest magnitude.
[[nodiscard]] TWILL_CONSTEXPR Value norm_over(Value x, unsigned axes, double p, KeepDims keep) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return in_wide(x, [&](Value wide) {
    const auto total = [&](Value powers) { return reduce(Reduction::sum, powers, axes, keep); };
    if (p == 2) return root_of_sum(total(square(wide)), 2);
    if (p == 0) return total(cast(not_equal(wide, 0), wide.dtype()));
    const Value size = abs(wide);
    if (p == 1) return total(size);
    if (p == infinity) return reduce(Reduction::max, size, axes, keep);
    if (p == -infinity) return reduce(Reduction::min, size, axes, keep);
    if (p > 1) return root_of_sum(total(power(size, p)), p);
    const Value none = equal(size, 0); // where the power's slope is infinite
    const double of_zero = p < 0 ? infinity : 0;
    return root_of_sum(total(where(none, of_zero, power(where(none, 1.0, size), p))), p);
  });
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// sqrt(sum(x^2)) over axes, all of them where none are given, or the norm of another order.
template <int... Axes, int P = 2>
[[nodiscard]] constexpr Value norm(Value x, NormOrder<P> = {}, CallSite site = CallSite::here()) {
  return detail::norm_over(x, detail::axes_of<Axes...>(x, site), P, KeepDims::no);
}
template <int... Axes, int P = 2>
[[nodiscard]] constexpr Value norm(Value x, KeptDims, NormOrder<P> = {}, CallSite site = CallSite::here()) {
  return detail::norm_over(x, detail::axes_of<Axes...>(x, site), P, KeepDims::yes);
}
/// The greatest magnitude.
template <int... Axes> [[nodiscard]] constexpr Value norm(Value x, OrderOfMax, CallSite site = CallSite::here()) {
  return detail::norm_over(x, detail::axes_of<Axes...>(x, site), std::numeric_limits<double>::infinity(), KeepDims::no);
}
/// The least magnitude.
template <int... Axes> [[nodiscard]] constexpr Value norm(Value x, OrderOfMin, CallSite site = CallSite::here()) {
  return detail::norm_over(x, detail::axes_of<Axes...>(x, site), -std::numeric_limits<double>::infinity(),
                           KeepDims::no);
}
/// sum(|x|^p)^(1/p); p may be infinite, or 0, which counts the elements that are not zero.
template <int... Axes> [[nodiscard]] constexpr Value norm(Value x, double p, CallSite site = CallSite::here()) {
  return detail::norm_over(x, detail::axes_of<Axes...>(x, site), p, KeepDims::no);
}

/// |a - b + epsilon| of rows (..., width), which broadcast; an order of infinity is the greatest difference.
[[nodiscard]] TWILL_CONSTEXPR Value pairwise_distance(Value a, Value b, double p = 2, double epsilon = 1e-6,
                                                      KeepDims keep = KeepDims::no, CallSite site = CallSite::here()) {
  const Value difference = subtract(a, b, site);
  const int last = checked_axis(difference, -1, site);
  return detail::norm_over(difference + epsilon, 1u << last, p, keep);
}

/// The distances between all rows of a (..., m, width) and all of b (..., n, width): (..., m, n).
/// cost: m n width, no memory besides the result
[[nodiscard]] TWILL_CONSTEXPR Value cdist(Value a, Value b, double p = 2, CallSite site = CallSite::here()) {
  static_cast<void>(checked_axis(a, -2, site));
  static_cast<void>(checked_axis(b, -2, site));
  if (a.graph().fault.any()) return a;
  const Value difference = subtract(unsqueeze(a, -2, site), unsqueeze(b, -3, site), site);
  return detail::norm_over(difference, 1u << (difference.rank() - 1), p, KeepDims::no);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
