#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues and eigenvectors of symmetric matrices, and of Hermitian ones. Gradients of eigenvectors divide by
// differences of eigenvalues: they are not finite where two are equal, and depend on no choice of sign or phase only if
// the function of the vectors does not (Giles, 2008, 3.1). Read next: linalg/svd.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/cholesky.hpp>
#include <twill/linalg/matrix_values.hpp>
#include <twill/ops/matmul.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// Eigenvalues, and eigenvectors as columns.
template <class Values, class Vectors> struct EigenPairs {
  Values values{};   ///< (..., n), ascending for symmetric matrices
  Vectors vectors{}; ///< (..., n, n)
};

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

[[noreturn]] TWILL_COLD inline void throw_without_eigenvalues(std::string_view function, const FirstFailure& failure,
                                                              std::int64_t count) {
  throw LinAlgError(failure.text(function, count) + "has eigenvalues that were not found");
}
[[noreturn]] TWILL_COLD inline void throw_not_finite(std::string_view function, const FirstFailure& failure,
                                                     std::int64_t count) {
  throw LinAlgError(failure.text(function, count) + "has an element that is not finite");
}

/// x / e off the diagonal, zero on it.
template <MatrixValue V> [[nodiscard]] constexpr V off_diagonal_quotient(const V& x, Value e) {
  const Value diagonal = on_diagonal(real_part(x));
  return each_part(x, [&](Value part) { return where(diagonal, 0, part / where(diagonal, 1, e)); });
}

/// dA = V (diag(dw) + (V^H dV) / E) V^H with E_ij = w_j - w_i.
template <MatrixValue V>
constexpr void eigh_vjp(Graph& graph, int node, const graph::Cotangents& cotangents, graph::InputGradients& gradients) {
  const Value w{graph, node};
  const V a = value_of<V>({graph, graph.node(node).input(0)});
  const V v = value_of<V>(add_result(w, 1, w.dtype(), stored_shape<V>(a.shape())));
  V inner =
      from_real<V>(cotangents[0] >= 0 ? diagonal_matrix({graph, cotangents[0]}) : identity_like(real_part(a)) * 0);
  if (cotangents[1] >= 0)
    inner = inner +
            off_diagonal_quotient(matmul(adjoint(v), cotangent_of<V>(graph, cotangents, 1)), as_row(w) - as_column(w));
  gradients.set(0, stored(hermitian_part(matmul(matmul(v, inner), adjoint(v)))));
}
inline constexpr graph::Operation eigh_operation{.name = "eigh",
                                                 .vjp = &eigh_vjp<Value>,
                                                 .results = 2,
                                                 .wants_dense = true,
                                                 .batching = graph::Batching::stack,
                                                 .working_bytes = &eigh_bytes};
inline constexpr graph::Operation complex_eigh_operation{.name = "complex_eigh",
                                                         .vjp = &eigh_vjp<ComplexValue>,
                                                         .results = 2,
                                                         .wants_dense = true,
                                                         .batching = graph::Batching::stack};

template <UpLo Triangle, MatrixValue V> [[nodiscard]] constexpr EigenPairs<Value, V> eigh_of(V a, CallSite site) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return {real_part(a), a};
  if (Triangle == UpLo::upper) a = adjoint(a); // the operation reads lower triangles
  const Value w = add_operation(operation_of<V, eigh_operation, complex_eigh_operation>(), {stored(a)}, part_type(a),
                                with_vector(a.shape(), rows_of(a.shape())));
  return {w, value_of<V>(add_result(w, 1, part_type(a), stored_shape<V>(a.shape())))};
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// Eigenvalues and eigenvectors of symmetric (..., n, n), of which one triangle is read: NumPy's and PyTorch's `UPLO`.
/// throws: LinAlgError when LAPACK's iteration does not converge
template <UpLo Triangle = UpLo::lower>
[[nodiscard]] constexpr EigenPairs<Value, Value> eigh(Value a, CallSite site = CallSite::here()) {
  return detail::eigh_of<Triangle>(a, site);
}

/// Eigenvalues of symmetric matrices, ascending; faster than `eigh`.
template <UpLo Triangle = UpLo::lower>
[[nodiscard]] constexpr Value eigvalsh(Value a, CallSite site = CallSite::here()) {
  return eigh<Triangle>(a, site).values;
}

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <>
struct KernelOf<&linalg::detail::eigh_operation> : linalg::detail::QueueKernel<&linalg::detail::eigh_operation> {
  using ForQueues::run;

  template <class T> static void run(const Team& team, const kernel::Launch& launch) {
    const linalg::detail::Stack stack = linalg::detail::matrices_of(launch.shapes[0]);
    const std::int64_t n = stack.rows;
    const auto* from = static_cast<const T*>(launch.operands[0].data);
    auto* values = static_cast<real_t<T>*>(launch.operands[1].data);
    auto* vectors = static_cast<T*>(launch.operands[2].data);
    const auto wanted = vectors != nullptr ? linalg::detail::Vectors::yes : linalg::detail::Vectors::no;
    const auto workspace = linalg::detail::Lapack<T>::syevd_workspace(wanted, n);
    linalg::detail::FirstFailure failure{};
    linalg::detail::for_each_matrix(team, stack, [&](std::int64_t i) {
      const linalg::detail::Workspace<T> memory{n * n + workspace.elements, workspace.integers};
      T* const a = vectors != nullptr ? vectors + i * n * n : memory.elements + workspace.elements;
      std::copy(from + i * n * n, from + (i + 1) * n * n, a);
      failure.note(i, linalg::detail::Lapack<T>::syevd(wanted, linalg::detail::Triangle::upper, n, a, values + i * n,
                                                       memory.elements, memory.integers, workspace));
      if (vectors != nullptr) linalg::detail::transpose_in_place(a, n);
      if constexpr (ComplexScalar<T>) // to LAPACK the matrix is the conjugate one
        for (std::int64_t at = 0; vectors != nullptr && at < n * n; ++at) a[at] = conj(a[at]);
    });
    if (failure.any()) linalg::detail::throw_without_eigenvalues("eigh", failure, stack.count);
  }
  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    const std::int64_t n = linalg::detail::matrices_of(launch.shapes[0]).rows;
    const auto workspace = linalg::detail::Lapack<T>::syevd_workspace(linalg::detail::Vectors::yes, n);
    linalg::detail::Workspace<T>::reserve(team, n * n + workspace.elements, workspace.integers);
  }
};

template <>
struct KernelOf<&linalg::detail::complex_eigh_operation>
    : linalg::detail::ComplexKernel<&linalg::detail::eigh_operation, true, false, true> {};

}}} // namespace twill::v0::TWILL_ISA
