#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of traced values. In the graph a reduction takes one axis and keeps it with extent one; several axes are a
// chain from last to first, which the fuser turns into row and column programs. Read next: graph/derivatives.hpp.

#include <twill/core/axes.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/elementwise/rows.hpp>
#include <twill/graph/functions.hpp>

namespace twill { inline namespace v0 { namespace graph {

/// Whether a reduced axis stays with extent one or disappears.
enum class KeepDims : bool { no, yes };

namespace detail {

[[nodiscard]] TWILL_CONSTEXPR Value reduce_axis(Reduction reduction, Value value, int axis) {
  const Node& source = value.node();
  if (source.shape[axis].is_one()) return value;
  Node node{};
  node.kind = Kind::reduce;
  node.reduction = reduction;
  node.dtype = source.dtype;
  node.shape = source.shape;
  node.shape[axis] = {};
  node.axis = static_cast<std::int8_t>(axis);
  node.arity = 1;
  node.inputs[0] = value.id();
  return {value.graph(), value.graph().add(node)};
}

[[nodiscard]] TWILL_CONSTEXPR unsigned axis_set(Value value, std::initializer_list<int> axes, CallSite site) {
  unsigned set = 0;
  for (int axis : axes) {
    const unsigned bit = 1u << checked_axis(value, axis, site);
    if ((set & bit) != 0) value.graph().refuse(Problem::axis_is_named_twice, axis, value.rank(), site);
    set |= bit;
  }
  return set;
}

[[nodiscard]] constexpr unsigned all_axes(Value value) { return (1u << value.rank()) - 1; }

/// Sums of integers and truth values are int64.
[[nodiscard]] constexpr Value summable(Value value) { return autocast_to_wide(cast(value, sum_type(value.dtype()))); }

} // namespace detail

/// A reduction over a set of axes, by their bits.
[[nodiscard]] TWILL_CONSTEXPR Value reduce(Reduction reduction, Value value, unsigned axes, KeepDims keep) {
  for (int axis = value.rank() - 1; axis >= 0; --axis)
    if ((axes >> axis & 1u) != 0) value = detail::reduce_axis(reduction, value, axis);
  if (keep == KeepDims::yes) return value;
  Extents shape{};
  const Extents kept = value.shape();
  for (int axis = 0; axis < kept.rank; ++axis)
    if ((axes >> axis & 1u) == 0) shape.append(kept[axis]);
  return reshape(value, shape);
}

/// The mean over a set of axes, by their bits, in float32 at least.
[[nodiscard]] TWILL_CONSTEXPR Value mean_over(Value value, unsigned axes, KeepDims keep) {
  const Value operand = is_floating(value.dtype()) ? detail::autocast_to_wide(value) : cast(value, DType::float32);
  Extent count{};
  const Extents shape = operand.shape();
  for (int axis = 0; axis < shape.rank; ++axis)
    if ((axes >> axis & 1u) != 0) count = count * shape[axis];
  const Value total = reduce(Reduction::sum, operand, axes, keep);
  return total * constant(value.graph(), operand.dtype(), 1.0, count);
}

namespace detail {

[[nodiscard]] TWILL_CONSTEXPR Value variance_over(Value x, unsigned axes, double correction, KeepDims keep) {
  const Value biased = mean_over(square(x - mean_over(x, axes, KeepDims::yes)), axes, keep);
  if (correction == 0) return biased;
  double count = 1;
  const int rank = x.rank();
  for (int axis = 0; axis < rank; ++axis)
    if ((axes >> axis & 1u) != 0) count *= static_cast<double>(x.size(axis));
  return biased * (count / (count - correction));
}

/// The axes in angle brackets, all of them where there are none.
template <int... Axes> [[nodiscard]] constexpr unsigned axes_of(Value x, CallSite site) {
  if constexpr (sizeof...(Axes) == 0) return all_axes(x);
  return axis_set(x, {Axes...}, site);
}

template <ReducedDims K> inline constexpr KeepDims keep_of = K::keeps ? KeepDims::yes : KeepDims::no;

} // namespace detail

/// Sum over the given axes (negative: from the end).
[[nodiscard]] TWILL_CONSTEXPR Value sum(Value x, std::initializer_list<int> axes, KeepDims keep = KeepDims::no,
                                        CallSite site = CallSite::here()) {
  return reduce(Reduction::sum, detail::summable(x), detail::axis_set(x, axes, site), keep);
}

/// Mean over the given axes.
[[nodiscard]] TWILL_CONSTEXPR Value mean(Value x, std::initializer_list<int> axes, KeepDims keep = KeepDims::no,
                                         CallSite site = CallSite::here()) {
  return mean_over(x, detail::axis_set(x, axes, site), keep);
}

/// Largest element over the given axes; NaN wins.
[[nodiscard]] TWILL_CONSTEXPR Value max(Value x, std::initializer_list<int> axes, KeepDims keep = KeepDims::no,
                                        CallSite site = CallSite::here()) {
  return reduce(Reduction::max, x, detail::axis_set(x, axes, site), keep);
}

/// Smallest element over the given axes; NaN wins.
[[nodiscard]] TWILL_CONSTEXPR Value min(Value x, std::initializer_list<int> axes, KeepDims keep = KeepDims::no,
                                        CallSite site = CallSite::here()) {
  return reduce(Reduction::min, x, detail::axis_set(x, axes, site), keep);
}

/// Product over the given axes.
[[nodiscard]] TWILL_CONSTEXPR Value prod(Value x, std::initializer_list<int> axes, KeepDims keep = KeepDims::no,
                                         CallSite site = CallSite::here()) {
  return reduce(Reduction::product, detail::summable(x), detail::axis_set(x, axes, site), keep);
}

/// Mean squared distance from the mean, divided by N - correction (0: NumPy's default, 1: PyTorch's).
[[nodiscard]] TWILL_CONSTEXPR Value var(Value x, std::initializer_list<int> axes, double correction = 0,
                                        KeepDims keep = KeepDims::no, CallSite site = CallSite::here()) {
  return detail::variance_over(x, detail::axis_set(x, axes, site), correction, keep);
}

// Axes in angle brackets, as for tensors: `sum<1>(x)`, `mean<0, 2>(x, keepdims)`, `max(x)`.

/// The sum; integers and truth values become int64.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value sum(Value x, K = {}, CallSite site = CallSite::here()) {
  return reduce(Reduction::sum, detail::summable(x), detail::axes_of<Axes...>(x, site), detail::keep_of<K>);
}
/// The product; integers and truth values become int64.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value prod(Value x, K = {}, CallSite site = CallSite::here()) {
  return reduce(Reduction::product, detail::summable(x), detail::axes_of<Axes...>(x, site), detail::keep_of<K>);
}
/// The greatest element; NaN if there is one.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value max(Value x, K = {}, CallSite site = CallSite::here()) {
  return reduce(Reduction::max, x, detail::axes_of<Axes...>(x, site), detail::keep_of<K>);
}
/// The least element; NaN if there is one.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value min(Value x, K = {}, CallSite site = CallSite::here()) {
  return reduce(Reduction::min, x, detail::axes_of<Axes...>(x, site), detail::keep_of<K>);
}
/// The mean.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value mean(Value x, K = {}, CallSite site = CallSite::here()) {
  return mean_over(x, detail::axes_of<Axes...>(x, site), detail::keep_of<K>);
}
/// The variance with divisor n - c: `var<0>(x, correction<1>)`.
template <int... Axes, int C = 0>
[[nodiscard]] constexpr Value var(Value x, Correction<C> = {}, CallSite site = CallSite::here()) {
  return detail::variance_over(x, detail::axes_of<Axes...>(x, site), C, KeepDims::no);
}
template <int... Axes, int C = 0>
[[nodiscard]] constexpr Value var(Value x, KeptDims, Correction<C> = {}, CallSite site = CallSite::here()) {
  return detail::variance_over(x, detail::axes_of<Axes...>(x, site), C, KeepDims::yes);
}
/// The root of the variance, whose gradient is infinite where that is 0.
template <int... Axes, int C = 0>
[[nodiscard]] constexpr Value stddev(Value x, Correction<C> = {}, CallSite site = CallSite::here()) {
  return sqrt(detail::variance_over(x, detail::axes_of<Axes...>(x, site), C, KeepDims::no));
}
template <int... Axes, int C = 0>
[[nodiscard]] constexpr Value stddev(Value x, KeptDims, Correction<C> = {}, CallSite site = CallSite::here()) {
  return sqrt(detail::variance_over(x, detail::axes_of<Axes...>(x, site), C, KeepDims::yes));
}
/// The distance between the greatest and the least element.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value ptp(Value x, K keep = {}, CallSite site = CallSite::here()) {
  return max<Axes...>(x, keep, site) - min<Axes...>(x, keep, site);
}
/// The number of elements that are not zero.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value count_nonzero(Value x, K keep = {}, CallSite site = CallSite::here()) {
  return sum<Axes...>(not_equal(x, 0), keep, site);
}

/// Whether any element is not zero.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value any(Value x, K keep = {}, CallSite site = CallSite::here()) {
  return not_equal(count_nonzero<Axes...>(x, keep, site), 0);
}
/// Whether no element is zero.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value all_of(Value x, K keep = {}, CallSite site = CallSite::here()) {
  return equal(sum<Axes...>(equal(x, 0), keep, site), 0);
}

/// Reductions along one axis, which stays with extent one, for the formulas of elementwise/rows.hpp.
struct AlongAxis {
  int axis = -1;   ///< negative: from the end
  CallSite site{}; ///< for messages

  /// The sum of each row.
  [[nodiscard]] constexpr Value sum(Value x) const { return graph::sum(x, {axis}, KeepDims::yes, site); }
  /// The mean of each row.
  [[nodiscard]] constexpr Value mean(Value x) const { return graph::mean(x, {axis}, KeepDims::yes, site); }
  /// The largest element of each row.
  [[nodiscard]] constexpr Value max(Value x) const { return graph::max(x, {axis}, KeepDims::yes, site); }
  /// The value, through which no gradient flows.
  [[nodiscard]] static constexpr Value fixed(Value x) { return stop_gradient(x); }
};

}}} // namespace twill::v0::graph
