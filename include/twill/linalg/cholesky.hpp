#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cholesky factors, which read one triangle of a matrix. Gradients of the factor are symmetric, of complex matrices
// Hermitian, as if the matrix had been (Murray, 2016). Read next: linalg/eigh.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/matrix_values.hpp>
#include <twill/linalg/triangular.hpp>
#include <twill/ops/matmul.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

template <MatrixValue V>
constexpr void cholesky_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                            graph::InputGradients& gradients);
inline constexpr graph::Operation cholesky_operation{.name = "cholesky",
                                                     .vjp = &cholesky_vjp<Value>,
                                                     .results = 2,
                                                     .wants_dense = true,
                                                     .batching = graph::Batching::stack,
                                                     .working_bytes = &cholesky_bytes};
inline constexpr graph::Operation complex_cholesky_operation{.name = "complex_cholesky",
                                                             .vjp = &cholesky_vjp<ComplexValue>,
                                                             .results = 2,
                                                             .wants_dense = true,
                                                             .batching = graph::Batching::stack};

/// The factor of square matrices. The operation reads lower triangles: the upper one of A is that of A^H.
template <MatrixValue V> [[nodiscard]] constexpr Reported<V> factor_of(const V& a, OnFailure failing, UpLo triangle) {
  const bool is_upper = triangle == UpLo::upper;
  const Value l = add_operation(operation_of<V, cholesky_operation, complex_cholesky_operation>(),
                                {stored(is_upper ? adjoint(a) : a)}, part_type(a), stored_shape<V>(a.shape()),
                                {failing == OnFailure::reports});
  const V factor = is_upper ? adjoint(value_of<V>(l)) : value_of<V>(l);
  if (failing == OnFailure::throws) return {factor, real_part(factor)};
  return {factor, add_result(l, 1, DType::int32, stack_of(a.shape()))};
}

[[noreturn]] TWILL_COLD inline void throw_not_positive_definite(const FirstFailure& failure, std::int64_t count) {
  throw LinAlgError(failure.text("cholesky", count) + "is not positive definite: its leading minor of order " +
                    std::to_string(failure.info()) + " is not positive");
}

/// dA = L^-H F L^-1, made Hermitian, where F is the lower triangle of L^H dL with half its diagonal.
template <MatrixValue V>
constexpr void cholesky_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                            graph::InputGradients& gradients) {
  const V l = value_of<V>({graph, node});
  const V f = with_half_diagonal(lower_part(matmul(adjoint(l), cotangent_of<V>(graph, cotangents, 0))));
  const V right = adjoint(solve_with_adjoint(l, f));
  gradients.set(0, stored(hermitian_part(solve_with_adjoint(l, right))));
}

/// X with A X = B from the factor of A.
template <UpLo Triangle, MatrixValue V>
[[nodiscard]] constexpr V solved_with_factor(const V& b, V factor, CallSite site) {
  factor = checked_square(factor, site);
  if (factor.graph().fault.any()) return b;
  const Sides<V> sides = fitting_sides(factor, b, site);
  if (factor.graph().fault.any()) return b;
  constexpr Triangular system{.triangle = Triangle};
  const V x = Triangle == UpLo::upper
                  ? solve_with_triangle(sides.a, solve_with_adjoint(sides.a, sides.b, system), system)
                  : solve_with_adjoint(sides.a, solve_with_triangle(sides.a, sides.b, system), system);
  return as_given(x, b.rank() == 1, site);
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// Lower triangular L with L L^T = A for symmetric positive definite A (..., n, n); the lower triangle is read. With
/// `UpLo::upper`, PyTorch's and NumPy's `upper`, U with U^T U = A, and the upper triangle is read.
/// throws: LinAlgError when a matrix is not positive definite: it names the matrix and the leading minor
template <UpLo Triangle = UpLo::lower>
[[nodiscard]] constexpr Value cholesky(Value a, CallSite site = CallSite::here()) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return a;
  return detail::factor_of(a, OnFailure::throws, Triangle).result;
}

/// X with A X = B from the Cholesky factor of A: L with L L^T = A, or U with U^T U = A.
template <UpLo Triangle = UpLo::lower>
[[nodiscard]] constexpr Value cholesky_solve(Value b, Value factor, CallSite site = CallSite::here()) {
  return detail::solved_with_factor<Triangle>(b, factor, site);
}

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <>
struct KernelOf<&linalg::detail::cholesky_operation>
    : linalg::detail::QueueKernel<&linalg::detail::cholesky_operation> {
  using ForQueues::run;

  template <class T> static void run(const Team& team, const kernel::Launch& launch) {
    const linalg::detail::Stack stack = linalg::detail::matrices_of(launch.shapes[0]);
    const std::int64_t n = stack.rows;
    const auto* from = static_cast<const T*>(launch.operands[0].data);
    auto* to = static_cast<T*>(launch.operands[1].data);
    auto* const infos = static_cast<std::int32_t*>(launch.operands[2].data);
    linalg::detail::FirstFailure failure{};
    linalg::detail::for_each_matrix(team, stack, [&](std::int64_t i) {
      T* const l = to + i * n * n;
      for (std::int64_t row = 0; row < n; ++row) {
        std::copy(from + (i * n + row) * n, from + (i * n + row) * n + row + 1, l + row * n);
        std::fill(l + row * n + row + 1, l + (row + 1) * n, T{0});
      }
      const int info = linalg::detail::Lapack<T>::potrf(linalg::detail::Triangle::upper, n, l);
      if (infos != nullptr) infos[i] = info;
      failure.note(i, info);
    });
    if (failure.any() && launch.attributes[0] == 0) linalg::detail::throw_not_positive_definite(failure, stack.count);
  }
};

template <>
struct KernelOf<&linalg::detail::complex_cholesky_operation>
    : linalg::detail::ComplexKernel<&linalg::detail::cholesky_operation, true, true, false> {};

}}} // namespace twill::v0::TWILL_ISA
