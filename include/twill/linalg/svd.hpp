#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Singular value decompositions: A = U diag(S) V^T. Gradients of the vectors divide by differences of squared
// singular values, and have a sense for functions that do not depend on the signs of vectors (Townsend, 2016); those of
// S alone are finite always. Read next: linalg/least_squares.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/eigh.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/ops/matmul.hpp>

#include <algorithm>
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

TWILL_CONSTEXPR void svd_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                             graph::InputGradients& gradients) {
  const Value s{graph, node};
  const Value a{graph, graph.node(node).input(0)};
  const Extents& shape = a.shape();
  const Extent m = rows_of(shape);
  const Extent n = columns_of(shape);
  const Extent k = s.shape()[s.rank() - 1];
  const Value u = add_result(s, 1, s.dtype(), with_matrix(shape, m, k));
  const Value vh = add_result(s, 2, s.dtype(), with_matrix(shape, k, n));
  const auto skew = [](Value x) { return x - transpose(x); };
  const Value squares = s * s;
  const Value e = as_row(squares) - as_column(squares);
  Value inner = cotangents[0] >= 0 ? diagonal_matrix({graph, cotangents[0]}) : diagonal_matrix(s) * 0;
  const bool has_u = cotangents[1] >= 0;
  const bool has_v = cotangents[2] >= 0;
  const Value du = has_u ? Value{graph, cotangents[1]} : u;
  const Value dv = has_v ? transpose(Value{graph, cotangents[2]}) : transpose(vh);
  const Value u_products = matmul(transpose(u), du);
  const Value v_products = matmul(vh, dv);
  if (has_u) inner = inner + off_diagonal_quotient(skew(u_products), e) * as_row(s);
  if (has_v) inner = inner + as_column(s) * off_diagonal_quotient(skew(v_products), e);
  Value result = matmul(matmul(u, inner), vh);
  if (has_u && !(m == k)) result = result + matmul((du - matmul(u, u_products)) / as_row(s), vh);
  if (has_v && !(n == k)) result = result + matmul(u, transpose(dv - matmul(transpose(vh), v_products)) / as_column(s));
  gradients.set(0, result);
}
inline constexpr graph::Operation svd_operation{.name = "svd",
                                                .vjp = &svd_vjp,
                                                .results = 3,
                                                .wants_dense = true,
                                                .batching = graph::Batching::stack,
                                                .working_bytes = &svd_bytes};

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// The thin decomposition of (..., m, n), in PyTorch's terms with full_matrices=False. In models whose extents are not
/// known, `svd<Proportion::tall>(a)` says which is the smaller.
/// throws: LinAlgError when LAPACK's iteration does not converge
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr SVD<Value, Value, Value> svd(Value a, CallSite site = CallSite::here()) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return {a, a, a};
  const Extents shape = a.shape();
  const Extent k = smaller_extent<P>(a, site);
  if (a.graph().fault.any()) return {a, a, a};
  const Value s = add_operation(detail::svd_operation, {a}, a.dtype(), with_vector(shape, k));
  return {add_result(s, 1, a.dtype(), with_matrix(shape, rows_of(shape), k)), s,
          add_result(s, 2, a.dtype(), with_matrix(shape, k, columns_of(shape)))};
}

/// The decomposition with square U (..., m, m) and Vh (..., n, n), if told so: NumPy's and PyTorch's `full_matrices`.
/// Its gradient is that of functions that do not depend on the choice of the columns and rows that complete them.
template <FullMatrices Full, Proportion P = Proportion::known>
[[nodiscard]] constexpr SVD<Value, Value, Value> svd(Value a, CallSite site = CallSite::here()) {
  SVD<Value, Value, Value> parts = svd<P>(a, site);
  if (Full == FullMatrices::no || a.graph().fault.any()) return parts;
  const Extent k = columns_of(parts.U.shape());
  if (!(rows_of(parts.U.shape()) == k)) parts.U = detail::completed_basis(parts.U);
  if (!(columns_of(parts.Vh.shape()) == k)) parts.Vh = transpose(detail::completed_basis(transpose(parts.Vh)));
  return parts;
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

}}} // namespace twill::v0::TWILL_ISA
