#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra of complex tensors, under the names of that of real ones: the functions of linalg/tensors.hpp at once,
// where they stand, on hosts and GPUs. Transposed matrices of real numbers are conjugate ones here: `cholesky` has
// L L^H = A, `eigh` is of Hermitian matrices. Values that are real in themselves, as singular values and norms, have
// the type of the parts. There are no gradients: linalg/complex_values.hpp has these functions for models. Read next:
// linalg/complex_matrices.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/complex_functions.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/matmul.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/cholesky.hpp>
#include <twill/linalg/complex_columns.hpp>
#include <twill/linalg/complex_matrices.hpp>
#include <twill/linalg/eigh.hpp>
#include <twill/linalg/least_squares.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/matrix_functions.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/linalg/reported.hpp>
#include <twill/linalg/svd.hpp>
#include <twill/linalg/tensors.hpp>
#include <twill/tensor/complex_views.hpp>
#include <twill/tensor/tensor.hpp>
#include <twill/tensor/views.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// Several results by name.
template <template <class...> class Named, class... P> [[nodiscard]] Named<P...> named_parts(const P&... parts) {
  return {parts...};
}

/// Conjugate and transposed, dense.
template <class X> [[nodiscard]] auto adjoint(const X& x) { return eval(conj(x.template transpose<-2, -1>())); }

/// A result without its last axis where the right side was one vector.
template <class B, class X> [[nodiscard]] auto as_asked(const X& x) {
  if constexpr (std::remove_cvref_t<B>::shape_type::rank == 1)
    return x.template squeeze<-1>();
  else
    return x;
}

/// Which singular values of matrices of a shape are beyond a tolerance.
template <class S> [[nodiscard]] auto counted(const S& s, const Dims& shape, const Tolerance& tolerance) {
  const auto cutoffs = cutoffs_of<typename S::value_type>(tolerance, shape);
  return eval(s > maximum(max<-1>(s, keepdims) * cutoffs.relative, cutoffs.absolute));
}

/// Matrices whose lower triangle holds the conjugate of this one.
template <UpLo Triangle, class X> [[nodiscard]] auto with_lower(const X& x) {
  if constexpr (Triangle == UpLo::lower)
    return x;
  else
    return adjoint(x);
}

template <class T, class D, class S> [[nodiscard]] auto svd_of(const Tensor<T, D, S>& a) {
  const Dims shape = a.shape();
  const std::int64_t k = smaller_count(shape);
  constexpr Dims type = dims_of<S>;
  const Tensor<T, D, shape_t<matrix_extents(type, row_count(type), smaller_count(type))>> u(
      a.device(), matrix_extents(shape, row_count(shape), k));
  const Tensor<T, D, shape_t<matrix_extents(type, smaller_count(type), column_count(type))>> vh(
      a.device(), matrix_extents(shape, k, column_count(shape)));
  const auto s = singular_values(a, u, vh);
  return named_parts<SVD>(u, s, vh);
}

