#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Writing into a tensor by index: put, index_put, put_along_axis as in NumPy and PyTorch, and sums: index_add,
// scatter_add. They overwrite the elements of x, also for other handles. All indices are checked before any
// write; the last write to a place wins, and sums add in row-major order of the indices. Read next: expr/scatter.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/scatter.hpp>
#include <twill/expr/take.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>

#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The values of an operand: a tensor, or a scalar tensor for a number.
template <class T, class D, class V> [[nodiscard]] auto values_of(V&& values, const D& device) {
  if constexpr (TensorOperand<V>)
    return evaluated(std::forward<V>(values));
  else
    return scalar(static_cast<T>(values), device);
}
template <Writing W, class Node, class V> void scatter_values(const char* operation, const Node& node, V&& values) {
  scatter<W>(operation, node, values_of<typename Node::value_type>(std::forward<V>(values), node.device()));
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Overwrites the elements of the flattened x at these indices. throws: IndexError, ShapeError
template <AnyTensor X, TensorOperand I, AnyOperand V> void put(const X& x, I&& index, V&& values) {
  const auto places = expr::evaluated(std::forward<I>(index));
  const auto flat = x.flatten(); // a copy where the strides do not allow a view
  expr::scatter_values<expr::Writing::replace>("put", expr::gather_axes<0>("put", flat, places),
                                               std::forward<V>(values));
  if (flat.data() != x.data()) x.copy_from(flat.template reshape<typename X::shape_type>(x.shape()));
}

/// `x[index] = values`. throws: IndexError, ShapeError
template <AnyTensor X, TensorOperand I, AnyOperand V> void index_put(const X& x, I&& index, V&& values) {
  expr::scatter_values<expr::Writing::replace>(
      "index_put", expr::gather_axes<0>("index_put", x, expr::evaluated(std::forward<I>(index))),
      std::forward<V>(values));
}

/// Adds the values to the slices of x that the indices choose along an axis, as often as an index occurs.
/// throws: IndexError, ShapeError
template <int Axis, AnyTensor X, TensorOperand I, AnyOperand V> void index_add(const X& x, I&& index, V&& values) {
  constexpr int axis = axis_of<Axis, X::shape_type::rank>;
  expr::scatter_values<expr::Writing::add>(
      "index_add", expr::gather_axes<axis>("index_add", x, expr::evaluated(std::forward<I>(index))),
      std::forward<V>(values));
}

/// `x(i, index(i, j)) = values(i, j)` for axis 1 of a matrix. throws: IndexError, ShapeError
template <int Axis, AnyTensor X, TensorOperand I, AnyOperand V> void put_along_axis(const X& x, I&& index, V&& values) {
  constexpr int axis = axis_of<Axis, X::shape_type::rank>;
  expr::scatter_values<expr::Writing::replace>(
      "put_along_axis", expr::gather_along<axis>("put_along_axis", x, expr::evaluated(std::forward<I>(index))),
      std::forward<V>(values));
}

/// `x(i, index(i, j)) += values(i, j)` for axis 1 of a matrix; indices may repeat. throws: IndexError, ShapeError
template <int Axis, AnyTensor X, TensorOperand I, AnyOperand V> void scatter_add(const X& x, I&& index, V&& values) {
  constexpr int axis = axis_of<Axis, X::shape_type::rank>;
  expr::scatter_values<expr::Writing::add>(
      "scatter_add", expr::gather_along<axis>("scatter_add", x, expr::evaluated(std::forward<I>(index))),
      std::forward<V>(values));
}

}}} // namespace twill::v0::TWILL_ISA
