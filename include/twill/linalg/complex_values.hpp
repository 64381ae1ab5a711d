#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra of complex matrices in models, under the names of that of real ones. Transposed matrices of real
// numbers are conjugate ones here: `cholesky` has L L^H = A, `eigh` is of Hermitian matrices; singular values, norms
// and ranks are real. Gradients are dL/dx + i dL/dy, PyTorch's convention. Eigenvectors and singular vectors have
// arbitrary phases: a loss that depends on them has no gradient, for which PyTorch stops, and here the phases count as
// constant. Read next: linalg/matrix_values.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/cholesky.hpp>
#include <twill/linalg/eigh.hpp>
#include <twill/linalg/least_squares.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/matrix_functions.hpp>
#include <twill/linalg/matrix_values.hpp>
#include <twill/linalg/norms.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/linalg/reported.hpp>
#include <twill/linalg/svd.hpp>
#include <twill/linalg/triangular.hpp>
#include <twill/ops/complex_value.hpp>

#include <concepts>

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// Two traced values, of which one or both are complex.
template <class A, class B>
concept ComplexPair = TracedOperand<A> && TracedOperand<B> &&
    (std::same_as<A, ComplexValue> || std::same_as<B, ComplexValue>);

[[nodiscard]] constexpr ComplexValue as_complex(const ComplexValue& a) { return a; }
[[nodiscard]] TWILL_CONSTEXPR ComplexValue as_complex(Value a) {
  return from_real<ComplexValue>(cast(a, floating_type(a.dtype())));
}

/// The gradient of the direction s of a determinant, d s = i s Im tr(A^-1 dA): i Im(g conj s) A^-H.
TWILL_CONSTEXPR void direction_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                   graph::InputGradients& gradients) {
  const graph::Node call = graph.node(node);
  const ComplexValue s = value_of<ComplexValue>({graph, node});
  const ComplexValue g = cotangent_of<ComplexValue>(graph, cotangents, 0);
  if (!gradients.wants(1)) return;
  const ComplexValue inverse =
      adjoint_inverse({graph, call.input(2)}, {graph, call.input(3)}, value_of<ComplexValue>({graph, call.input(1)}));
  const Value turn = as_column(as_column(g.im * s.re - g.re * s.im));
  gradients.set(1, stored(ComplexValue{-inverse.im * turn, inverse.re * turn}));
}
inline constexpr graph::Operation direction_rule{
    .name = "direction_of_determinant", .vjp = &direction_vjp, .batching = graph::Batching::stack};

/// det A / |det A|, 0 for singular matrices.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue direction_of(const Factored& lu, const ComplexValue& a) {
  const ComplexValue factors = value_of<ComplexValue>(stop_gradient(lu.factors));
  const ComplexValue pivots = each_part(factors, &diagonal_of);
  const Value parity = value_of<ComplexValue>(stop_gradient(lu.parity)).re;
  const Value size = parity * prod(sign(abs(pivots)), {-1});
  const Value turn = sum(angle(pivots), {-1}); // of a product of unknown length
  const ComplexValue s{size * cos(turn), size * sin(turn)};
  return value_of<ComplexValue>(with_rule(stored(s), direction_rule, {stored(a), lu.factors, lu.pivots}));
}

