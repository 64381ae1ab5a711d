#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// QR decompositions, reduced and complete: A = Q R by Householder reflections; the diagonal of R is real. Gradients are
// those of Seeger et al. (2017), of wide matrices too; A has full rank for them. Read next: linalg/svd.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/cholesky.hpp>
#include <twill/linalg/matrix_values.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/slice.hpp>

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

/// dA = (dQ + Q (F + F^H, with half its diagonal)) R^-H with F the upper triangle of dR R^H - Q^H dQ, for m >= n.
template <MatrixValue V> [[nodiscard]] constexpr V gradient_of_tall(const V& q, const V& r, const V& dq, const V& dr) {
  const V f = upper_part(matmul(dr, adjoint(r)) - matmul(adjoint(q), dq));
  const V right = dq + matmul(q, with_half_diagonal(f + adjoint(f)));
  return adjoint(solve_with_triangle(r, adjoint(right), {.triangle = UpLo::upper}));
}

/// Columns of matrices from `begin` to `end`.
template <MatrixValue V> [[nodiscard]] constexpr V columns_between(const V& a, std::int64_t begin, std::int64_t end) {
  return each_part(a, [&](Value part) { return slice_axis(part, part.rank() - 1, {.begin = begin, .end = end}); });
}

template <MatrixValue V>
constexpr void qr_vjp(Graph& graph, int node, const graph::Cotangents& cotangents, graph::InputGradients& gradients) {
  const Value call{graph, node};
  const V q = value_of<V>(call);
  const V a = value_of<V>({graph, graph.node(node).input(0)});
  const Extents shape = a.shape();
  const Extent n = columns_of(shape);
  const Extent k = columns_of(q.shape());
  const V r = value_of<V>(add_result(call, 1, part_type(a), stored_shape<V>(with_matrix(shape, k, n))));
  V dq = cotangents[0] >= 0 ? cotangent_of<V>(graph, cotangents, 0) : q * 0;
  const V dr = cotangents[1] >= 0 ? cotangent_of<V>(graph, cotangents, 1) : r * 0;
  if (n == k) return gradients.set(0, stored(gradient_of_tall(q, r, dq, dr)));
  // A = [X Y], R = [U V]: Q U = X and V = Q^H Y.
  const auto first = [&](const V& x) { return columns_between(x, 0, k.factor); };
  const auto other = [&](const V& x) { return columns_between(x, k.factor, n.factor); };
  const V dv = other(dr);
  dq = dq + matmul(other(a), adjoint(dv));
  gradients.set(
      0, stored(graph::concatenate({gradient_of_tall(q, first(r), dq, first(dr)), matmul(q, dv)}, a.rank() - 1)));
}
inline constexpr graph::Operation qr_operation{.name = "qr",
                                               .vjp = &qr_vjp<Value>,
                                               .results = 2,
                                               .wants_dense = true,
                                               .batching = graph::Batching::stack,
                                               .working_bytes = &qr_bytes};
inline constexpr graph::Operation complex_qr_operation{.name = "complex_qr",
                                                       .vjp = &qr_vjp<ComplexValue>,
                                                       .results = 2,
                                                       .wants_dense = true,
                                                       .batching = graph::Batching::stack};

/// Q of matrices, the result 0 of the operation, with k columns.
template <MatrixValue V> [[nodiscard]] constexpr Value orthonormal_of(const V& a, Extent k) {
  return add_operation(operation_of<V, qr_operation, complex_qr_operation>(), {stored(a)}, part_type(a),
                       stored_shape<V>(with_matrix(a.shape(), rows_of(a.shape()), k)));
}

/// The first k columns of the identity of order m, in the type of q (..., m, k).
[[nodiscard]] TWILL_CONSTEXPR Value first_columns(Value q) {
  return cast(on_diagonal(q.graph(), rows_of(q.shape()), columns_of(q.shape())), q.dtype());
}

/// With N the columns that were added, dQ = dF's first columns - N dN^H Q: for functions that do not depend on the
/// choice of N.
template <MatrixValue V>
constexpr void completed_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                             graph::InputGradients& gradients) {
  const V full = value_of<V>({graph, node});
  const V q = value_of<V>({graph, graph.node(node).input(1)});
  const V g = cotangent_of<V>(graph, cotangents, 0);
  const Value first = first_columns(real_part(q));
  const V added = full * (1 - as_row(sum(first, {-1})));
  gradients.set(1, stored(matmul(g, first) - matmul(added, matmul(adjoint(g), q))));
}
template <MatrixValue V>
inline constexpr graph::Operation completed_rule{
    .name = "completed_basis", .vjp = &completed_vjp<V>, .batching = graph::Batching::stack};

/// Orthonormal columns (..., m, k), and m - k more behind them: the reflections that make [Q 0] triangular.
template <MatrixValue V> [[nodiscard]] constexpr V completed_basis(const V& q) {
  const Value first = first_columns(real_part(q));
  const V padded = matmul(q, transpose(first));
  const V whole = value_of<V>(orthonormal_of(padded, rows_of(q.shape())));
  const V full = where(as_row(sum(first, {-1})) > 0, padded, whole);
  return value_of<V>(with_rule(stored(full), completed_rule<V>, {stored(q)}));
}

template <FullMatrices Full, Proportion P, MatrixValue V> [[nodiscard]] constexpr QR<V, V> qr_of(V a, CallSite site) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return {a, a};
  const Extents shape = a.shape();
  const Extent k = smaller_extent<P>(real_part(a), site);
  if (a.graph().fault.any()) return {a, a};
  const Value call = orthonormal_of(a, k);
  const V q = value_of<V>(call);
  const V r = value_of<V>(add_result(call, 1, part_type(a), stored_shape<V>(with_matrix(shape, k, columns_of(shape)))));
  if (Full == FullMatrices::no || rows_of(shape) == k) return {q, r};
  return {completed_basis(q), matmul(first_columns(real_part(q)), r)};
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// The reduced decomposition of (..., m, n).
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr QR<Value, Value> qr(Value a, CallSite site = CallSite::here()) {
  return detail::qr_of<FullMatrices::no, P>(a, site);
}

/// The decomposition with a square Q (..., m, m), if told so, and R (..., m, n): NumPy's and PyTorch's mode "complete".
/// Its gradient is that of functions that do not depend on the choice of the columns that complete Q.
template <FullMatrices Full, Proportion P = Proportion::known>
[[nodiscard]] constexpr QR<Value, Value> qr(Value a, CallSite site = CallSite::here()) {
  return detail::qr_of<Full, P>(a, site);
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

template <>
struct KernelOf<&linalg::detail::complex_qr_operation>
    : linalg::detail::ComplexKernel<&linalg::detail::qr_operation, true, true, true> {};

}}} // namespace twill::v0::TWILL_ISA
