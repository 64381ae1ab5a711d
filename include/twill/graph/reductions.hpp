#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of traced values. In the graph a reduction takes one axis and keeps it with extent one; several axes are a
// chain from last to first, which the fuser turns into row and column programs. Read next: graph/derivatives.hpp.

#include <twill/core/config.hpp>
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

[[nodiscard]] TWILL_CONSTEXPR unsigned axis_set(Value value, std::initializer_list<int> axes, int line) {
  unsigned set = 0;
  for (int axis : axes) {
    const unsigned bit = 1u << checked_axis(value, axis, line);
    if ((set & bit) != 0) value.graph().refuse(Problem::axis_is_named_twice, axis, value.rank(), line);
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

/// Sum over the given axes (negative: from the end), or over all of them.
[[nodiscard]] TWILL_CONSTEXPR Value sum(Value x, std::initializer_list<int> axes, KeepDims keep = KeepDims::no,
                                        int line = __builtin_LINE()) {
  return reduce(Reduction::sum, detail::summable(x), detail::axis_set(x, axes, line), keep);
}
[[nodiscard]] TWILL_CONSTEXPR Value sum(Value x) {
  return reduce(Reduction::sum, detail::summable(x), detail::all_axes(x), KeepDims::no);
}

/// Mean over the given axes, or over all of them.
[[nodiscard]] TWILL_CONSTEXPR Value mean(Value x, std::initializer_list<int> axes, KeepDims keep = KeepDims::no,
                                         int line = __builtin_LINE()) {
  return mean_over(x, detail::axis_set(x, axes, line), keep);
}
[[nodiscard]] constexpr Value mean(Value x) { return mean_over(x, detail::all_axes(x), KeepDims::no); }

/// Largest element over the given axes, or over all of them; NaN wins.
[[nodiscard]] TWILL_CONSTEXPR Value max(Value x, std::initializer_list<int> axes, KeepDims keep = KeepDims::no,
                                        int line = __builtin_LINE()) {
  return reduce(Reduction::max, x, detail::axis_set(x, axes, line), keep);
}
[[nodiscard]] TWILL_CONSTEXPR Value max(Value x) {
  return reduce(Reduction::max, x, detail::all_axes(x), KeepDims::no);
}

/// Smallest element over the given axes, or over all of them; NaN wins.
[[nodiscard]] TWILL_CONSTEXPR Value min(Value x, std::initializer_list<int> axes, KeepDims keep = KeepDims::no,
                                        int line = __builtin_LINE()) {
  return reduce(Reduction::min, x, detail::axis_set(x, axes, line), keep);
}
[[nodiscard]] TWILL_CONSTEXPR Value min(Value x) {
  return reduce(Reduction::min, x, detail::all_axes(x), KeepDims::no);
}

/// Product over the given axes, or over all of them.
[[nodiscard]] TWILL_CONSTEXPR Value prod(Value x, std::initializer_list<int> axes, KeepDims keep = KeepDims::no,
                                         int line = __builtin_LINE()) {
  return reduce(Reduction::product, detail::summable(x), detail::axis_set(x, axes, line), keep);
}
[[nodiscard]] TWILL_CONSTEXPR Value prod(Value x) {
  return reduce(Reduction::product, detail::summable(x), detail::all_axes(x), KeepDims::no);
}

/// Mean squared distance from the mean, divided by N - correction (0: NumPy's default, 1: PyTorch's).
[[nodiscard]] TWILL_CONSTEXPR Value var(Value x, std::initializer_list<int> axes, double correction = 0,
                                        KeepDims keep = KeepDims::no, int line = __builtin_LINE()) {
  const Value deviation = x - mean(x, axes, KeepDims::yes, line);
  const Value biased = mean(square(deviation), axes, keep, line);
  if (correction == 0) return biased;
  double count = 1;
  for (int axis : axes) count *= static_cast<double>(x.size(axis, line));
  return biased * (count / (count - correction));
}

}}} // namespace twill::v0::graph
