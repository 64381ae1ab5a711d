#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cholesky factors, which read one triangle of a matrix. Gradients of the factor are symmetric, as if the matrix had
// been (Murray, 2016). Read next: linalg/eigh.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/triangular.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/triangles.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void cholesky_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                  graph::InputGradients& gradients);
inline constexpr graph::Operation cholesky_operation{.name = "cholesky",
                                                     .vjp = &cholesky_vjp,
                                                     .results = 2,
                                                     .wants_dense = true,
                                                     .batching = graph::Batching::stack,
                                                     .working_bytes = &cholesky_bytes};

/// The factor of square matrices. The operation reads lower triangles: the upper one of A is that of A^T.
[[nodiscard]] TWILL_CONSTEXPR Reported factor_of(Value a, OnFailure failing, UpLo triangle) {
  const bool is_upper = triangle == UpLo::upper;
  const Value l = add_operation(cholesky_operation, {is_upper ? transpose(a) : a}, a.dtype(), a.shape(),
                                {failing == OnFailure::reports});
  const Value factor = is_upper ? transpose(l) : l;
  if (failing == OnFailure::throws) return {factor, factor};
  return {factor, add_result(l, 1, DType::int32, stack_of(a.shape()))};
}

[[noreturn]] TWILL_COLD inline void throw_not_positive_definite(const FirstFailure& failure, std::int64_t count) {
  throw LinAlgError(failure.text("cholesky", count) + "is not positive definite: its leading minor of order " +
                    std::to_string(failure.info()) + " is not positive");
}

/// (X + X^T) / 2.
[[nodiscard]] TWILL_CONSTEXPR Value symmetric(Value x) { return (x + transpose(x)) * 0.5; }

/// dA = L^-T F L^-1, made symmetric, where F is the lower triangle of L^T dL with half its diagonal.
TWILL_CONSTEXPR void cholesky_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                  graph::InputGradients& gradients) {
  const Value l{graph, node};
  const Value products = tril(matmul(transpose(l), Value{graph, cotangents[0]}));
  const Value f = where(on_diagonal(products), products * 0.5, products);
  const Triangular by_transposed{.transposed = true};
  const Value right = transpose(solve_with_triangle(l, f, by_transposed));
  gradients.set(0, symmetric(solve_with_triangle(l, right, by_transposed)));
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
  constexpr bool is_upper = Triangle == UpLo::upper;
  const Value half = detail::solved_with_triangle(factor, b, {Triangle, Diagonal::stored, is_upper}, site);
  return detail::solved_with_triangle(factor, half, {Triangle, Diagonal::stored, !is_upper}, site);
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

}}} // namespace twill::v0::TWILL_ISA
