#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// QR decompositions, reduced and complete: A = Q R by Householder reflections. Gradients are those of Seeger et al.
// (2017), of wide matrices too; A has full rank for them. Read next: linalg/svd.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/cholesky.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/slice.hpp>
#include <twill/ops/triangles.hpp>

#include <algorithm>
#include <cstdint>

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// Whether orthonormal factors get the columns that complete their basis: NumPy's and PyTorch's `full_matrices` and
/// mode "complete".
enum class FullMatrices : bool { no, yes };

/// The factors of (..., m, n), with k the smaller of m and n, or k = m.
template <class Orthonormal, class Upper> struct QR {
  Orthonormal Q{}; ///< (..., m, k), orthonormal columns
  Upper R{};       ///< (..., k, n), zeros below the diagonal
};

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// dA = (dQ + Q (F + F^T - diag F)) R^-T with F the upper triangle of dR R^T - Q^T dQ, for m >= n.
[[nodiscard]] TWILL_CONSTEXPR Value gradient_of_tall(Value q, Value r, Value dq, Value dr) {
  const Value f = triu(matmul(dr, transpose(r)) - matmul(transpose(q), dq));
  const Value whole = where(on_diagonal(f), f, f + transpose(f));
  const Value right = dq + matmul(q, whole);
  return transpose(solve_with_triangle(r, transpose(right), {.triangle = UpLo::upper}));
}

TWILL_CONSTEXPR void qr_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                            graph::InputGradients& gradients) {
  const Value q{graph, node};
  const Value a{graph, graph.node(node).input(0)};
  const Extents& shape = a.shape();
  const Extent n = columns_of(shape);
  const Extent k = columns_of(q.shape());
  const Value r = add_result(q, 1, q.dtype(), with_matrix(shape, k, n));
  Value dq = cotangents[0] >= 0 ? Value{graph, cotangents[0]} : q * 0;
  const Value dr = cotangents[1] >= 0 ? Value{graph, cotangents[1]} : r * 0;
  if (n == k) return gradients.set(0, gradient_of_tall(q, r, dq, dr));
  // A = [X Y], R = [U V]: Q U = X and V = Q^T Y.
  const int last = a.rank() - 1;
  const auto first_columns = [&](Value x) { return slice_axis(x, last, {.begin = 0, .end = k.factor}); };
  const auto other_columns = [&](Value x) { return slice_axis(x, last, {.begin = k.factor, .end = n.factor}); };
  const Value dv = other_columns(dr);
  dq = dq + matmul(other_columns(a), transpose(dv));
  gradients.set(
      0, graph::concatenate({gradient_of_tall(q, first_columns(r), dq, first_columns(dr)), matmul(q, dv)}, last));
}
inline constexpr graph::Operation qr_operation{.name = "qr",
                                               .vjp = &qr_vjp,
                                               .results = 2,
                                               .wants_dense = true,
                                               .batching = graph::Batching::stack,
                                               .working_bytes = &qr_bytes};

/// The first k columns of the identity of order m, in the type of q (..., m, k).
[[nodiscard]] TWILL_CONSTEXPR Value first_columns(Value q) {
  return cast(on_diagonal(q.graph(), rows_of(q.shape()), columns_of(q.shape())), q.dtype());
}

/// With N the columns that were added, dQ = dF's first columns - N dN^T Q: for functions that do not depend on the
/// choice of N.
TWILL_CONSTEXPR void completed_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                   graph::InputGradients& gradients) {
  const Value full{graph, node};
  const Value q{graph, graph.node(node).input(1)};
  const Value g{graph, cotangents[0]};
  const Value first = first_columns(q);
  const Value added = full * (1 - as_row(sum(first, {-1})));
  gradients.set(1, matmul(g, first) - matmul(added, matmul(transpose(g), q)));
}
inline constexpr graph::Operation completed_rule{
    .name = "completed_basis", .vjp = &completed_vjp, .batching = graph::Batching::stack};

