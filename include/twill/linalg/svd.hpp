#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Singular value decompositions: A = U diag(S) V^H. Gradients of the vectors divide by differences of squared singular
// values, and have a sense for functions that do not depend on the signs of vectors (Townsend, 2016), or of complex
// ones on the phase that u_i and v_i share; those of S alone are finite always. Read next: linalg/least_squares.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/eigh.hpp>
#include <twill/linalg/matrix_values.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/ops/matmul.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// The factors of (..., m, n), with k the smaller of m and n; `FullMatrices::yes` makes U and Vh square.
template <class Left, class Values, class Right> struct SVD {
  Left U{};   ///< (..., m, k), orthonormal columns
  Values S{}; ///< (..., k), descending
  Right Vh{}; ///< (..., k, n), orthonormal rows
};

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

[[noreturn]] TWILL_COLD inline void throw_without_singular_values(const FirstFailure& failure, std::int64_t count) {
  throw LinAlgError(failure.text("svd", count) + "has singular values that were not found");
}

/// The imaginary parts of diagonals, as diagonal matrices: none of real matrices.
[[nodiscard]] constexpr ComplexValue imaginary_diagonal(const ComplexValue& a) {
  return {a.re * 0, where(on_diagonal(a.im), a.im, 0)};
}

/// dA = U ((skew(U^H dU) / E + i Im diag(U^H dU) / S^2) S + S skew(V^H dV) / E + diag(dS)) V^H, and what dU and dV have
/// outside of the spaces of U and V; E_ij = s_j^2 - s_i^2 and skew(X) = X - X^H.
template <MatrixValue V>
constexpr void svd_vjp(Graph& graph, int node, const graph::Cotangents& cotangents, graph::InputGradients& gradients) {
  const Value s{graph, node};
  const V a = value_of<V>({graph, graph.node(node).input(0)});
  const Extents shape = a.shape();
  const Extent m = rows_of(shape);
  const Extent n = columns_of(shape);
  const Extent k = s.shape()[s.rank() - 1];
  const V u = value_of<V>(add_result(s, 1, s.dtype(), stored_shape<V>(with_matrix(shape, m, k))));
  const V vh = value_of<V>(add_result(s, 2, s.dtype(), stored_shape<V>(with_matrix(shape, k, n))));
  const auto skew = [](const V& x) { return x - adjoint(x); };
  const Value squares = s * s;
  const Value e = as_row(squares) - as_column(squares);
  V inner = from_real<V>(cotangents[0] >= 0 ? diagonal_matrix({graph, cotangents[0]}) : diagonal_matrix(s) * 0);
  const bool has_u = cotangents[1] >= 0;
  const bool has_v = cotangents[2] >= 0;
  const V du = has_u ? cotangent_of<V>(graph, cotangents, 1) : u;
  const V dv = adjoint(has_v ? cotangent_of<V>(graph, cotangents, 2) : vh);
  const V u_products = matmul(adjoint(u), du);
  const V v_products = matmul(vh, dv);
  if (has_u) {
    inner = inner + off_diagonal_quotient(skew(u_products), e) * as_row(s);
    if constexpr (std::same_as<V, ComplexValue>) inner = inner + imaginary_diagonal(u_products) / as_row(s);
  }
  if (has_v) inner = inner + off_diagonal_quotient(skew(v_products), e) * as_column(s);
  V result = matmul(matmul(u, inner), vh);
  if (has_u && !(m == k)) result = result + matmul((du - matmul(u, u_products)) / as_row(s), vh);
  if (has_v && !(n == k)) result = result + matmul(u, adjoint(dv - matmul(adjoint(vh), v_products)) / as_column(s));
  gradients.set(0, stored(result));
}
inline constexpr graph::Operation svd_operation{.name = "svd",
                                                .vjp = &svd_vjp<Value>,
                                                .results = 3,
                                                .wants_dense = true,
                                                .batching = graph::Batching::stack,
                                                .working_bytes = &svd_bytes};
inline constexpr graph::Operation complex_svd_operation{.name = "complex_svd",
                                                        .vjp = &svd_vjp<ComplexValue>,
                                                        .results = 3,
                                                        .wants_dense = true,
                                                        .batching = graph::Batching::stack};

