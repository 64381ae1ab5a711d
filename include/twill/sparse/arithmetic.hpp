#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Products of sparse matrices with vectors and dense matrices, sums along an axis, and scaled rows and columns. They
// compute at once, evaluate expressions first, and return new tensors. 16-bit floats add up in float32. Hosts have
// loops; GPUs take a library, with a header of their own: sparse/cuda/products.cuh. Read next: sparse/products.hpp,
// sparse/csr_value.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>
#include <twill/expr/gather.hpp>
#include <twill/sparse/csr_matrix.hpp>
#include <twill/sparse/products.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace sparse { namespace detail { inline namespace TWILL_ISA {

/// A shape (rows), or (rows, columns of S): that of a product with an operand of shape S.
template <std::int64_t Rows, AnyShape S>
using product_shape_t = std::conditional_t<S::rank == 1, Shape<Rows>, Shape<Rows, S::extent(S::rank - 1)>>;
[[nodiscard]] constexpr Dims product_dims(std::int64_t rows, const Dims& x) {
  return x.rank == 1 ? Dims(rows) : Dims(rows, x[1]);
}
/// The columns of a dense operand, 1 of a vector.
[[nodiscard]] constexpr std::int64_t width_of(const Dims& x) { return x.rank == 1 ? 1 : x[1]; }

/// Refuses operands that do not fit at compile time.
template <class A, class X, std::int64_t Inner> constexpr void require_operands() {
  static_assert(has_products<team_t<typename A::device_type>>,
                "twill: sparse: on CUDA devices products are cuSPARSE's; include <twill/sparse/cuda/products.cuh> in a "
                "program that is configured with cuSPARSE, or move matrix and operand to a host, a.to(Cpu{0})");
  static_assert(std::same_as<typename A::device_type, typename X::device_type>,
                "twill: sparse: matrix and operand are on different kinds of device; move one with to(device)");
  static_assert(std::same_as<typename A::value_type, typename X::value_type>,
                "twill: sparse: matrix and operand have different element types; convert one, x.to<float>()");
  static_assert(X::rank == 1 || X::rank == 2, "twill: sparse: the dense operand is a vector or a matrix");
  constexpr std::int64_t rows = X::shape_type::extent(0);
  if constexpr (Inner != dyn && rows != dyn && Inner != rows)
    static_cast<void>(sizeof(
        Mistake<refused<Problem::matmul_left_columns_differ_from_right_rows, with::left<Inner>, with::right<rows>>>));
}

/// Refuses operands that do not fit at run time.
template <class A, class X>
void require_fit(std::string_view where, const A& a, const X& x, std::int64_t inner, std::string_view inner_name) {
  if (!(a.device() == x.device()))
    throw DeviceError(join_text({where, ": matrix and operand are on ", to_string(a.device()), " and ",
                                 to_string(x.device()), "; move one with to(device)"}));
  if (x.shape()[0] != inner)
    throw ShapeError(join_text(
        {where, ": the sparse matrix has ", inner, " ", inner_name, ", the dense operand ", x.shape()[0], " rows"}));
}

/// A x, by rows.
template <class T, class D, class S, class X>
[[nodiscard]] auto multiplied(const CsrMatrix<T, D, S>& a, const Tensor<T, D, X>& x) {
  const Tensor<T, D, product_shape_t<S::extent(0), X>> y(a.device(), product_dims(a.rows(), x.shape()));
  const std::int64_t width = width_of(x.shape());
  if (y.elements() > 0)
    launch(a.device(), [structure = a.structure(), values = a.values().data(), from = x.data(), width,
                        to = y.data()](const auto& team) { multiply(team, structure, values, from, width, to); });
  return y;
}

/// A^T x, of a type that computes in its own precision.
template <class T, class D, class S, class X>
[[nodiscard]] auto multiplied_transposed(const CsrMatrix<T, D, S>& a, const Tensor<T, D, X>& x) {
  const Tensor<T, D, product_shape_t<S::extent(1), X>> y(a.device(), product_dims(a.columns(), x.shape()));
  const std::int64_t width = width_of(x.shape());
  if (y.elements() > 0)
    launch(a.device(), [structure = a.structure(), values = a.values().data(), from = x.data(), width, to = y.data()](
                           const auto& team) { multiply_transposed(team, structure, values, from, width, to); });
  return y;
}

/// Values of A's non-zeros from x and y, whose rows belong to A's rows and columns.
template <class T, class D, class S, class X, class Y>
[[nodiscard]] Tensor<T, D, Shape<dyn>> multiplied_sampled(const CsrMatrix<T, D, S>& a, const Tensor<T, D, X>& x,
                                                          const Tensor<T, D, Y>& y) {
  const Tensor<T, D, Shape<dyn>> s(a.device(), Dims(a.nnz()));
  const std::int64_t width = width_of(x.shape());
  if (s.elements() > 0)
    launch(a.device(), [structure = a.structure(), left = x.data(), right = y.data(), width, to = s.data()](
                           const auto& team) { multiply_sampled(team, structure, left, right, width, to); });
  return s;
}

}}}}} // namespace twill::v0::sparse::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace sparse { inline namespace TWILL_ISA {