/// Orthonormal columns (..., m, k), and m - k more behind them: the reflections that make [Q 0] triangular.
[[nodiscard]] TWILL_CONSTEXPR Value completed_basis(Value q) {
  const Extent m = rows_of(q.shape());
  const Value first = first_columns(q);
  const Value padded = matmul(q, transpose(first));
  const Value whole = add_operation(qr_operation, {padded}, q.dtype(), with_matrix(q.shape(), m, m));
  return with_rule(where(as_row(sum(first, {-1})) > 0, padded, whole), completed_rule, {q});
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// The reduced decomposition of (..., m, n).
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr QR<Value, Value> qr(Value a, CallSite site = CallSite::here()) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return {a, a};
  const Extents shape = a.shape();
  const Extent k = smaller_extent<P>(a, site);
  if (a.graph().fault.any()) return {a, a};
  const Value q = add_operation(detail::qr_operation, {a}, a.dtype(), with_matrix(shape, rows_of(shape), k));
  return {q, add_result(q, 1, a.dtype(), with_matrix(shape, k, columns_of(shape)))};
}

/// The decomposition with a square Q (..., m, m), if told so, and R (..., m, n): NumPy's and PyTorch's mode "complete".
/// Its gradient is that of functions that do not depend on the choice of the columns that complete Q.
template <FullMatrices Full, Proportion P = Proportion::known>
[[nodiscard]] constexpr QR<Value, Value> qr(Value a, CallSite site = CallSite::here()) {
  const QR<Value, Value> parts = qr<P>(a, site);
  if (Full == FullMatrices::no || a.graph().fault.any()) return parts;
  const Value q = parts.Q;
  if (rows_of(q.shape()) == columns_of(q.shape())) return parts;
  return {detail::completed_basis(q), matmul(detail::first_columns(q), parts.R)};
}

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <>
struct KernelOf<&linalg::detail::qr_operation> : linalg::detail::QueueKernel<&linalg::detail::qr_operation> {
  using ForQueues::run;

  template <class T> static void run(const Team& team, const kernel::Launch& launch) {
    const linalg::detail::Stack stack = linalg::detail::matrices_of(launch.shapes[0]);
    const std::int64_t m = stack.rows;
    const std::int64_t n = stack.columns;
    const std::int64_t k = linalg::detail::checked_smaller("qr", stack, launch.shapes[1][launch.shapes[1].rank - 1]);
    const auto* from = static_cast<const T*>(launch.operands[0].data);
    auto* q = static_cast<T*>(launch.operands[1].data);
    auto* r = static_cast<T*>(launch.operands[2].data);
    const std::int64_t work = linalg::detail::Lapack<T>::lq_workspace(n, m);
    linalg::detail::for_each_matrix(team, stack, [&](std::int64_t i) {
      // To LAPACK the matrix is A^T = R^T Q^T: R^T is the L of its LQ decomposition.
      T* const memory = linalg::detail::Workspace<T>(m * n + k + work, 0).elements;
      T* const a = memory;
      T* const tau = a + m * n;
      std::copy(from + i * m * n, from + (i + 1) * m * n, a);
      linalg::detail::Lapack<T>::gelqf(n, m, a, tau, tau + k, work);
      if (r != nullptr)
        for (std::int64_t row = 0; row < k; ++row) {
          T* const to = r + (i * k + row) * n;
          std::fill(to, to + row, T{0});
          std::copy(a + row * n + row, a + (row + 1) * n, to + row);
        }
      linalg::detail::Lapack<T>::orglq(k, m, k, a, n, tau, tau + k, work);
      for (std::int64_t row = 0; row < m; ++row) std::copy(a + row * n, a + row * n + k, q + (i * m + row) * k);
    });
  }
  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    const linalg::detail::Stack stack = linalg::detail::matrices_of(launch.shapes[0]);
    linalg::detail::Workspace<T>::reserve(team,
                                          stack.rows * stack.columns + std::min(stack.rows, stack.columns) +
                                              linalg::detail::Lapack<T>::lq_workspace(stack.columns, stack.rows),
                                          0);
  }
};

}}} // namespace twill::v0::TWILL_ISA
