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
#include <twill/linalg/matrix_values.hpp>
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

/// dA = -P^H G P^H + (I - A P) G^H P P^H + P^H P G^H (I - P A).
template <MatrixValue V>
constexpr void pinv_vjp(Graph& graph, int node, const graph::Cotangents& cotangents, graph::InputGradients& gradients) {
  const V p = value_of<V>({graph, node});
  const V a = value_of<V>({graph, graph.node(node).input(1)});
  const V ph = adjoint(p);
  const V g = cotangent_of<V>(graph, cotangents, 0);
  const V gh = adjoint(g);
  const V ap = matmul(a, p);
  const V pa = matmul(p, a);
  const V left = matmul(matmul(gh - matmul(ap, gh), p), ph);
  const V right = matmul(ph, matmul(p, gh - matmul(gh, pa)));
  gradients.set(1, stored(left + right - matmul(matmul(ph, g), ph)));
}
template <MatrixValue V>
inline constexpr graph::Operation pinv_rule{.name = "pinv", .vjp = &pinv_vjp<V>, .batching = graph::Batching::stack};

/// Pseudo-inverses by the singular values beyond a cutoff.
template <Proportion P, MatrixValue V>
[[nodiscard]] constexpr V pinv_beyond(const V& a, const Cutoff& cutoff, CallSite site) {
  const SVD<V, Value, V> parts = svd_of<FullMatrices::no, P>(a, site);
  if (a.graph().fault.any()) return a;
  const Value counted = counts(parts.S, cutoff);
  const Value inverse = where(counted, 1 / where(counted, parts.S, 1), 0);
  const V p = matmul(adjoint(parts.Vh) * as_row(inverse), adjoint(parts.U));
  return value_of<V>(with_rule(stored(p), pinv_rule<V>, {stored(a)}));
}

template <Proportion P, MatrixValue V>
[[nodiscard]] constexpr LeastSquares<V, Value, Value> lstsq_beyond(const V& a, const V& b, const Cutoff& cutoff,
                                                                   CallSite site) {
  const Sides<V> sides = fitting_sides(a, b, site);
  if (a.graph().fault.any()) return {a, real_part(a), real_part(a)};
  const V x = matmul(pinv_beyond<P>(sides.a, cutoff, site), sides.b);
  const Value s = svd_of<FullMatrices::no, P>(sides.a, site).S;
  if (a.graph().fault.any()) return {a, real_part(a), real_part(a)};
  return {as_given(x, b.rank() == 1, site), sum(cast(counts(s, cutoff), DType::int64), {-1}), s};
}

template <Proportion P, MatrixValue V>
[[nodiscard]] constexpr Value rank_beyond(const V& a, const Cutoff& cutoff, CallSite site) {
  const Value s = svd_of<FullMatrices::no, P>(a, site).S;
  if (a.graph().fault.any()) return real_part(a);
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
