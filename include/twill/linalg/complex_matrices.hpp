#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of linalg/ for stacks of complex matrices: those of the real functions, instantiated for complex64 and
// complex128 and run at once, on the device that holds them. Operands become dense tensors of one type, whose stacks
// broadcast. Read next: linalg/complex_tensors.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/complex_functions.hpp>
#include <twill/expr/node.hpp>
#include <twill/kernel/program.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/cholesky.hpp>
#include <twill/linalg/eigh.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/linalg/svd.hpp>
#include <twill/linalg/tensors.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>
#include <twill/tensor/views.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace twill { inline namespace v0 { namespace linalg {

/// A complex tensor, or an expression that evaluates to one.
template <class X>
concept ComplexOperand = TensorOperand<X> && expr::is_complex_operand<X>;

namespace detail {
template <class A, class B>
inline constexpr bool has_complex_operand = expr::is_complex_operand<A> || expr::is_complex_operand<B>;
} // namespace detail

/// Two operands of which one or both are complex. Without `or`, after which nvcc finds no overload more constrained.
template <class A, class B>
concept ComplexOperands = TensorOperand<A> && TensorOperand<B> && detail::has_complex_operand<A, B>;

}}} // namespace twill::v0::linalg

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

// Extents, of a tensor and of its type: of the stack, of a vector for each matrix, of other matrices.
[[nodiscard]] constexpr Dims stack_extents(Dims shape) {
  shape.rank -= 2;
  return shape;
}
[[nodiscard]] constexpr Dims vector_extents(Dims shape, std::int64_t length) {
  shape.rank -= 1;
  shape[shape.rank - 1] = length;
  return shape;
}
[[nodiscard]] constexpr Dims matrix_extents(Dims shape, std::int64_t rows, std::int64_t columns) {
  shape[shape.rank - 2] = rows;
  shape[shape.rank - 1] = columns;
  return shape;
}
[[nodiscard]] constexpr std::int64_t row_count(const Dims& shape) { return shape[shape.rank - 2]; }
[[nodiscard]] constexpr std::int64_t column_count(const Dims& shape) { return shape[shape.rank - 1]; }
[[nodiscard]] constexpr Dims stacked_extents(Dims stack, const Dims& matrix) {
  stack.rank += 2;
  return matrix_extents(stack, row_count(matrix), column_count(matrix));
}
[[nodiscard]] constexpr std::int64_t smaller_count(const Dims& shape) {
  const std::int64_t m = row_count(shape), n = column_count(shape);
  return m == dyn || n == dyn ? dyn : std::min(m, n);
}

/// An operand of a kernel: a dense tensor, or without data a result that nobody reads.
struct MatrixPart {
  void* data = nullptr;
  Dims shape{};
  DType dtype = DType::boolean;

  MatrixPart() = default;
  template <class T, class D, class S>
  MatrixPart(const Tensor<T, D, S>& x) : data{x.data()}, shape{x.shape()}, dtype{dtype_of<T>} {} // NOLINT: implicit
};

/// Runs the kernel of an operation for elements of type T.
template <const graph::Operation* O, class T, class D, std::size_t N>
void run_matrices(const D& device, const MatrixPart (&list)[N], std::array<std::int64_t, 3> attributes = {}) {
  std::array<MatrixPart, N> parts{};
  std::copy(list, list + N, parts.begin());
  launch(device, [=]<class Queue>(const Queue& queue) {
    std::array<kernel::Operand, N> operands{};
    std::array<Dims, N> shapes{};
    std::array<DType, N> dtypes{};
    for (std::size_t i = 0; i < N; ++i) {
      operands[i].data = parts[i].data;
      shapes[i] = parts[i].shape;
      dtypes[i] = parts[i].dtype;
    }
    const kernel::Grid grid{};
    const kernel::Launch call{grid, operands.data(), shapes.data(), dtypes.data(), attributes.data()};
    if constexpr (std::convertible_to<const Queue&, const Team&>)
      KernelOf<O>::template run<T>(static_cast<const Team&>(queue), call);
    else
      KernelOf<O>::template run<T>(queue, call);
  });
}

