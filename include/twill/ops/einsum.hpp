#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Einstein summation, tensordot and other products of traced values, with the patterns of tensors' products
// (expr/pattern.hpp). Operands are multiplied from left to right; a pair is one matrix product, or arithmetic where no
// axis is summed. Gradients are those of these. Not in twill.hpp. Read next: ops/matmul.hpp.

#include <twill/core/axes.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/expr/pattern.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/ops/matmul.hpp>

#include <concepts>
#include <cstddef>
#include <utility>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// A value whose axes have labels, each label once.
struct LabelledValue {
  Value value{};
  expr::AxisLabels labels{};

  /// The axis of a label, -1 if there is none.
  [[nodiscard]] constexpr int axis_of(int label) const {
    for (int axis = 0; axis < labels.rank; ++axis)
      if (labels[axis] == label) return axis;
    return -1;
  }
  /// The extent of a label, one where there is none.
  [[nodiscard]] constexpr Extent extent_of(int label) const {
    const int axis = axis_of(label);
    return axis < 0 ? Extent{} : value.shape()[axis];
  }
};

/// Sums over the axes whose labels are not wanted.
[[nodiscard]] TWILL_CONSTEXPR LabelledValue summed(const LabelledValue& x, expr::LabelSet wanted) {
  LabelledValue kept{};
  unsigned axes = 0;
  for (int axis = 0; axis < x.labels.rank; ++axis) {
    if ((wanted >> x.labels[axis] & 1u) != 0)
      kept.labels.append(x.labels[axis]);
    else
      axes |= 1u << axis;
  }
  kept.value = axes == 0 ? x.value : reduce(Reduction::sum, summable(x.value), axes, KeepDims::no);
  return kept;
}

/// An operand with each label once: an axis with the label of an earlier one leaves the diagonal of both.
[[nodiscard]] TWILL_CONSTEXPR LabelledValue without_repeated_labels(Value x, expr::AxisLabels labels, CallSite site) {
  for (int axis = labels.rank - 1; axis > 0; --axis)
    for (int earlier = 0; earlier < axis; ++earlier) {
      if (labels[earlier] != labels[axis]) continue;
      Graph& graph = x.graph();
      const Extents shape = x.shape();
      if (!unify(graph, shape[earlier], shape[axis]))
        graph.refuse(Problem::einsum_letter_has_two_extents, shape[earlier].factor, shape[axis].factor, site);
      const auto place_on = [&](int position) {
        Extents line{}, along{};
        line.append(shape[position]);
        for (int i = 0; i < shape.rank; ++i) along.append(i == position ? shape[position] : Extent{});
        return reshape(iota(graph, line), along);
      };
      x = reduce(Reduction::sum, where(equal(place_on(earlier), place_on(axis)), x, 0), 1u << axis, KeepDims::no);
      for (int i = axis; i + 1 < labels.rank; ++i)
        labels.of[static_cast<std::size_t>(i)] = labels.of[static_cast<std::size_t>(i + 1)];
      --labels.rank;
      break;
    }
  return {x, labels};
}

/// The value with its axes in the order of labels, with axes of extent one for those that it lacks.
[[nodiscard]] TWILL_CONSTEXPR Value in_order(const LabelledValue& x, const expr::AxisLabels& order) {
  int source[max_rank]{};
  int found = 0;
  bool is_sorted = true;
  Extents shape{};
  for (int position = 0; position < order.rank; ++position) {
    const int axis = x.axis_of(order[position]);
    shape.append(axis < 0 ? Extent{} : x.value.shape()[axis]);
    if (axis < 0) continue;
    is_sorted = is_sorted && axis == found;
    source[found++] = axis;
  }
  const Value moved = is_sorted ? x.value : reordered(x.value, [&](int axis) { return source[axis]; });
  return reshape(moved, shape);
}

/// The product of two operands, summed over the labels that both have and that are not wanted.
[[nodiscard]] TWILL_CONSTEXPR LabelledValue multiplied(LabelledValue a, LabelledValue b, expr::LabelSet wanted) {
  const expr::LabelSet left = a.labels.set(), right = b.labels.set();
  a = summed(a, wanted | right);
  b = summed(b, wanted | left);
  const expr::LabelSet both = left & right;
  expr::AxisLabels batch{}, rows{}, columns{}, inner{};
  for (int axis = 0; axis < a.labels.rank; ++axis) {
    const int label = a.labels[axis];
    const bool is_shared = (both >> label & 1u) != 0, stays = (wanted >> label & 1u) != 0;
    (!is_shared ? rows : stays ? batch : inner).append(label);
  }
  for (int axis = 0; axis < b.labels.rank; ++axis)
    if ((both >> b.labels[axis] & 1u) == 0) columns.append(b.labels[axis]);
  const auto followed_by = [](expr::AxisLabels all, const expr::AxisLabels& more) {
    for (int i = 0; i < more.rank; ++i) all.append(more[i]);
    return all;
  };
  LabelledValue result{};
  result.labels = followed_by(followed_by(batch, rows), columns);
  if (inner.rank == 0) {
    result.value = multiply(in_order(a, result.labels), in_order(b, result.labels));
    return result;
  }
  const auto extent_of = [&](int label) {
    const Extent of_left = a.extent_of(label);
    return of_left.is_one() ? b.extent_of(label) : of_left;
  };
  const auto count_of = [&](const expr::AxisLabels& labels) {
    Extent count{};
    for (int i = 0; i < labels.rank; ++i) count = count * extent_of(labels[i]);
    return count;
  };
  // (batch..., rows, inner) times (batch..., inner, columns)
  const auto factor = [&](const LabelledValue& x, const expr::AxisLabels& first, const expr::AxisLabels& second) {
    const expr::AxisLabels order = followed_by(followed_by(batch, first), second);
    Extents whole{}, matrices{};
    for (int i = 0; i < order.rank; ++i) whole.append(extent_of(order[i]));
    for (int i = 0; i < batch.rank; ++i) matrices.append(whole[i]);
    matrices.append(count_of(first));
    matrices.append(count_of(second));
    return reshape(broadcast_to(in_order(x, order), whole), matrices);
  };
  const DType dtype = promote(a.value.dtype(), b.value.dtype());
  a.value = cast(a.value, dtype);
  b.value = cast(b.value, dtype);
  Extents shape{};
  for (int i = 0; i < result.labels.rank; ++i) shape.append(extent_of(result.labels[i]));
  result.value = reshape(matmul(factor(a, rows, inner), factor(b, inner, columns)), shape);
  return result;
}

