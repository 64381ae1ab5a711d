#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra of tensors: the functions on traced values, compiled for the tensors' types and shapes. Expressions
// are evaluated first. Read next: compile/function.hpp.

#include <twill/compile/function.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/cholesky.hpp>
#include <twill/linalg/eigh.hpp>
#include <twill/linalg/least_squares.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/matrix_functions.hpp>
#include <twill/linalg/norms.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/linalg/svd.hpp>
#include <twill/tensor/create.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace linalg {

/// A tensor, or an expression that evaluates to one.
template <class X>
concept TensorOperand = AnyTensor<X> || LazyValue<X>;

}}} // namespace twill::v0::linalg

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// A tensor itself, the values of an expression as one.
template <class X> [[nodiscard]] decltype(auto) as_tensor(const X& x) {
  if constexpr (AnyTensor<X>)
    return (x);
  else
    return expr::evaluate_as<typename X::shape_type>(x);
}

/// Refuses matrices that are not square. throws: ShapeError that names the function
template <class T, class D, class S> void require_square(const char* function, const Tensor<T, D, S>& x) {
  constexpr std::int64_t m = S::extent(S::rank - 2);
  constexpr std::int64_t n = S::extent(S::rank - 1);
  static_assert(m == n || m == dyn || n == dyn, "twill: linalg: the matrices are square");
  const Stack stack = matrices_of(x.shape());
  if (stack.rows != stack.columns)
    throw ShapeError(std::string{function} + ": matrices are square; got " + std::to_string(stack.rows) + " x " +
                     std::to_string(stack.columns));
}

/// A function of traced values, on tensors.
template <class F, class... X> [[nodiscard]] auto on_tensors(F f, const X&... x) {
  return compiled(f)(as_tensor(x)...);
}

/// The type in which matrices of these operands are decomposed.
template <class... X>
using ComputedType = std::conditional_t<(std::is_same_v<typename X::value_type, double> || ...), double, float>;

/// The numbers of a tolerance.
template <class T> struct Cutoffs {
  T absolute{};
  T relative{};
};

/// The numbers of a tolerance for matrices of a shape, of real type T.
template <class T> [[nodiscard]] Cutoffs<T> cutoffs_of(const Tolerance& tolerance, const Dims& shape) {
  const auto larger = static_cast<double>(std::max(shape[shape.rank - 2], shape[shape.rank - 1]));
  const bool is_default = !tolerance.rtol && !(tolerance.atol > 0);
  const double relative = is_default ? larger * epsilon_of(dtype_of<T>) : tolerance.rtol.value_or(0);
  return {static_cast<T>(tolerance.atol), static_cast<T>(relative)};
}

/// The numbers of a tolerance, where the tensor is: absolute, relative.
template <class T, AnyTensor A> [[nodiscard]] auto cutoff_tensors(const Tolerance& tolerance, const A& a) {
  const Cutoffs<T> cutoffs = cutoffs_of<T>(tolerance, a.shape());
  return std::pair{scalar(cutoffs.absolute, a.device()), scalar(cutoffs.relative, a.device())};
}

/// Several results by name.
template <template <class...> class Named, class... P> [[nodiscard]] auto named(const std::tuple<P...>& parts) {
  return std::apply([](const auto&... part) { return Named<P...>{part...}; }, parts);
}
template <template <class...> class Named, class F, class... X>
[[nodiscard]] auto named_on_tensors(F f, const X&... x) {
  return named<Named>(on_tensors(f, x...));
}

/// Extents that hold for two types: `dyn` where these know different ones.
[[nodiscard]] constexpr Dims extents_of_either(Dims a, const Dims& b) {
  for (int axis = 0; axis < a.rank; ++axis)
    if (a[axis] != b[axis]) a[axis] = dyn;
  return a;
}

/// The type that holds the results of two programs, tensors or tuples of them.
template <class A, class B> struct Either;
template <class T, class D, class A, class B> struct Either<Tensor<T, D, A>, Tensor<T, D, B>> {
  using type = Tensor<T, D, shape_t<extents_of_either(dims_of<A>, dims_of<B>)>>;
};
template <class... A, class... B> struct Either<std::tuple<A...>, std::tuple<B...>> {
  using type = std::tuple<typename Either<A, B>::type...>;
};