template <FullMatrices Full, Proportion P, MatrixValue V>
[[nodiscard]] constexpr SVD<V, Value, V> svd_of(V a, CallSite site) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return {a, real_part(a), a};
  const Extents shape = a.shape();
  const Extent k = smaller_extent<P>(real_part(a), site);
  if (a.graph().fault.any()) return {a, real_part(a), a};
  const Value s = add_operation(operation_of<V, svd_operation, complex_svd_operation>(), {stored(a)}, part_type(a),
                                with_vector(shape, k));
  const auto vectors = [&](int result, Extent rows, Extent columns) {
    return value_of<V>(add_result(s, result, s.dtype(), stored_shape<V>(with_matrix(shape, rows, columns))));
  };
  V u = vectors(1, rows_of(shape), k);
  V vh = vectors(2, k, columns_of(shape));
  if (Full == FullMatrices::yes && !(rows_of(shape) == k)) u = completed_basis(u);
  if (Full == FullMatrices::yes && !(columns_of(shape) == k)) vh = adjoint(completed_basis(adjoint(vh)));
  return {u, s, vh};
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// The thin decomposition of (..., m, n), in PyTorch's terms with full_matrices=False. In models whose extents are not
/// known, `svd<Proportion::tall>(a)` says which is the smaller.
/// throws: LinAlgError when LAPACK's iteration does not converge
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr SVD<Value, Value, Value> svd(Value a, CallSite site = CallSite::here()) {
  return detail::svd_of<FullMatrices::no, P>(a, site);
}

/// The decomposition with square U (..., m, m) and Vh (..., n, n), if told so: NumPy's and PyTorch's `full_matrices`.
/// Its gradient is that of functions that do not depend on the choice of the columns and rows that complete them.
template <FullMatrices Full, Proportion P = Proportion::known>
[[nodiscard]] constexpr SVD<Value, Value, Value> svd(Value a, CallSite site = CallSite::here()) {
  return detail::svd_of<Full, P>(a, site);
}

/// Singular values, descending; faster than `svd`.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr Value svdvals(Value a, CallSite site = CallSite::here()) {
  return svd<P>(a, site).S;
}

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <>
struct KernelOf<&linalg::detail::svd_operation> : linalg::detail::QueueKernel<&linalg::detail::svd_operation> {
  using ForQueues::run;

  template <class T> static void run(const Team& team, const kernel::Launch& launch) {
    const linalg::detail::Stack stack = linalg::detail::matrices_of(launch.shapes[0]);
    const std::int64_t m = stack.rows;
    const std::int64_t n = stack.columns;
    const std::int64_t k = linalg::detail::checked_smaller("svd", stack, launch.shapes[1][launch.shapes[1].rank - 1]);
    const auto* from = static_cast<const T*>(launch.operands[0].data);
    auto* s = static_cast<real_t<T>*>(launch.operands[1].data);
    auto* u = static_cast<T*>(launch.operands[2].data);
    auto* vh = static_cast<T*>(launch.operands[3].data);
    const auto wanted = u != nullptr || vh != nullptr ? linalg::detail::Vectors::yes : linalg::detail::Vectors::no;
    // To LAPACK the matrix is A^T = V* S U^T: its left factor is V*, in memory Vh, and its right one U.
    const auto workspace = linalg::detail::Lapack<T>::gesdd_workspace(wanted, n, m);
    const std::int64_t elements = m * n + k * m + k * n;
    linalg::detail::FirstFailure failure{};
    linalg::detail::for_each_matrix(team, stack, [&](std::int64_t i) {
      const linalg::detail::Workspace<T> memory{elements + workspace.elements, workspace.integers};
      T* const a = memory.elements + workspace.elements;
      T* const left = vh != nullptr ? vh + i * k * n : a + m * n;
      T* const right = u != nullptr ? u + i * m * k : a + m * n + k * n;
      std::copy(from + i * m * n, from + (i + 1) * m * n, a);
      failure.note(i, linalg::detail::Lapack<T>::gesdd(wanted, n, m, a, s + i * k, left, right, memory.elements,
                                                       memory.integers, workspace));
    });
    if (failure.any()) linalg::detail::throw_without_singular_values(failure, stack.count);
  }
  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    const linalg::detail::Stack stack = linalg::detail::matrices_of(launch.shapes[0]);
    const std::int64_t k = std::min(stack.rows, stack.columns);
    const auto workspace =
        linalg::detail::Lapack<T>::gesdd_workspace(linalg::detail::Vectors::yes, stack.columns, stack.rows);
    linalg::detail::Workspace<T>::reserve(
        team, stack.rows * stack.columns + k * (stack.rows + stack.columns) + workspace.elements, workspace.integers);
  }
};

template <>
struct KernelOf<&linalg::detail::complex_svd_operation>
    : linalg::detail::ComplexKernel<&linalg::detail::svd_operation, true, false, true, true> {};

}}} // namespace twill::v0::TWILL_ISA