/// Pseudo-inverses of matrices of which these singular values count.
template <class Parts, class Counts> [[nodiscard]] auto pseudo_inverses(const Parts& parts, const Counts& counts) {
  using R = typename std::remove_cvref_t<decltype(parts.S)>::value_type;
  const auto inverse = eval(where(counts, reciprocal(where(counts, parts.S, R{1})), R{0}));
  const auto left =
      eval(adjoint(parts.Vh) * inverse.template unsqueeze<std::remove_cvref_t<decltype(inverse)>::rank - 1>());
  return eval(matmul(left, adjoint(parts.U)));
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// X with A X = B for complex A or B. throws: LinAlgError when a matrix is singular, ShapeError
template <TensorOperand A, TensorOperand B>
requires ComplexOperands<A, B>
[[nodiscard]] auto solve(const A& a, const B& b) {
  using T = detail::common_element<A, B>;
  const auto sides = detail::fitting_sides<T>("solve", detail::dense_squares<T>("solve", a), b);
  return detail::as_asked<B>(detail::solutions_of(sides.a, sides.b, detail::Solver::solve, OnFailure::throws).result);
}
/// X with A X = B for complex A or B, with info.
template <TensorOperand A, TensorOperand B>
requires ComplexOperands<A, B>
[[nodiscard]] auto solve_ex(const A& a, const B& b) {
  using T = detail::common_element<A, B>;
  const auto sides = detail::fitting_sides<T>("solve", detail::dense_squares<T>("solve", a), b);
  const auto found = detail::solutions_of(sides.a, sides.b, detail::Solver::solve, OnFailure::reports);
  return detail::named_parts<WithInfo>(detail::as_asked<B>(found.result), found.info);
}
/// Inverses. throws: LinAlgError when a matrix is singular, ShapeError
template <ComplexOperand A> [[nodiscard]] auto inv(const A& a) {
  const auto matrices = detail::dense_squares<detail::element_of<A>>("inv", a);
  return detail::solutions_of(matrices, detail::identities_like(matrices), detail::Solver::inv, OnFailure::throws)
      .result;
}
/// Inverses with info.
template <ComplexOperand A> [[nodiscard]] auto inv_ex(const A& a) {
  const auto matrices = detail::dense_squares<detail::element_of<A>>("inv", a);
  const auto found =
      detail::solutions_of(matrices, detail::identities_like(matrices), detail::Solver::inv, OnFailure::reports);
  return detail::named_parts<WithInfo>(found.result, found.info);
}
/// LU factors with partial pivoting.
template <ComplexOperand A> [[nodiscard]] auto lu_factor(const A& a) {
  const auto lu = detail::factors_of(detail::dense_squares<detail::element_of<A>>("lu_factor", a));
  return detail::named_parts<LU>(lu.factors, lu.pivots);
}
/// Directions z / |z| of determinants, complex, and logarithms of their absolute values, real.
template <ComplexOperand A> [[nodiscard]] auto slogdet(const A& a) {
  const auto lu = detail::factors_of(detail::dense_squares<detail::element_of<A>>("slogdet", a));
  const auto pivots = twill::diagonal<-2, -1>(lu.factors);
  return detail::named_parts<SlogDet>(eval(lu.parity * prod<-1>(sign(pivots))), eval(sum<-1>(log(abs(pivots)))));
}
/// Determinants.
template <ComplexOperand A> [[nodiscard]] auto det(const A& a) {
  const auto parts = slogdet(a);
  return eval(parts.sign * exp(parts.logabsdet));
}
/// X with A X = B for a triangular A.
template <UpLo Triangle = UpLo::lower, Diagonal D = Diagonal::stored, TensorOperand A, TensorOperand B>
requires ComplexOperands<A, B>
[[nodiscard]] auto solve_triangular(const A& a, const B& b) {
  using T = detail::common_element<A, B>;
  const auto sides = detail::fitting_sides<T>("solve_triangular", detail::dense_squares<T>("solve_triangular", a), b);
  return detail::as_asked<B>(detail::triangular_solutions(sides.a, sides.b, {Triangle, D}));
}
/// Lower triangular L with L L^H = A for Hermitian positive definite A, or U with U^H U = A; that triangle is read.
/// throws: LinAlgError when a matrix is not positive definite
template <UpLo Triangle = UpLo::lower, ComplexOperand A> [[nodiscard]] auto cholesky(const A& a) {
  const auto matrices = detail::dense_squares<detail::element_of<A>>("cholesky", a);
  return detail::with_lower<Triangle>(
      detail::cholesky_factors(detail::with_lower<Triangle>(matrices), OnFailure::throws).result);
}
/// Cholesky factors with info.
template <UpLo Triangle = UpLo::lower, ComplexOperand A> [[nodiscard]] auto cholesky_ex(const A& a) {
  const auto matrices = detail::dense_squares<detail::element_of<A>>("cholesky", a);
  const auto found = detail::cholesky_factors(detail::with_lower<Triangle>(matrices), OnFailure::reports);
  return detail::named_parts<WithInfo>(detail::with_lower<Triangle>(found.result), found.info);
}
/// X with A X = B, from the Cholesky factor of A.
template <UpLo Triangle = UpLo::lower, TensorOperand B, TensorOperand L>
requires ComplexOperands<B, L>
[[nodiscard]] auto cholesky_solve(const B& b, const L& l) {
  using T = detail::common_element<L, B>;
  const auto factors = detail::with_lower<Triangle>(detail::dense_squares<T>("cholesky_solve", l));
  const auto sides = detail::fitting_sides<T>("cholesky_solve", factors, b);
  const auto half = detail::triangular_solutions(sides.a, sides.b, {});
  return detail::as_asked<B>(detail::triangular_solutions(eval(conj(sides.a)), half, {.transposed = true}));
}
/// The QR decomposition, reduced unless told otherwise: Q^H Q is one, on hosts the diagonal of R real.
template <FullMatrices Full = FullMatrices::no, ComplexOperand A> [[nodiscard]] auto qr(const A& a) {
  using T = detail::element_of<A>;
  const auto matrices = detail::dense_matrices<T>(a);
  using X = std::remove_cvref_t<decltype(matrices)>;
  constexpr Dims type = dims_of<typename X::shape_type>;
  const Dims shape = matrices.shape();
  const std::int64_t k = detail::smaller_count(shape);
  const Tensor<T, typename X::device_type,
               shape_t<detail::matrix_extents(type, detail::row_count(type), detail::smaller_count(type))>>
      q(matrices.device(), detail::matrix_extents(shape, detail::row_count(shape), k));
  const Tensor<T, typename X::device_type,
               shape_t<detail::matrix_extents(type, detail::smaller_count(type), detail::column_count(type))>>
      r(matrices.device(), detail::matrix_extents(shape, k, detail::column_count(shape)));
  detail::run_matrices<&detail::qr_operation, T>(matrices.device(), {matrices, q, r});
  if constexpr (Full == FullMatrices::no)
    return detail::named_parts<QR>(q, r);
  else
    return detail::named_parts<QR>(detail::completed(q),
                                   detail::with_zero_rows<detail::row_count(type)>(r, detail::row_count(shape)));
}
/// Real eigenvalues, ascending, and eigenvectors of Hermitian matrices, of which one triangle is read.
/// throws: LinAlgError without convergence
template <UpLo Triangle = UpLo::lower, ComplexOperand A> [[nodiscard]] auto eigh(const A& a) {
  const auto matrices = detail::with_lower<Triangle>(detail::dense_squares<detail::element_of<A>>("eigh", a));
  const std::remove_cvref_t<decltype(matrices)> vectors(matrices.device(), matrices.shape());
  return detail::named_parts<EigenPairs>(detail::hermitian_eigenvalues(matrices, vectors), vectors);
}
/// Real eigenvalues of Hermitian matrices.
template <UpLo Triangle = UpLo::lower, ComplexOperand A> [[nodiscard]] auto eigvalsh(const A& a) {
  return detail::hermitian_eigenvalues(
      detail::with_lower<Triangle>(detail::dense_squares<detail::element_of<A>>("eigvalsh", a)));
}
/// The singular value decomposition A = U S V^H, thin unless told otherwise.
template <FullMatrices Full = FullMatrices::no, ComplexOperand A> [[nodiscard]] auto svd(const A& a) {
  const auto parts = detail::svd_of(detail::dense_matrices<detail::element_of<A>>(a));
  if constexpr (Full == FullMatrices::no)
    return parts;
  else
    return detail::named_parts<SVD>(detail::completed(parts.U), parts.S,
                                    detail::adjoint(detail::completed(detail::adjoint(parts.Vh))));
}
/// Singular values, real and descending.
template <ComplexOperand A> [[nodiscard]] auto svdvals(const A& a) {
  return detail::singular_values(detail::dense_matrices<detail::element_of<A>>(a));
}
/// Pseudo-inverses, by the singular values beyond a tolerance.
template <ComplexOperand A> [[nodiscard]] auto pinv(const A& a, const Tolerance& tolerance) {
  const auto matrices = detail::dense_matrices<detail::element_of<A>>(a);
  const auto parts = detail::svd_of(matrices);
  return detail::pseudo_inverses(parts, detail::counted(parts.S, matrices.shape(), tolerance));
}
/// Pseudo-inverses.
template <ComplexOperand A> [[nodiscard]] auto pinv(const A& a) { return pinv(a, Tolerance{}); }
/// Solutions of least squares, with rank and singular values, of which those beyond a tolerance count.
template <TensorOperand A, TensorOperand B>
requires ComplexOperands<A, B>
[[nodiscard]] auto lstsq(const A& a, const B& b, const Tolerance& tolerance) {
  using T = detail::common_element<A, B>;
  const auto sides = detail::fitting_sides<T>("lstsq", detail::dense_matrices<T>(a), b);
  const auto parts = detail::svd_of(sides.a);
  const auto counts = detail::counted(parts.S, sides.a.shape(), tolerance);
  const auto solutions = eval(matmul(detail::pseudo_inverses(parts, counts), sides.b));
  return detail::named_parts<LeastSquares>(detail::as_asked<B>(solutions), eval(sum<-1>(cast<std::int64_t>(counts))),
                                           parts.S);
}
/// Solutions of least squares, with rank and singular values.
template <TensorOperand A, TensorOperand B>
requires ComplexOperands<A, B>
[[nodiscard]] auto lstsq(const A& a, const B& b) { return lstsq(a, b, Tolerance{}); }
/// The number of singular values beyond a tolerance.
template <ComplexOperand A> [[nodiscard]] auto matrix_rank(const A& a, const Tolerance& tolerance) {
  const auto s = svdvals(a);
  return eval(sum<-1>(cast<std::int64_t>(detail::counted(s, detail::as_tensor(a).shape(), tolerance))));
}
/// The number of singular values that are not zero.
template <ComplexOperand A> [[nodiscard]] auto matrix_rank(const A& a) { return matrix_rank(a, Tolerance{}); }
/// Exponentials of matrices.
template <ComplexOperand A> [[nodiscard]] auto matrix_exp(const A& a) {
  using T = detail::element_of<A>;
  const auto matrices = detail::dense_squares<T>("matrix_exp", a);
  const std::remove_cvref_t<decltype(matrices)> result(matrices.device(), matrices.shape());
  detail::run_matrices<&detail::matrix_exp_operation, T>(matrices.device(), {matrices, result});
  return result;
}
/// A^N; negative powers are those of the inverse.
template <int N, ComplexOperand A> [[nodiscard]] auto matrix_power(const A& a) {
  const auto matrices = detail::dense_squares<detail::element_of<A>>("matrix_power", a);
  using X = std::remove_cvref_t<decltype(matrices)>;
  X result = detail::identities_like(matrices);
  if constexpr (N != 0) {
    X square = N < 0 ? X(inv(matrices)) : X(matrices);
    for (unsigned rest = N < 0 ? 0U - static_cast<unsigned>(N) : static_cast<unsigned>(N); rest != 0; rest >>= 1U) {
      if ((rest & 1U) != 0) result = eval(matmul(result, square));
      if (rest > 1) square = eval(matmul(square, square));
    }
  }
  return result;
}
/// Norms of matrices, real.
template <MatrixNorm Which = MatrixNorm::frobenius, ComplexOperand A> [[nodiscard]] auto matrix_norm(const A& a) {
  using enum MatrixNorm;
  const auto matrices = detail::dense_matrices<detail::element_of<A>>(a);
  if constexpr (Which == frobenius)
    return eval(sqrt(sum<-2, -1>(square(real(matrices)) + square(imag(matrices)))));
  else if constexpr (Which == nuclear)
    return eval(sum<-1>(detail::singular_values(matrices)));
  else if constexpr (Which == spectral)
    return eval(max<-1>(detail::singular_values(matrices)));
  else if constexpr (Which == smallest)
    return eval(min<-1>(detail::singular_values(matrices)));
  else {
    constexpr int axis = Which == largest_column || Which == smallest_column ? -2 : -1;
    const auto sums = eval(sum<axis>(abs(matrices)));
    if constexpr (Which == largest_column || Which == largest_row)
      return eval(max<-1>(sums));
    else
      return eval(min<-1>(sums));
  }
}
/// How much solutions may amplify errors, by a norm: of singular values for any matrices, of others for square ones.
template <MatrixNorm Which = MatrixNorm::spectral, ComplexOperand A> [[nodiscard]] auto cond(const A& a) {
  using enum MatrixNorm;
  if constexpr (Which == spectral || Which == smallest) {
    const auto s = svdvals(a);
    if constexpr (Which == spectral)
      return eval(max<-1>(s) / min<-1>(s));
    else
      return eval(min<-1>(s) / max<-1>(s));
  } else {
    const auto matrices = detail::dense_squares<detail::element_of<A>>("cond", a);
    return eval(matrix_norm<Which>(matrices) * matrix_norm<Which>(inv(matrices)));
  }
}

}}}} // namespace twill::v0::linalg::TWILL_ISA