/// `f` with the proportion of a tensor's matrices: one of two programs where the type does not tell. An extent that one
/// of them knows and the other does not, such as the smaller one of n x 3, is `dyn`.
template <class X, class F> [[nodiscard]] auto by_proportion(const X& x, F f) {
  using S = typename X::shape_type;
  constexpr std::int64_t m = S::extent(S::rank - 2);
  constexpr std::int64_t n = S::extent(S::rank - 1);
  if constexpr (m != dyn && n != dyn) {
    return f.template operator()<Proportion::known>(x);
  } else {
    using Result = typename Either<decltype(f.template operator()<Proportion::tall>(x)),
                                   decltype(f.template operator()<Proportion::wide>(x))>::type;
    const Dims shape = x.shape();
    if (shape[shape.rank - 2] >= shape[shape.rank - 1]) return Result(f.template operator()<Proportion::tall>(x));
    return Result(f.template operator()<Proportion::wide>(x));
  }
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// X with A X = B.
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto solve(const A& a, const B& b) {
  return detail::on_tensors([](Value x, Value y) { return solve(x, y); }, a, b);
}
/// Inverses.
template <TensorOperand A> [[nodiscard]] auto inv(const A& a) {
  return detail::on_tensors([](Value x) { return inv(x); }, a);
}
/// Determinants.
template <TensorOperand A> [[nodiscard]] auto det(const A& a) {
  return detail::on_tensors([](Value x) { return det(x); }, a);
}
/// Signs and logarithms of the absolute values of determinants.
template <TensorOperand A> [[nodiscard]] auto slogdet(const A& a) {
  return detail::named_on_tensors<SlogDet>(
      [](Value x) {
        const auto parts = slogdet(x);
        return std::tuple{parts.sign, parts.logabsdet};
      },
      a);
}
/// LU factors with partial pivoting.
template <TensorOperand A> [[nodiscard]] auto lu_factor(const A& a) {
  return detail::named_on_tensors<LU>(
      [](Value x) {
        const auto parts = lu_factor(x);
        return std::tuple{parts.factors, parts.pivots};
      },
      a);
}
/// X with A X = B for a triangular A.
template <UpLo Triangle = UpLo::lower, Diagonal D = Diagonal::stored, TensorOperand A, TensorOperand B>
[[nodiscard]] auto solve_triangular(const A& a, const B& b) {
  return detail::on_tensors([](Value x, Value y) { return solve_triangular<Triangle, D>(x, y); }, a, b);
}
/// Lower triangular L with L L^T = A, or U with U^T U = A.
template <UpLo Triangle = UpLo::lower, TensorOperand A> [[nodiscard]] auto cholesky(const A& a) {
  return detail::on_tensors([](Value x) { return cholesky<Triangle>(x); }, a);
}
/// X with A X = B, from the Cholesky factor of A.
template <UpLo Triangle = UpLo::lower, TensorOperand B, TensorOperand L>
[[nodiscard]] auto cholesky_solve(const B& b, const L& factor) {
  return detail::on_tensors([](Value x, Value y) { return cholesky_solve<Triangle>(x, y); }, b, factor);
}
/// The QR decomposition.
template <FullMatrices Full = FullMatrices::no, TensorOperand A> [[nodiscard]] auto qr(const A& a) {
  return detail::named<QR>(detail::by_proportion(a, [&]<Proportion P>(const A& tensor) {
    return detail::on_tensors(
        [](Value x) {
          const auto parts = qr<Full, P>(x);
          return std::tuple{parts.Q, parts.R};
        },
        tensor);
  }));
}
/// Eigenvalues and eigenvectors of symmetric matrices.
template <UpLo Triangle = UpLo::lower, TensorOperand A> [[nodiscard]] auto eigh(const A& a) {
  return detail::named_on_tensors<EigenPairs>(
      [](Value x) {
        const auto parts = eigh<Triangle>(x);
        return std::tuple{parts.values, parts.vectors};
      },
      a);
}
/// Eigenvalues of symmetric matrices.
template <UpLo Triangle = UpLo::lower, TensorOperand A> [[nodiscard]] auto eigvalsh(const A& a) {
  return detail::on_tensors([](Value x) { return eigvalsh<Triangle>(x); }, a);
}
/// The singular value decomposition.
template <FullMatrices Full = FullMatrices::no, TensorOperand A> [[nodiscard]] auto svd(const A& a) {
  return detail::named<SVD>(detail::by_proportion(a, [&]<Proportion P>(const A& tensor) {
    return detail::on_tensors(
        [](Value x) {
          const auto parts = svd<Full, P>(x);
          return std::tuple{parts.U, parts.S, parts.Vh};
        },
        tensor);
  }));
}
/// Singular values, descending.
template <TensorOperand A> [[nodiscard]] auto svdvals(const A& a) {
  return detail::by_proportion(a, [&]<Proportion P>(const A& tensor) {
    return detail::on_tensors([](Value x) { return svdvals<P>(x); }, tensor);
  });
}
/// Pseudo-inverses.
template <TensorOperand A> [[nodiscard]] auto pinv(const A& a) {
  return detail::by_proportion(
      a, [&]<Proportion P>(const A& tensor) { return detail::on_tensors([](Value x) { return pinv<P>(x); }, tensor); });
}
/// Pseudo-inverses by the singular values beyond a tolerance.
template <TensorOperand A> [[nodiscard]] auto pinv(const A& a, const Tolerance& tolerance) {
  return detail::by_proportion(detail::as_tensor(a), [&]<Proportion P>(const auto& tensor) {
    const auto [atol, rtol] = detail::cutoff_tensors<detail::ComputedType<A>>(tolerance, tensor);
    return detail::on_tensors(
        [](Value x, Value absolute, Value relative) {
          const CallSite site = CallSite::here();
          return detail::pinv_beyond<P>(checked_matrix(x, site), {absolute, relative}, site);
        },
        tensor, atol, rtol);
  });
}
/// Solutions of least squares, with rank and singular values.
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto lstsq(const A& a, const B& b) {
  return detail::named<LeastSquares>(detail::by_proportion(a, [&]<Proportion P>(const A& tensor) {
    return detail::on_tensors(
        [](Value x, Value y) {
          const auto parts = lstsq<P>(x, y);
          return std::tuple{parts.solution, parts.rank, parts.singular_values};
        },
        tensor, b);
  }));
}
/// Solutions of least squares by the singular values beyond a tolerance.
template <TensorOperand A, TensorOperand B>
[[nodiscard]] auto lstsq(const A& a, const B& b, const Tolerance& tolerance) {
  return detail::named<LeastSquares>(detail::by_proportion(detail::as_tensor(a), [&]<Proportion P>(const auto& tensor) {
    const auto [atol, rtol] = detail::cutoff_tensors<detail::ComputedType<A, B>>(tolerance, tensor);
    return detail::on_tensors(
        [](Value x, Value y, Value absolute, Value relative) {
          const CallSite site = CallSite::here();
          const auto parts = detail::lstsq_beyond<P>(checked_matrix(x, site), y, {absolute, relative}, site);
          return std::tuple{parts.solution, parts.rank, parts.singular_values};
        },
        tensor, b, atol, rtol);
  }));
}
/// The number of singular values that are not zero.
template <TensorOperand A> [[nodiscard]] auto matrix_rank(const A& a) {
  return detail::by_proportion(a, [&]<Proportion P>(const A& tensor) {
    return detail::on_tensors([](Value x) { return matrix_rank<P>(x); }, tensor);
  });
}
/// The number of singular values beyond a tolerance.
template <TensorOperand A> [[nodiscard]] auto matrix_rank(const A& a, const Tolerance& tolerance) {
  return detail::by_proportion(detail::as_tensor(a), [&]<Proportion P>(const auto& tensor) {
    const auto [atol, rtol] = detail::cutoff_tensors<detail::ComputedType<A>>(tolerance, tensor);
    return detail::on_tensors(
        [](Value x, Value absolute, Value relative) {
          const CallSite site = CallSite::here();
          return detail::rank_beyond<P>(checked_matrix(x, site), {absolute, relative}, site);
        },
        tensor, atol, rtol);
  });
}
/// Norms of matrices.
template <MatrixNorm Which = MatrixNorm::frobenius, TensorOperand A> [[nodiscard]] auto matrix_norm(const A& a) {
  using enum MatrixNorm;
  if constexpr (Which == nuclear || Which == spectral || Which == smallest)
    return detail::by_proportion(a, [&]<Proportion P>(const A& tensor) {
      return detail::on_tensors([](Value x) { return matrix_norm<Which, P>(x); }, tensor);
    });
  else
    return detail::on_tensors([](Value x) { return matrix_norm<Which>(x); }, a);
}
/// How much solutions may amplify errors, by a norm.
template <MatrixNorm Which = MatrixNorm::spectral, TensorOperand A> [[nodiscard]] auto cond(const A& a) {
  using enum MatrixNorm;
  if constexpr (Which == spectral || Which == smallest)
    return detail::by_proportion(a, [&]<Proportion P>(const A& tensor) {
      return detail::on_tensors([](Value x) { return cond<Which, P>(x); }, tensor);
    });
  else // of square matrices, which is the smaller extent of no matter
    return detail::on_tensors([](Value x) { return cond<Which, Proportion::tall>(x); }, a);
}
/// Exponentials of matrices.
template <TensorOperand A> [[nodiscard]] auto matrix_exp(const A& a) {
  return detail::on_tensors([](Value x) { return matrix_exp(x); }, a);
}
/// A^N.
template <int N, TensorOperand A> [[nodiscard]] auto matrix_power(const A& a) {
  return detail::on_tensors([](Value x) { return matrix_power<N>(x); }, a);
}
/// Powers of elements as rows.
template <int N, VanderOrder Order = VanderOrder::decreasing, TensorOperand X> [[nodiscard]] auto vander(const X& x) {
  return detail::on_tensors([](Value v) { return vander<N, Order>(v); }, x);
}
/// Cross products of vectors of three.
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto cross(const A& a, const B& b) {
  return detail::on_tensors([](Value x, Value y) { return cross(x, y); }, a, b);
}

}}}} // namespace twill::v0::linalg::TWILL_ISA
