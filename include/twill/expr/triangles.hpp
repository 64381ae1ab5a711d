#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Triangles and diagonals of matrices, by NumPy's names: tri, tril, triu, diag, trace; of more than two axes, of each
// matrix in the last two. A triangle is one kernel: `column - row` is an index that the kernel counts by itself. Read
// next: expr/pad.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/kernel/program.hpp>
#include <twill/tensor/complex_views.hpp>
#include <twill/tensor/copy.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>
#include <twill/tensor/views.hpp>

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Keeps x where column - row <= offset (or, for the upper triangle, >= offset) and writes zeros elsewhere.
template <bool Upper, class X> void write_triangle(const X& result, const X& x, std::int64_t offset) {
  using T = typename X::value_type;
  using S = typename X::shape_type;
  using Long = kernel::Immediate<std::int64_t>;
  using In = kernel::In<T, kernel::Access::strided>;
  constexpr kernel::Primitive compare = Upper ? kernel::Primitive::greater_equal : kernel::Primitive::less_equal;
  // truth values have no `where`
  using Lines =
      std::conditional_t<std::is_same_v<T, bool>,
                         kernel::Program<kernel::Iota, Long, kernel::Step<compare, 0, 1>, In,
                                         kernel::Step<kernel::Primitive::logical_and, 2, 3>, kernel::Out<T, 4>>,
                         kernel::Program<kernel::Iota, Long, kernel::Step<compare, 0, 1>, In, kernel::Immediate<T>,
                                         kernel::Step<kernel::Primitive::where, 2, 3, 4>, kernel::Out<T, 5>>>;
  kernel::Operand count{};
  count.strides[S::rank - 1] = 1;
  count.strides[S::rank - 2] = -1;
  const auto in = detail::memory_operand(x.data(), x.strides());
  const auto out = detail::memory_operand(result.data(), result.strides());
  if constexpr (std::is_same_v<T, bool>) {
    const std::array operands{count, detail::immediate_operand(offset), in, out};
    kernel::launch(Lines{}, x.device(), x.shape(), operands.data());
  } else {
    const std::array operands{count, detail::immediate_operand(offset), in, detail::immediate_operand(T{}), out};
    kernel::launch(Lines{}, x.device(), x.shape(), operands.data());
  }
}

/// A triangle, of complex numbers that of each part.
template <bool Upper, class X> [[nodiscard]] X triangle(const X& x, std::int64_t offset) {
  static_assert(X::rank >= 2, "twill: a triangle needs a matrix; vectors have none");
  const X result(x.device(), x.shape());
  if (result.elements() == 0) return result;
  if constexpr (ComplexScalar<typename X::value_type>) {
    for (const int part : {0, 1})
      write_triangle<Upper>(detail::part_of(result, part), detail::part_of(x, part), offset);
  } else {
    write_triangle<Upper>(result, x, offset);
  }
  return result;
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The lower triangle, zeros above the diagonal that is `offset` to the right of the main one.
template <TensorOperand X> [[nodiscard]] auto tril(X&& x, std::int64_t offset = 0) {
  return expr::triangle<false>(expr::evaluated(std::forward<X>(x)), offset);
}
/// The upper triangle, zeros below that diagonal.
template <TensorOperand X> [[nodiscard]] auto triu(X&& x, std::int64_t offset = 0) {
  return expr::triangle<true>(expr::evaluated(std::forward<X>(x)), offset);
}
/// Ones at and below a diagonal, zeros above: `tri<float, Shape<3, 3>>()`.
template <Scalar T = float, AnyShape S, Device D = Cpu>
requires(S::rank == 2) [[nodiscard]] Tensor<T, D, S> tri(const Dims& extents, std::int64_t offset = 0,
                                                         const D& device = current_device<D>()) {
  const Tensor<T, D, Shape<>> one = scalar(static_cast<T>(1), device);
  return expr::triangle<false>(Tensor<T, D, S>(one.storage(), one.data(), extents, Dims(0, 0)), offset);
}
/// A static shape: ones on and below a diagonal, zeros above; diagonal `offset` is above the main one where positive.
template <Scalar T = float, AnyShape S, Device D = Cpu>
requires(S::rank == 2 && S::is_static)
    [[nodiscard]] Tensor<T, D, S> tri(std::int64_t offset = 0, const D& device = current_device<D>()) {
  return tri<T, S, D>(S::dims(), offset, device);
}

/// A vector as a diagonal of a matrix of zeros; of a matrix, a copy of a diagonal.
template <TensorOperand X>
requires(std::remove_cvref_t<X>::shape_type::rank == 1 || std::remove_cvref_t<X>::shape_type::rank == 2)
    [[nodiscard]] auto diag(X&& x, std::int64_t offset = 0) {
  const auto source = expr::evaluated(std::forward<X>(x));
  using Source = std::remove_cvref_t<decltype(source)>;
  if constexpr (Source::rank == 2) {
    return diagonal(source, offset).clone();
  } else {
    const std::int64_t side = source.elements() + (offset < 0 ? -offset : offset);
    using T = typename Source::value_type;
    const auto result = zeros<T, Shape<dyn, dyn>>(Dims(side, side), source.device());
    diagonal(result, offset).copy_from(source);
    return result;
  }
}

/// The sum of a diagonal: an expression.
template <int A = 0, int B = 1, TensorOperand X> [[nodiscard]] auto trace(X&& x, std::int64_t offset = 0) {
  return sum<-1>(diagonal<A, B>(expr::evaluated(std::forward<X>(x)), offset));
}

}}} // namespace twill::v0::TWILL_ISA
