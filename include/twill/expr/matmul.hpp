#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The matrix product of tensors, NumPy's `matmul`: vectors, matrices, and stacks of matrices whose leading axes broadcast.
// Unlike everything else in expr/ it computes at once and returns a tensor; operands that are expressions are evaluated
// first. Transposed views go to the product as they are. Read next: kernel/product.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/kernel/product.hpp>
#include <twill/tensor/layout.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace twill::inline v0::expr::inline TWILL_ISA {

/// The axes before the last two.
[[nodiscard]] constexpr Dims batch_axes(const Dims& dims) {
  Dims result = dims;
  result.rank = dims.rank > 2 ? dims.rank - 2 : 0;
  return result;
}
/// The two extents that have to agree.
[[nodiscard]] constexpr std::int64_t left_inner(const Dims& left) { return left[left.rank - 1]; }
[[nodiscard]] constexpr std::int64_t right_inner(const Dims& right) {
  return right[right.rank == 1 ? 0 : right.rank - 2];
}

/// The extents of a product, `dyn` where unknown.
[[nodiscard]] constexpr Dims product_extents(const Dims& left, const Dims& right) {
  Dims result = detail::broadcast_dims(batch_axes(left), batch_axes(right));
  if (left.rank > 1) result[result.rank++] = left[left.rank - 2];
  if (right.rank > 1) result[result.rank++] = right[right.rank - 1];
  return result;
}

template <class A, class B> consteval Dims product_dims() {
  if constexpr (A::rank == 0 || B::rank == 0) {
    static_cast<void>(
        sizeof(refused<Problem::matmul_needs_at_least_one_dimension, with::left<A::rank>, with::right<B::rank>>));
    return {};
  } else {
    constexpr std::int64_t columns = left_inner(dims_of<A>);
    constexpr std::int64_t rows = right_inner(dims_of<B>);
    if constexpr (columns != rows && columns != dyn && rows != dyn)
      static_cast<void>(
          sizeof(refused<Problem::matmul_left_columns_differ_from_right_rows, with::left<columns>, with::right<rows>>));
    return product_extents(dims_of<A>, dims_of<B>);
  }
}

/// One operand as matrices: addresses by batch index, and the strides of rows and columns.
template <class T> struct Matrices {
  const T* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  Dims batch_strides{}; ///< along the result's batch axes

  [[nodiscard]] bool is_transposed(std::int64_t columns) const { return column_stride != 1 && columns != 1; }
  [[nodiscard]] std::int64_t leading(std::int64_t rows, std::int64_t columns) const {
    return is_transposed(columns) ? std::max(column_stride, std::max<std::int64_t>(rows, 1))
                                  : std::max(rows == 1 ? 0 : row_stride, std::max<std::int64_t>(columns, 1));
  }
};

/// The tensor, or a copy of it, such that its matrices are row-major or transposed.
template <class T, class D, class S> [[nodiscard]] Tensor<T, D, S> dense(const Tensor<T, D, S>& x) {
  if constexpr (S::rank < 2) {
    return x.contiguous();
  } else {
    const Dims extents = x.shape();
    const Dims strides = x.strides();
    const std::int64_t rows = extents[S::rank - 2];
    const std::int64_t columns = extents[S::rank - 1];
    const std::int64_t row_stride = strides[S::rank - 2];
    const std::int64_t column_stride = strides[S::rank - 1];
    const bool row_major = (column_stride == 1 || columns == 1) && (row_stride >= columns || rows == 1);
    const bool transposed = columns != 1 && (row_stride == 1 || rows == 1) && column_stride >= rows;
    return row_major || transposed ? x : x.clone();
  }
}

template <class T, class D, class S>
[[nodiscard]] Matrices<T> matrices_of(const Tensor<T, D, S>& x, const Dims& batch, bool vector_is_row) {
  const Dims extents = x.shape();
  const Dims strides = x.strides();
  Matrices<T> result{.data = x.data()};
  if (S::rank == 1) {
    result.row_stride = vector_is_row ? extents[0] : strides[0];
    result.column_stride = 1;
    if (!vector_is_row) result.row_stride = 1;
    return result;
  }
  result.row_stride = strides[S::rank - 2];
  result.column_stride = strides[S::rank - 1];
  result.batch_strides.rank = batch.rank;
  for (int axis = 0; axis < S::rank - 2; ++axis)
    result.batch_strides[batch.rank - (S::rank - 2) + axis] = extents[axis] == 1 ? 0 : strides[axis];
  return result;
}

