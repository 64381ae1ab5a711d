#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pseudo-inverses, least squares, ranks and condition numbers, from singular values. Values below max(m, n) eps times
// the largest count as zero, as in NumPy. Gradients of the pseudo-inverse are those of Golub and Pereyra (1973), which
// hold where the rank is constant, equal singular values or not.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/svd.hpp>
#include <twill/ops/matmul.hpp>

#include <limits>

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// Which singular values are not zero.
[[nodiscard]] TWILL_CONSTEXPR Value counts(Value s, const Extents& shape) {
  const Extent m = rows_of(shape);
  const Extent n = columns_of(shape);
  const Extent k = s.shape()[s.rank() - 1];
  const double epsilon = s.dtype() == DType::float64 ? std::numeric_limits<double>::epsilon()
                                                     : double{std::numeric_limits<float>::epsilon()};
  const Value largest = graph::constant(s.graph(), s.dtype(), epsilon) /
                        graph::constant(s.graph(), s.dtype(), 1, k == m ? n : m); // epsilon times the larger extent
  return s > max(s, {-1}, graph::KeepDims::yes) * largest;
}

/// dA = -P^T G P^T + (I - A P) G^T P P^T + P^T P G^T (I - P A).
TWILL_CONSTEXPR void pinv_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                              graph::InputGradients& gradients) {
  const Value p{graph, node};
  const Value a{graph, graph.node(node).input(1)};
  const Value pt = transpose(p);
  const Value g = Value{graph, cotangents[0]};
  const Value gt = transpose(g);
  const Value ap = matmul(a, p);
  const Value pa = matmul(p, a);
  const Value left = matmul(matmul(gt - matmul(ap, gt), p), pt);
  const Value right = matmul(pt, matmul(p, gt - matmul(gt, pa)));
  gradients.set(1, left + right - matmul(matmul(pt, g), pt));
}
inline constexpr graph::Operation pinv_rule{.name = "pinv", .vjp = &pinv_vjp, .batching = graph::Batching::stack};

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// The pseudo-inverses (..., n, m) of (..., m, n) by Moore and Penrose.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr Value pinv(Value a, CallSite site = CallSite::here()) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return a;
  const SVD<Value, Value, Value> parts = svd<P>(a, site);
  if (a.graph().fault.any()) return a;
  const Value counted = detail::counts(parts.S, a.shape());
  const Value inverse = where(counted, 1 / where(counted, parts.S, 1), 0);
  return with_rule(matmul(transpose(parts.Vh) * as_row(inverse), transpose(parts.U)), detail::pinv_rule, {a});
}

/// The solution of the least norm among those of least squares, and what the decomposition tells of A.
template <class Solution, class Rank, class Values> struct LeastSquares {
  Solution solution{};      ///< (..., n, k), or (n) for one right side
  Rank rank{};              ///< (...), int64
  Values singular_values{}; ///< (..., min(m, n))
};

/// X that minimises |A X - B| for A (..., m, n) of any rank and B (..., m, k), or (m) for one vector.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr LeastSquares<Value, Value, Value> lstsq(Value a, Value b, CallSite site = CallSite::here()) {
  const bool is_vector = b.rank() == 1;
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return {a, a, a};
  const detail::Sides sides = detail::fitting_sides(a, b, site);
  if (a.graph().fault.any()) return {a, a, a};
  const Value x = matmul(pinv<P>(sides.a, site), sides.b);
  const Value s = svdvals<P>(sides.a, site);
  return {is_vector ? squeeze(x, -1, site) : x, sum(cast(detail::counts(s, sides.a.shape()), DType::int64), {-1}), s};
}

/// The number of singular values that are not zero, int64.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr Value matrix_rank(Value a, CallSite site = CallSite::here()) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return a;
  const Value s = svdvals<P>(a, site);
  if (a.graph().fault.any()) return a;
  return sum(cast(detail::counts(stop_gradient(s), a.shape()), DType::int64), {-1});
}

/// The largest singular value over the smallest: how much a solution may amplify an error.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr Value cond(Value a, CallSite site = CallSite::here()) {
  const Value s = svdvals<P>(a, site);
  return max(s, {-1}) / min(s, {-1});
}

}}}} // namespace twill::v0::linalg::TWILL_ISA