/// The product of all operands of a pattern, summed over the labels that the result lacks.
[[nodiscard]] TWILL_CONSTEXPR Value product_of(const expr::Pattern& pattern, const Value* x, CallSite site) {
  Graph& graph = x[0].graph();
  if (pattern.fault != expr::PatternFault::none)
    graph.refuse(Problem::einsum_pattern_does_not_fit_its_operands, pattern.left, pattern.right, site);
  if (graph.fault.any()) return x[0];
  LabelledValue operands[expr::max_factors]{};
  for (int i = 0; i < pattern.count; ++i) operands[i] = without_repeated_labels(x[i], pattern[i], site);
  for (int i = 0; i < pattern.count; ++i)
    for (int earlier = 0; earlier < i; ++earlier)
      for (int axis = 0; axis < operands[i].labels.rank; ++axis) {
        const int label = operands[i].labels[axis];
        const Extent before = operands[earlier].extent_of(label), here = operands[i].value.shape()[axis];
        const bool stretches = (pattern.stretched >> label & 1u) != 0 && (before.is_one() || here.is_one());
        if (operands[earlier].axis_of(label) >= 0 && !stretches && !unify(graph, before, here))
          graph.refuse(Problem::einsum_letter_has_two_extents, before.factor, here.factor, site);
      }
  if (graph.fault.any()) return x[0];
  LabelledValue all = operands[0];
  for (int i = 1; i < pattern.count; ++i) {
    expr::LabelSet wanted = pattern.result.set();
    for (int later = i + 1; later < pattern.count; ++later) wanted |= operands[later].labels.set();
    all = multiplied(all, operands[i], wanted);
    if (graph.fault.any()) return x[0];
  }
  return in_order(summed(all, pattern.result.set()), pattern.result);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Products and sums by the letters of axes: `einsum<"bij,bjk->bik">(a, b)`, NumPy's einsum. Letters that the result
/// lacks are summed over, a letter twice in one operand is its diagonal, `...` means leading axes that broadcast.
/// errors: a pattern that does not fit the ranks, extents of one letter that differ
template <FixedString Pattern, std::convertible_to<Value>... X>
requires(sizeof...(X) >= 1 && sizeof...(X) <= expr::max_factors) [[nodiscard]] constexpr Value einsum(X... x) {
  const Value values[]{x...};
  const int ranks[]{static_cast<const Value&>(x).rank()...};
  return detail::product_of(expr::PatternReader{Pattern.view(), ranks, static_cast<int>(sizeof...(X))}.read(), values,
                            {});
}

/// Contracts the last `count` axes of a with the first of b; the others stay, those of a first.
/// errors: extents that differ, more axes than an operand has
[[nodiscard]] TWILL_CONSTEXPR Value tensordot(Value a, Value b, int count, CallSite site = CallSite::here()) {
  if (count < 0 || count > a.rank() || count > b.rank() || a.rank() + b.rank() - 2 * count > max_rank) {
    a.graph().refuse(Problem::axis_is_outside_the_rank, count, a.rank() < b.rank() ? a.rank() : b.rank(), site);
    return a;
  }
  int left[max_rank + 1]{}, right[max_rank + 1]{};
  for (int i = 0; i < count; ++i) {
    left[i] = a.rank() - count + i;
    right[i] = i;
  }
  const Value operands[]{a, b};
  return detail::product_of(expr::tensordot_pattern(a.rank(), b.rank(), count, left, right), operands, site);
}
/// Contracts the last Count axes of a with the first of b.
template <int Count = 2> [[nodiscard]] constexpr Value tensordot(Value a, Value b, CallSite site = CallSite::here()) {
  return tensordot(a, b, Count, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

template <int... A, int... B>
[[nodiscard]] constexpr Value tensordot_over(Axes<A...>, Axes<B...>, Value a, Value b, CallSite site) {
  static_assert(sizeof...(A) == sizeof...(B), "twill: tensordot: as many axes of the left operand as of the right one");
  const int left[]{checked_axis(a, A, site)..., -1};
  const int right[]{checked_axis(b, B, site)..., -1};
  const Value operands[]{a, b};
  if (a.graph().fault.any()) return a;
  return product_of(expr::tensordot_pattern(a.rank(), b.rank(), static_cast<int>(sizeof...(A)), left, right), operands,
                    site);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Contracts the named axes, pair by pair: `tensordot<Axes<1, 0>, Axes<0, 1>>(a, b)`.
template <class LeftAxes, class RightAxes>
[[nodiscard]] constexpr Value tensordot(Value a, Value b, CallSite site = CallSite::here()) {
  return detail::tensordot_over(LeftAxes{}, RightAxes{}, a, b, site);
}

/// Every element of a times every element of b, as a matrix; operands of other ranks are flattened.
[[nodiscard]] constexpr Value outer(Value a, Value b, CallSite site = CallSite::here()) {
  return multiply(unsqueeze(a.flatten(site), 1, site), b.flatten(site), site);
}
/// Contracts the last axes: `inner(a, b)` of matrices is a times b transposed.
[[nodiscard]] TWILL_CONSTEXPR Value inner(Value a, Value b, CallSite site = CallSite::here()) {
  if (a.rank() == 0 || b.rank() == 0) return multiply(a, b, site);
  const int left[]{a.rank() - 1}, right[]{b.rank() - 1};
  const Value operands[]{a, b};
  return detail::product_of(expr::tensordot_pattern(a.rank(), b.rank(), 1, left, right), operands, site);
}
/// NumPy's dot: contracts the last axis of a with the last but one of b, or with its only one.
[[nodiscard]] TWILL_CONSTEXPR Value dot(Value a, Value b, CallSite site = CallSite::here()) {
  if (a.rank() == 0 || b.rank() == 0) return multiply(a, b, site);
  const int left[]{a.rank() - 1}, right[]{b.rank() > 1 ? b.rank() - 2 : 0};
  const Value operands[]{a, b};
  return detail::product_of(expr::tensordot_pattern(a.rank(), b.rank(), 1, left, right), operands, site);
}
/// The dot products of the last axes; axes before them broadcast.
[[nodiscard]] TWILL_CONSTEXPR Value vecdot(Value a, Value b, CallSite site = CallSite::here()) {
  return sum(multiply(a, b, site), {-1}, KeepDims::no, site);
}
/// The products of two equally long stacks of matrices.
[[nodiscard]] TWILL_CONSTEXPR Value bmm(Value a, Value b, CallSite site = CallSite::here()) {
  for (const Value& stack : {a, b})
    if (stack.rank() != 3)
      stack.graph().refuse(Problem::bmm_needs_three_dimensions_on_both_sides, a.rank(), b.rank(), site);
  return a.graph().fault.any() ? a : matmul(a, b, site);
}
/// The Kronecker product of two matrices: blocks a(i, j) * b.
[[nodiscard]] TWILL_CONSTEXPR Value kron(Value a, Value b, CallSite site = CallSite::here()) {
  for (const Value& matrix : {a, b})
    if (matrix.rank() != 2) a.graph().refuse(Problem::matrix_needs_two_axes, matrix.rank(), 2, site);
  if (a.graph().fault.any()) return a;
  const Value blocks = multiply(unsqueeze(unsqueeze(a, 1), 3), unsqueeze(unsqueeze(b, 0), 2), site);
  return flatten(flatten(blocks, 2, 3), 0, 1);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