/// Operands of least squares in one type.
struct ComplexOperands {
  ComplexValue a{};
  ComplexValue b{};
};
[[nodiscard]] TWILL_CONSTEXPR ComplexOperands in_one_type(const ComplexValue& a, const ComplexValue& b) {
  const auto common = [dtype = promote(a.part_dtype(), b.part_dtype())](Value part) { return cast(part, dtype); };
  return {each_part(a, common), each_part(b, common)};
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// X with A X = B for complex A or B: one complex factorisation. throws: LinAlgError when a matrix is singular
template <class A, class B>
requires(detail::ComplexPair<A, B>) [[nodiscard]] constexpr ComplexValue
    solve(const A& a, const B& b, CallSite site = CallSite::here()) {
  return detail::solved(detail::as_complex(a), detail::as_complex(b), OnFailure::throws, site).result;
}
/// X with A X = B for complex A or B, with info.
template <class A, class B>
requires(detail::ComplexPair<A, B>)
    [[nodiscard]] constexpr WithInfo<ComplexValue, Value> solve_ex(const A& a, const B& b,
                                                                   CallSite site = CallSite::here()) {
  const auto parts = detail::solved(detail::as_complex(a), detail::as_complex(b), OnFailure::reports, site);
  return {parts.result, parts.info};
}
/// Inverses of complex matrices. throws: LinAlgError when one is singular
[[nodiscard]] TWILL_CONSTEXPR ComplexValue inv(const ComplexValue& a, CallSite site = CallSite::here()) {
  return detail::inverted(a, OnFailure::throws, site).result;
}
/// Inverses of complex matrices, with info.
[[nodiscard]] TWILL_CONSTEXPR WithInfo<ComplexValue, Value> inv_ex(const ComplexValue& a,
                                                                   CallSite site = CallSite::here()) {
  const auto parts = detail::inverted(a, OnFailure::reports, site);
  return {parts.result, parts.info};
}
/// LU factors of complex matrices with partial pivoting, by absolute values of the parts.
[[nodiscard]] TWILL_CONSTEXPR LU<ComplexValue, Value> lu_factor(ComplexValue a, CallSite site = CallSite::here()) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return {a, a.re};
  const detail::Factored lu = detail::factored(a);
  return {detail::value_of<ComplexValue>(lu.factors), lu.pivots};
}
/// Directions z / |z| of determinants, complex, and logarithms of their absolute values, real. Gradients of both throw
/// LinAlgError where a matrix is singular.
[[nodiscard]] TWILL_CONSTEXPR SlogDet<ComplexValue, Value> slogdet(ComplexValue a, CallSite site = CallSite::here()) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return {a, a.re};
  const detail::Factored lu = detail::factored(a);
  return {detail::direction_of(lu, a), detail::logabsdet_of(lu, a)};
}
/// Determinants of complex matrices.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue det(const ComplexValue& a, CallSite site = CallSite::here()) {
  const SlogDet<ComplexValue, Value> parts = slogdet(a, site);
  return parts.sign * exp(parts.logabsdet);
}
/// X with A X = B for a triangular A, where A or B is complex.
template <UpLo Triangle = UpLo::lower, Diagonal D = Diagonal::stored, class A, class B>
requires(detail::ComplexPair<A, B>) [[nodiscard]] constexpr ComplexValue
    solve_triangular(const A& a, const B& b, CallSite site = CallSite::here()) {
  return detail::solved_with_triangle(detail::as_complex(a), detail::as_complex(b), {Triangle, D}, site);
}
/// Lower triangular L with L L^H = A for Hermitian positive definite A, or U with U^H U = A; that triangle is read, and
/// of its diagonal the real parts. throws: LinAlgError when a matrix is not positive definite
template <UpLo Triangle = UpLo::lower>
[[nodiscard]] constexpr ComplexValue cholesky(ComplexValue a, CallSite site = CallSite::here()) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return a;
  return detail::factor_of(a, OnFailure::throws, Triangle).result;
}
/// Cholesky factors of complex matrices, with info.
template <UpLo Triangle = UpLo::lower>
[[nodiscard]] constexpr WithInfo<ComplexValue, Value> cholesky_ex(ComplexValue a, CallSite site = CallSite::here()) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return {a, a.re};
  const auto parts = detail::factor_of(a, OnFailure::reports, Triangle);
  return {parts.result, parts.info};
}
/// X with A X = B from the Cholesky factor of A: L with L L^H = A, or U with U^H U = A; one or both are complex.
template <UpLo Triangle = UpLo::lower, class B, class L>
requires(detail::ComplexPair<B, L>) [[nodiscard]] constexpr ComplexValue
    cholesky_solve(const B& b, const L& factor, CallSite site = CallSite::here()) {
  return detail::solved_with_factor<Triangle>(detail::as_complex(b), detail::as_complex(factor), site);
}
/// The reduced QR decomposition of complex matrices: Q^H Q is one, the diagonal of R real.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr QR<ComplexValue, ComplexValue> qr(const ComplexValue& a, CallSite site = CallSite::here()) {
  return detail::qr_of<FullMatrices::no, P>(a, site);
}
/// The decomposition of complex matrices with a square Q, if told so.
template <FullMatrices Full, Proportion P = Proportion::known>
[[nodiscard]] constexpr QR<ComplexValue, ComplexValue> qr(const ComplexValue& a, CallSite site = CallSite::here()) {
  return detail::qr_of<Full, P>(a, site);
}
/// Real eigenvalues, ascending, and eigenvectors of Hermitian matrices, of which one triangle is read. The gradient is
/// that of functions that do not depend on the phases of eigenvectors. throws: LinAlgError without convergence
template <UpLo Triangle = UpLo::lower>
[[nodiscard]] constexpr EigenPairs<Value, ComplexValue> eigh(const ComplexValue& a, CallSite site = CallSite::here()) {
  return detail::eigh_of<Triangle>(a, site);
}
/// Real eigenvalues of Hermitian matrices.
template <UpLo Triangle = UpLo::lower>
[[nodiscard]] constexpr Value eigvalsh(const ComplexValue& a, CallSite site = CallSite::here()) {
  return eigh<Triangle>(a, site).values;
}
/// The thin singular value decomposition A = U S V^H. The gradient is that of functions that do not change when u_i and
/// v_i are multiplied by the same phase.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr SVD<ComplexValue, Value, ComplexValue> svd(const ComplexValue& a,
                                                                   CallSite site = CallSite::here()) {
  return detail::svd_of<FullMatrices::no, P>(a, site);
}
/// The decomposition of complex matrices with square U and Vh, if told so.
template <FullMatrices Full, Proportion P = Proportion::known>
[[nodiscard]] constexpr SVD<ComplexValue, Value, ComplexValue> svd(const ComplexValue& a,
                                                                   CallSite site = CallSite::here()) {
  return detail::svd_of<Full, P>(a, site);
}
/// Singular values of complex matrices, real and descending.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr Value svdvals(const ComplexValue& a, CallSite site = CallSite::here()) {
  return svd<P>(a, site).S;
}
/// The pseudo-inverses (..., n, m) of complex (..., m, n), by the singular values beyond a tolerance.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr ComplexValue pinv(ComplexValue a, const Tolerance& tolerance = {},
                                          CallSite site = CallSite::here()) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return a;
  return detail::pinv_beyond<P>(a, detail::cutoff_of<P>(tolerance, a.re, site), site);
}
/// Solutions of least squares for complex A or B, with rank and singular values.
template <Proportion P = Proportion::known, class A, class B>
requires(detail::ComplexPair<A, B>)
    [[nodiscard]] constexpr LeastSquares<ComplexValue, Value, Value> lstsq(const A& a, const B& b,
                                                                           const Tolerance& tolerance = {},
                                                                           CallSite site = CallSite::here()) {
  const auto sides = detail::in_one_type(detail::as_complex(a), detail::as_complex(b));
  const ComplexValue matrix = checked_matrix(sides.a, site);
  if (matrix.graph().fault.any()) return {matrix, matrix.re, matrix.re};
  return detail::lstsq_beyond<P>(matrix, sides.b, detail::cutoff_of<P>(tolerance, matrix.re, site), site);
}
/// The number of singular values that are not zero, int64.
template <Proportion P = Proportion::known>
[[nodiscard]] constexpr Value matrix_rank(ComplexValue a, const Tolerance& tolerance = {},
                                          CallSite site = CallSite::here()) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return a.re;
  return detail::rank_beyond<P>(a, detail::cutoff_of<P>(tolerance, a.re, site), site);
}
/// Norms of complex matrices, real.
template <MatrixNorm Which = MatrixNorm::frobenius, Proportion P = Proportion::known>
[[nodiscard]] constexpr Value matrix_norm(const ComplexValue& a, CallSite site = CallSite::here()) {
  return detail::norm_of<Which, P>(a, site);
}
/// How much solutions may amplify errors, by a norm.
template <MatrixNorm Which = MatrixNorm::spectral, Proportion P = Proportion::known>
[[nodiscard]] constexpr Value cond(const ComplexValue& a, CallSite site = CallSite::here()) {
  return detail::condition_of<Which, P>(a, site);
}
/// Exponentials of complex matrices.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue matrix_exp(ComplexValue a, CallSite site = CallSite::here()) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return a;
  return detail::exponential_of(a);
}
/// A^N of complex matrices; negative powers are those of the inverse.
template <int N>
[[nodiscard]] constexpr ComplexValue matrix_power(const ComplexValue& a, CallSite site = CallSite::here()) {
  return detail::power_of<N>(a, site);
}
/// Powers of complex numbers as rows.
template <int N, VanderOrder Order = VanderOrder::decreasing>
[[nodiscard]] constexpr ComplexValue vander(const ComplexValue& x, CallSite site = CallSite::here()) {
  return detail::powers_of<N, Order>(x, site);
}
/// Cross products of vectors of three, of which one or both are complex, without conjugation.
template <class A, class B>
requires(detail::ComplexPair<A, B>) [[nodiscard]] constexpr ComplexValue
    cross(const A& a, const B& b, CallSite site = CallSite::here()) {
  return detail::cross_of(detail::as_complex(a), detail::as_complex(b), site);
}

}}}} // namespace twill::v0::linalg::TWILL_ISA
