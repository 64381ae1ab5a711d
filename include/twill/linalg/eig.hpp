#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues and eigenvectors of general matrices, real or complex: functions of tensors over LAPACK's geev, on GPUs a
// library's. Results are complex, since a real matrix may have complex eigenvalues. There are no gradients and no
// functions of traced values; linalg/eigh.hpp has both for symmetric matrices. Read next: linalg/geev.hpp,
// linalg/gpu/eigenpairs.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/gather.hpp>
#include <twill/kernel/scratch.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/geev.hpp>
#include <twill/linalg/matrix_values.hpp>
#include <twill/linalg/tensors.hpp>
#include <twill/tensor/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// The extents of a vector for each matrix.
[[nodiscard]] constexpr Dims vectors_of(Dims shape) {
  shape.rank -= 1;
  return shape;
}

/// The operand as a dense tensor of float32, float64, complex64 or complex128. throws: ShapeError (not square)
template <TensorOperand A> [[nodiscard]] auto general_matrices(const char* function, A&& a) {
  auto source = expr::evaluated(std::forward<A>(a));
  using X = decltype(source);
  using S = typename X::shape_type;
  constexpr DType dtype = floating_type(dtype_of<typename X::value_type>);
  static_assert(dtype >= DType::float32 && !is_float8(dtype),
                "twill: eig: matrices are float32, float64, complex64 or complex128; convert with to<float>()");
  static_assert(S::rank >= 2, "twill: eig: a matrix has two axes; add one with unsqueeze");
  if constexpr (S::rank >= 2) require_square(function, source);
  return source.template to<scalar_t<dtype>>().contiguous();
}

/// Whether all elements are finite. LAPACK's iteration does not end well where one is not.
template <class T> [[nodiscard]] bool is_finite(const T* from, std::int64_t count) {
  bool result = true;
  for (std::int64_t i = 0; i < count; ++i) {
    const T difference = from[i] - from[i];
    result = result && difference == T{};
  }
  return result;
}

/// Eigenvalues of a stack, and eigenvectors unless there is no place for them.
/// throws: LinAlgError (elements that are not finite, no convergence)
template <class T>
void find_eigenpairs(const Team& team, std::string_view function, const Stack& stack, const T* from,
                     Complex<real_t<T>>* values, Complex<real_t<T>>* vectors) {
  const std::int64_t n = stack.rows;
  const Geev<T> geev{vectors != nullptr ? Vectors::yes : Vectors::no, n};
  FirstFailure broken{};
  FirstFailure failure{};
  for_each_matrix(team, stack, [&](std::int64_t i) {
    const T* const matrix = from + i * n * n;
    if (!is_finite(matrix, n * n)) return broken.note(i, 1);
    T* const memory = kernel::Scratch::of_thread<T>(geev.elements());
    failure.note(i, geev(matrix, values + i * n, vectors != nullptr ? vectors + i * n * n : nullptr, memory));
  });
  if (broken.any()) throw_not_finite(function, broken, stack.count);
  if (failure.any()) throw_without_eigenvalues(function, failure, stack.count);
}
template <class T, class Queue>
requires(!std::convertible_to<const Queue&, const Team&>) void find_eigenpairs(const Queue& queue,
                                                                               std::string_view function,
                                                                               const Stack& stack, const T* from,
                                                                               Complex<real_t<T>>* values,
                                                                               Complex<real_t<T>>* vectors) {
  MatricesOn<Queue>::eigenpairs(queue, function, stack, from, values, vectors);
}

/// Eigenvalues of dense matrices, and eigenvectors into `vectors` unless it is null.
template <class T, class D, class S>
[[nodiscard]] auto eigenvalues(const char* function, const Tensor<T, D, S>& a, Complex<real_t<T>>* vectors) {
  const Tensor<Complex<real_t<T>>, D, shape_t<vectors_of(dims_of<S>)>> values(a.device(), vectors_of(a.shape()));
  if (a.elements() != 0)
    launch(a.device(), [=, stack = matrices_of(a.shape()), from = a.data(), to = values.data()](const auto& team) {
      find_eigenpairs(team, function, stack, from, to, vectors);
    });
  return values;
}

template <class Values, class Eigenvectors>
[[nodiscard]] EigenPairs<Values, Eigenvectors> paired(const Values& values, const Eigenvectors& vectors) {
  return {values, vectors};
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// Eigenvalues and eigenvectors of general (..., n, n), real or complex: A v = lambda v. Both results are complex, of
/// the precision of the operand; integers become float32. Eigenvalues have LAPACK's order, where conjugate pairs are
/// neighbours; vectors are columns of length 1, as torch.linalg.eig and numpy.linalg.eig have them. For tensors alone:
/// no gradients. GPUs take their library's `geev`, matrix by matrix, and the call waits for it.
/// throws: ShapeError (not square), LinAlgError (elements that are not finite, no convergence)
template <class A>
requires(TensorOperand<A> || detail::TracedOperand<A>) [[nodiscard]] auto eig(A&& a) {
  static_assert(TensorOperand<A>, "twill: eig: general matrices have no gradients and are not for models; eigh takes "
                                  "symmetric and Hermitian ones");
  const auto matrices = detail::general_matrices("eig", std::forward<A>(a));
  using X = std::remove_cvref_t<decltype(matrices)>;
  using Z = Complex<real_t<typename X::value_type>>;
  const Tensor<Z, typename X::device_type, typename X::shape_type> vectors(matrices.device(), matrices.shape());
  return detail::paired(detail::eigenvalues("eig", matrices, vectors.data()), vectors);
}

/// Eigenvalues of general matrices, complex; faster than `eig`. For tensors alone: no gradients.
/// throws: ShapeError (not square), LinAlgError (elements that are not finite, no convergence)
template <class A>
requires(TensorOperand<A> || detail::TracedOperand<A>) [[nodiscard]] auto eigvals(A&& a) {
  static_assert(TensorOperand<A>, "twill: eigvals: general matrices have no gradients and are not for models; eigvalsh "
                                  "takes symmetric and Hermitian ones");
  return detail::eigenvalues("eigvals", detail::general_matrices("eigvals", std::forward<A>(a)), nullptr);
}

}}}} // namespace twill::v0::linalg::TWILL_ISA
