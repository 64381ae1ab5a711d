#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pseudo-inverses, least squares and ranks, from singular values. Values below max(m, n) eps times the largest count as
// zero, as in NumPy and PyTorch, or below what a `Tolerance` says. Gradients of the pseudo-inverse are those of Golub
// and Pereyra (1973), which hold where the rank is constant, equal singular values or not.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/svd.hpp>
#include <twill/linalg/triangular.hpp>
#include <twill/ops/matmul.hpp>

#include <limits>
#include <optional>

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// Singular values that count as zero: those not above the larger of `atol` and `rtol` times the largest one, by
/// PyTorch's names. NumPy's `rcond` is `rtol`, its `tol` is `atol`.
struct Tolerance {
  double atol = 0;              ///< absolute
  std::optional<double> rtol{}; ///< by default the larger extent times the type's epsilon, or 0 beside an `atol`
};

/// The solution of the least norm among those of least squares, and what the decomposition tells of A.
template <class Solution, class Rank, class Values> struct LeastSquares {
  Solution solution{};      ///< (..., n, k), or (n) for one right side
  Rank rank{};              ///< (...), int64
  Values singular_values{}; ///< (..., min(m, n))
};

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// Numbers of a graph for a tolerance.
struct Cutoff {
  Value absolute{};
  Value relative{};
};

[[nodiscard]] TWILL_CONSTEXPR double epsilon_of(DType dtype) {
  return dtype == DType::float64 ? std::numeric_limits<double>::epsilon()
                                 : double{std::numeric_limits<float>::epsilon()};
}

/// The tolerance for matrices of a shape and type.
[[nodiscard]] TWILL_CONSTEXPR Cutoff cutoff_of(const Tolerance& tolerance, Value a, Extent larger) {
  const auto number = [&](double value) { return graph::constant(a.graph(), a.dtype(), value); };
  if (tolerance.rtol || tolerance.atol > 0) return {number(tolerance.atol), number(tolerance.rtol.value_or(0))};
  return {number(0), number(epsilon_of(a.dtype())) / graph::constant(a.graph(), a.dtype(), 1, larger)};
}
template <Proportion P> [[nodiscard]] constexpr Cutoff cutoff_of(const Tolerance& tolerance, Value a, CallSite site) {
  const Extent m = rows_of(a.shape());
  return cutoff_of(tolerance, a, smaller_extent<P>(a, site) == m ? columns_of(a.shape()) : m);
}

/// Which singular values are not zero.
[[nodiscard]] TWILL_CONSTEXPR Value counts(Value s, const Cutoff& cutoff) {
  return s > maximum(cutoff.absolute, max(s, {-1}, graph::KeepDims::yes) * cutoff.relative);
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

/// Pseudo-inverses by the singular values beyond a cutoff.
template <Proportion P> [[nodiscard]] constexpr Value pinv_beyond(Value a, const Cutoff& cutoff, CallSite site) {
  const SVD<Value, Value, Value> parts = svd<P>(a, site);
  if (a.graph().fault.any()) return a;
  const Value counted = counts(parts.S, cutoff);
  const Value inverse = where(counted, 1 / where(counted, parts.S, 1), 0);
  return with_rule(matmul(transpose(parts.Vh) * as_row(inverse), transpose(parts.U)), pinv_rule, {a});
}

template <Proportion P>
[[nodiscard]] constexpr LeastSquares<Value, Value, Value> lstsq_beyond(Value a, Value b, const Cutoff& cutoff,
                                                                       CallSite site) {
  const bool is_vector = b.rank() == 1;
  const Sides sides = fitting_sides(a, b, site);
  if (a.graph().fault.any()) return {a, a, a};
  const Value x = matmul(pinv_beyond<P>(sides.a, cutoff, site), sides.b);
  const Value s = svdvals<P>(sides.a, site);
  if (a.graph().fault.any()) return {a, a, a};
  return {is_vector ? squeeze(x, -1, site) : x, sum(cast(counts(s, cutoff), DType::int64), {-1}), s};
}

template <Proportion P> [[nodiscard]] constexpr Value rank_beyond(Value a, const Cutoff& cutoff, CallSite site) {
  const Value s = svdvals<P>(a, site);
  if (a.graph().fault.any()) return a;
  return sum(cast(counts(stop_gradient(s), cutoff), DType::int64), {-1});
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// The pseudo-inverses (..., n, m) of (..., m, n) by Moore and Penrose.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr Value pinv(Value a, const Tolerance& tolerance = {}, CallSite site = CallSite::here()) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return a;
  return detail::pinv_beyond<P>(a, detail::cutoff_of<P>(tolerance, a, site), site);
}

/// X that minimises |A X - B| for A (..., m, n) of any rank and B (..., m, k), or (m) for one vector.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr LeastSquares<Value, Value, Value> lstsq(Value a, Value b, const Tolerance& tolerance = {},
                                                                CallSite site = CallSite::here()) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return {a, a, a};
  if (is_floating(b.dtype())) a = cast(a, promote(a.dtype(), b.dtype()));
  return detail::lstsq_beyond<P>(a, b, detail::cutoff_of<P>(tolerance, a, site), site);
}

/// The number of singular values that are not zero, int64.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr Value matrix_rank(Value a, const Tolerance& tolerance = {}, CallSite site = CallSite::here()) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return a;
  return detail::rank_beyond<P>(a, detail::cutoff_of<P>(tolerance, a, site), site);
}

}}}} // namespace twill::v0::linalg::TWILL_ISA