template <class X> [[nodiscard]] auto as_tensor(X&& x) {
  if constexpr (AnyTensor<X>)
    return std::remove_cvref_t<X>(std::forward<X>(x));
  else
    return eval(std::forward<X>(x));
}

} // namespace twill::inline v0::expr::inline TWILL_ISA

namespace twill::inline v0::inline TWILL_ISA {

/// The matrix product. A vector on the left is a row, on the right a column, and its axis disappears.
/// throws: ShapeError, DeviceError
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto matmul(A&& left, B&& right) {
  const auto unpacked_a = expr::as_tensor(std::forward<A>(left));
  const auto unpacked_b = expr::as_tensor(std::forward<B>(right));
  using TensorA = std::remove_cvref_t<decltype(unpacked_a)>;
  using TensorB = std::remove_cvref_t<decltype(unpacked_b)>;
  using T = typename TensorA::value_type;
  using D = typename TensorA::device_type;
  static_assert(std::is_same_v<D, typename TensorB::device_type>,
                "twill: the operands live on different kinds of device; move one of them with to(device)");
  if constexpr (!std::is_same_v<T, typename TensorB::value_type>)
    static_cast<void>(sizeof(
        refused<Problem::element_types_differ, with::left_type<TensorA::dtype>, with::right_type<TensorB::dtype>>));
  static_assert(!std::is_same_v<T, bool>, "twill: matmul takes numbers; convert the operand with to<T>()");
  constexpr Dims known = expr::product_dims<typename TensorA::shape_type, typename TensorB::shape_type>();

  const Dims left_extents = unpacked_a.shape();
  const Dims right_extents = unpacked_b.shape();
  const std::int64_t k = expr::left_inner(left_extents);
  if (k != expr::right_inner(right_extents))
    throw ShapeError("matmul: left has " + std::to_string(k) + " columns, right has " +
                     std::to_string(expr::right_inner(right_extents)) + " rows");
  const Dims left_batch = expr::batch_axes(left_extents);
  const Dims right_batch = expr::batch_axes(right_extents);
  if (detail::broadcast_conflict(left_batch, right_batch) >= 0)
    throw ShapeError("matmul: the leading axes " + to_string(left_batch) + " and " + to_string(right_batch) +
                     " do not broadcast");
  require_same_device("matmul", unpacked_a.device(), unpacked_b.device());

  const auto a = expr::dense(unpacked_a);
  const auto b = expr::dense(unpacked_b);
  Tensor<T, D, shape_t<known>> result(a.device(), expr::product_extents(left_extents, right_extents));
  if (result.elements() == 0) return result;
  const Dims batch = detail::broadcast_dims(left_batch, right_batch);
  const std::int64_t m = left_extents.rank == 1 ? 1 : left_extents[left_extents.rank - 2];
  const std::int64_t n = right_extents.rank == 1 ? 1 : right_extents[right_extents.rank - 1];
  launch(result.device(), [=, to = result.data(), x = expr::matrices_of(a, batch, true),
                           y = expr::matrices_of(b, batch, false)](const auto& team) {
    const std::int64_t count = batch.elements();
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = i;
      std::int64_t x_offset = 0;
      std::int64_t y_offset = 0;
      for (int axis = batch.rank - 1; axis >= 0; --axis) {
        x_offset += rest % batch[axis] * (x.batch_strides.rank > 0 ? x.batch_strides[axis] : 0);
        y_offset += rest % batch[axis] * (y.batch_strides.rank > 0 ? y.batch_strides[axis] : 0);
        rest /= batch[axis];
      }
      kernel::product(team, x.is_transposed(k), y.is_transposed(n), m, n, k, compute_t<T>{1}, x.data + x_offset,
                      x.leading(m, k), y.data + y_offset, y.leading(k, n), compute_t<T>{0}, to + i * m * n,
                      std::max<std::int64_t>(n, 1));
    }
  });
  return result;
}

} // namespace twill::inline v0::inline TWILL_ISA