/// Matrices of element type T as a dense tensor.
template <class T, class A> [[nodiscard]] auto dense_matrices(const A& a) {
  auto source = as_tensor(a);
  static_assert(decltype(source)::rank >= 2, "twill: linalg: a matrix has two axes; add one with unsqueeze");
  return source.template to<T>().contiguous();
}

/// Square matrices of element type T. throws: ShapeError that names the function
template <class T, class A> [[nodiscard]] auto dense_squares(const char* function, const A& a) {
  const auto source = dense_matrices<T>(a);
  require_square(function, source);
  return source;
}

template <class A> using element_of = scalar_t<expr::typed<A>().type>;
template <class A, class B> using common_element = promote_t<element_of<A>, element_of<B>>;

/// A matrix and right sides whose stacks fit each other.
template <class A, class B> struct ComplexSides {
  A a;
  B b;
};
template <class A, class B> [[nodiscard]] ComplexSides<A, B> sides_of(const A& a, const B& b) { return {a, b}; }

/// Right sides as matrices, one vector as one column; stacks of both broadcast. throws: ShapeError
template <class T, class A, class B> [[nodiscard]] auto fitting_sides(const char* function, const A& a, const B& b) {
  const auto right = [&] {
    if constexpr (std::remove_cvref_t<decltype(as_tensor(b))>::rank == 1)
      return dense_matrices<T>(as_tensor(b).template unsqueeze<1>());
    else
      return dense_matrices<T>(b);
  }();
  using SA = typename A::shape_type;
  using SB = typename std::remove_cvref_t<decltype(right)>::shape_type;
  const Dims left_shape = a.shape(), right_shape = right.shape();
  if (row_count(left_shape) != row_count(right_shape))
    throw ShapeError(std::string{function} + ": right sides have as many rows as the matrix; got " +
                     std::to_string(row_count(right_shape)) + " for " + std::to_string(row_count(left_shape)));
  using Stacks = broadcast_t<shape_t<stack_extents(dims_of<SA>)>, shape_t<stack_extents(dims_of<SB>)>>;
  const Dims stacks = expr::joined_extents(function, stack_extents(left_shape), stack_extents(right_shape));
  const auto stacked = [&]<class X>(const X& x) {
    using To = shape_t<stacked_extents(dims_of<Stacks>, dims_of<typename X::shape_type>)>;
    return broadcast_to<To>(x, stacked_extents(stacks, x.shape())).contiguous();
  };
  return sides_of(stacked(a), stacked(right));
}

/// LU factors, exchanged rows and their parities.
template <class Factors, class Pivots, class Parity> struct ComplexFactors {
  Factors factors;
  Pivots pivots;
  Parity parity;
};
template <class T, class D, class S> [[nodiscard]] auto factors_of(const Tensor<T, D, S>& a) {
  const Dims shape = a.shape();
  const Tensor<T, D, S> factors(a.device(), shape);
  const Tensor<std::int64_t, D, shape_t<vector_extents(dims_of<S>, column_count(dims_of<S>))>> pivots(
      a.device(), vector_extents(shape, column_count(shape)));
  const Tensor<T, D, shape_t<stack_extents(dims_of<S>)>> parity(a.device(), stack_extents(shape));
  run_matrices<&lu_operation, T>(a.device(), {a, factors, pivots, parity});
  return ComplexFactors<std::remove_const_t<decltype(factors)>, std::remove_const_t<decltype(pivots)>,
                        std::remove_const_t<decltype(parity)>>{factors, pivots, parity};
}