/// A x for a dense matrix x (columns, width), or a vector.
/// throws: ShapeError, DeviceError    cost: one pass; threads have rows with equal numbers of non-zeros
template <AnyCsrMatrix A, TensorOperand X> [[nodiscard]] auto matmul(const A& a, X&& x) {
  const auto dense = expr::evaluated(std::forward<X>(x));
  detail::require_operands<A, std::remove_const_t<decltype(dense)>, A::shape_type::extent(1)>();
  detail::require_fit("sparse matmul", a, dense, a.columns(), "columns");
  return detail::multiplied(a, dense.contiguous());
}

/// A^T x for a dense matrix x (rows, width), or a vector, without the transposed matrix.
/// throws: ShapeError, DeviceError
template <AnyCsrMatrix A, TensorOperand X> [[nodiscard]] auto transposed_matmul(const A& a, X&& x) {
  const auto dense = expr::evaluated(std::forward<X>(x));
  detail::require_operands<A, std::remove_const_t<decltype(dense)>, A::shape_type::extent(0)>();
  detail::require_fit("sparse transposed_matmul", a, dense, a.rows(), "rows");
  using T = typename A::value_type;
  using C = compute_t<T>;
  if constexpr (std::same_as<C, T>)
    return detail::multiplied_transposed(a, dense.contiguous());
  else
    return detail::multiplied_transposed(a.with_values(a.values().template to<C>()),
                                         dense.contiguous().template to<C>())
        .template to<T>();
}

/// A with the elements of x y at its non-zeros, for x (rows, width) and y (width, columns): `torch.sparse`'s
/// `sampled_addmm` with beta = 0. A's values are not read.
/// throws: ShapeError, DeviceError
template <AnyCsrMatrix A, TensorOperand X, TensorOperand Y> [[nodiscard]] A sampled_matmul(const A& a, X&& x, Y&& y) {
  const auto left = expr::evaluated(std::forward<X>(x)).contiguous();
  const auto right = expr::evaluated(std::forward<Y>(y)).transpose().contiguous();
  static_assert(left.rank == 2 && right.rank == 2, "twill: sparse: sampled_matmul takes two dense matrices");
  detail::require_operands<A, std::remove_const_t<decltype(left)>, A::shape_type::extent(0)>();
  detail::require_operands<A, std::remove_const_t<decltype(right)>, A::shape_type::extent(1)>();
  detail::require_fit("sparse sampled_matmul", a, left, a.rows(), "rows");
  if (right.shape()[0] != a.columns() || left.shape()[1] != right.shape()[1])
    throw ShapeError(join_text({"sparse sampled_matmul: a product of shapes ", to_string(left.shape()), " and ",
                                to_string(Dims(right.shape()[1], right.shape()[0])), " for a sparse matrix of shape ",
                                to_string(a.shape())}));
  return a.with_values(detail::multiplied_sampled(a, left, right));
}

/// Sums along an axis: `sum<1>(a)` is one number for each row, as a vector. Nothing stored is zero.
template <int Axis, AnyCsrMatrix A> [[nodiscard]] auto sum(const A& a) {
  constexpr int axis = axis_of<Axis, 2>;
  using S = typename A::shape_type;
  const auto ones = full<typename A::value_type, Shape<S::extent(axis)>, typename A::device_type>(
      Dims(a.shape()[axis]), static_cast<typename A::value_type>(1), a.device());
  if constexpr (axis == 1)
    return matmul(a, ones);
  else
    return transposed_matmul(a, ones);
}

/// The matrix with row r times s[r]. throws: ShapeError, DeviceError
template <AnyCsrMatrix A, TensorOperand X> [[nodiscard]] A scale_rows(const A& a, X&& s) {
  const auto factors = expr::evaluated(std::forward<X>(s)).contiguous();
  static_assert(factors.rank == 1, "twill: sparse: scale_rows takes a vector");
  detail::require_operands<A, std::remove_const_t<decltype(factors)>, A::shape_type::extent(0)>();
  detail::require_fit("sparse scale_rows", a, factors, a.rows(), "rows");
  using T = typename A::value_type;
  const auto ones = full<T, Shape<dyn>, typename A::device_type>(Dims(a.columns()), static_cast<T>(1), a.device());
  return a.with_values(
      Tensor<T, typename A::device_type, Shape<dyn>>(a.values() * detail::multiplied_sampled(a, factors, ones)));
}

/// The matrix with column c times s[c]. throws: ShapeError, DeviceError
template <AnyCsrMatrix A, TensorOperand X> [[nodiscard]] A scale_columns(const A& a, X&& s) {
  const auto factors = expr::evaluated(std::forward<X>(s)).contiguous();
  static_assert(factors.rank == 1, "twill: sparse: scale_columns takes a vector");
  detail::require_operands<A, std::remove_const_t<decltype(factors)>, A::shape_type::extent(1)>();
  detail::require_fit("sparse scale_columns", a, factors, a.columns(), "columns");
  using T = typename A::value_type;
  const auto ones = full<T, Shape<dyn>, typename A::device_type>(Dims(a.rows()), static_cast<T>(1), a.device());
  return a.with_values(
      Tensor<T, typename A::device_type, Shape<dyn>>(a.values() * detail::multiplied_sampled(a, ones, factors)));
}

}}}} // namespace twill::v0::sparse::TWILL_ISA