/// A result and its info, of which there is none where the function throws.
template <class Result, class Info> struct ComplexReported {
  Result result;
  Info info;
};
/// Room for the info of each matrix of a stack.
template <class T, class D, class S> [[nodiscard]] auto infos_of(const Tensor<T, D, S>& a, OnFailure failing) {
  const bool reports = failing == OnFailure::reports;
  const Dims shape = stack_extents(a.shape());
  using Info = Tensor<std::int32_t, D, shape_t<stack_extents(dims_of<S>)>>;
  return reports ? Info(a.device(), shape) : Info(a.storage(), nullptr, shape, contiguous_strides(shape));
}

/// X with A X = B of dense stacks that fit. throws: LinAlgError
template <class T, class D, class SA, class SB>
[[nodiscard]] auto solutions_of(const Tensor<T, D, SA>& a, const Tensor<T, D, SB>& b, Solver function,
                                OnFailure failing) {
  const auto lu = factors_of(a);
  const Tensor<T, D, SB> x(b.device(), b.shape());
  const auto info = infos_of(b, failing);
  run_matrices<&lu_solve_operation, T>(
      b.device(), {lu.factors, lu.pivots, b, x, info},
      {0, static_cast<std::int64_t>(function), static_cast<std::int64_t>(failing == OnFailure::reports)});
  return ComplexReported<std::remove_const_t<decltype(x)>, std::remove_const_t<decltype(info)>>{x, info};
}

/// Identity matrices of the shape of dense square ones.
template <class T, class D, class S> [[nodiscard]] auto identities_like(const Tensor<T, D, S>& a) {
  const std::int64_t n = column_count(a.shape());
  return broadcast_to<S>(eye<T, Shape<dyn, dyn>>(Dims(n, n), a.device()), a.shape()).contiguous();
}

/// X with op(A) X = B of dense stacks that fit, for a triangular A.
template <class T, class D, class SA, class SB>
[[nodiscard]] auto triangular_solutions(const Tensor<T, D, SA>& a, const Tensor<T, D, SB>& b,
                                        const Triangular& system) {
  const Tensor<T, D, SB> x(b.device(), b.shape());
  run_matrices<&triangular_operation, T>(b.device(), {a, b, x},
                                         {system.triangle == UpLo::upper, system.diagonal == Diagonal::ones,
                                          static_cast<std::int64_t>(system.transposed)});
  return x;
}

template <class T, class D, class S> [[nodiscard]] auto cholesky_factors(const Tensor<T, D, S>& a, OnFailure failing) {
  const Tensor<T, D, S> l(a.device(), a.shape());
  const auto info = infos_of(a, failing);
  run_matrices<&cholesky_operation, T>(a.device(), {a, l, info},
                                       {static_cast<std::int64_t>(failing == OnFailure::reports)});
  return ComplexReported<std::remove_const_t<decltype(l)>, std::remove_const_t<decltype(info)>>{l, info};
}

/// Singular values of dense matrices, and vectors into `u` and `vh` unless they are null.
template <class T, class D, class S>
[[nodiscard]] auto singular_values(const Tensor<T, D, S>& a, const MatrixPart& u = {}, const MatrixPart& vh = {}) {
  const std::int64_t k = smaller_count(a.shape());
  const Tensor<real_t<T>, D, shape_t<vector_extents(dims_of<S>, smaller_count(dims_of<S>))>> s(
      a.device(), vector_extents(a.shape(), k));
  run_matrices<&svd_operation, T>(a.device(), {a, s, u, vh});
  return s;
}

/// Eigenvalues of dense Hermitian matrices, and vectors unless there is no place for them.
template <class T, class D, class S>
[[nodiscard]] auto hermitian_eigenvalues(const Tensor<T, D, S>& a, const MatrixPart& vectors = {}) {
  const Tensor<real_t<T>, D, shape_t<vector_extents(dims_of<S>, column_count(dims_of<S>))>> values(
      a.device(), vector_extents(a.shape(), column_count(a.shape())));
  run_matrices<&eigh_operation, T>(a.device(), {a, values, vectors});
  return values;
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA
