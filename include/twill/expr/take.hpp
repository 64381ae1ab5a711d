#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elements chosen by tensors of indices, as in NumPy: `take<0>(x, rows)`, `take_along_axis<1>(x, order)`, `x[rows]`,
// `x(rows, columns)`. Each is an expression whose read fuses with the code around it. Negative indices count from the
// end. Read next: expr/masks.hpp, expr/put.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/scatter.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/shapes.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Axes [first, last) of `from` appended to `to`.
constexpr void append_axes(Dims& to, const Dims& from, int first, int last) {
  for (int axis = first; axis < last; ++axis) to[to.rank++] = from[axis];
}

/// `from` with the axes [first, last) replaced by those of `chosen`; for strides, `chosen` is zeros.
[[nodiscard]] constexpr Dims replaced_axes(const Dims& from, int first, int last, const Dims& chosen) {
  Dims result{};
  append_axes(result, from, 0, first);
  append_axes(result, chosen, 0, chosen.rank);
  append_axes(result, from, last, from.rank);
  return result;
}
[[nodiscard]] constexpr Dims zero_strides(int rank) {
  Dims zeros{};
  zeros.rank = rank;
  return zeros;
}

/// The extents followed by `count` axes of extent 1.
[[nodiscard]] constexpr Dims with_ones(Dims dims, int count) {
  for (; count > 0; --count) dims[dims.rank++] = 1;
  return dims;
}
template <int Count, class T, class D, class S> [[nodiscard]] auto with_trailing_ones(const Tensor<T, D, S>& x) {
  using Result = Tensor<T, D, shape_t<with_ones(dims_of<S>, Count)>>;
  const Dims extents = with_ones(x.shape(), Count);
  Dims strides = x.strides();
  while (strides.rank < extents.rank) strides[strides.rank++] = 0;
  return Result(x.storage(), x.data(), extents, strides);
}

template <class... S> struct BroadcastAll { using type = typename CommonShape<S...>::type; };

/// Elements of x at indices of its axes First, First + 1, ..., which the broadcast axes of the indices replace.
template <int First, class X, class... I>
[[nodiscard]] auto gather_axes(const char* operation, const X& x, const I&... indices) {
  (require_integers<typename I::value_type>(), ...);
  (require_same_device(operation, x.device(), indices.device()), ...);
  using From = typename X::shape_type;
  constexpr int count = static_cast<int>(sizeof...(I));
  static_assert(First + count <= From::rank, "twill: index: there are more index tensors than axes");
  using Chosen = typename BroadcastAll<typename I::shape_type...>::type;
  using S = shape_t<replaced_axes(dims_of<From>, First, First + count, dims_of<Chosen>)>;
  constexpr int behind = From::rank - First - count;
  constexpr bool along_row = behind > 0 || (Chosen::rank == 0 && First > 0);
  using D = typename X::device_type;
  using Node =
      GatherNode<X, S, along_row, false,
                 Tensor<typename I::value_type, D, shape_t<with_ones(dims_of<typename I::shape_type>, behind)>>...>;
  Dims chosen{};
  (join_extents(operation, chosen, indices.shape()), ...);
  const Dims extents = replaced_axes(x.shape(), First, First + count, chosen);
  const Dims strides = replaced_axes(x.strides(), First, First + count, zero_strides(Chosen::rank));
  const Dims own = x.strides();
  int axis = First;
  int stepped = First;
  const auto checked = [&](const auto& index) {
    const int along = axis++;
    return with_trailing_ones<behind>(checked_indices(operation, index, x.size(along), along));
  };
  return Node{{},
              x,
              typename Node::Moves(x.storage(), x.data(), extents, strides),
              {{checked(indices)}...}, // in order: braces
              {(static_cast<void>(indices), own[stepped++])...}};
}

/// The extents of take_along_axis: x and the indices broadcast, except that the axis has the length of the indices.
[[nodiscard]] constexpr Dims along_axis(Dims x, const Dims& index, int axis) {
  x[axis] = index[axis];
  return detail::broadcast_dims(x, index);
}
template <AnyShape X, AnyShape I, int Axis> [[nodiscard]] consteval Dims checked_along_axis() {
  if constexpr (X::rank != I::rank) {
    static_cast<void>(
        sizeof(Mistake<refused<Problem::ranks_differ, with::left_rank<X::rank>, with::right_rank<I::rank>>>));
    return dims_of<X>;
  } else {
    constexpr Dims with_axis = [] {
      Dims dims = dims_of<X>;
      dims[Axis] = I::extent(Axis);
      return dims;
    }();
    return detail::checked_broadcast<shape_t<with_axis>, I>();
  }
}

template <int Axis, class X, class I>
[[nodiscard]] auto gather_along(const char* operation, const X& x, const I& index) {
  require_integers<typename I::value_type>();
  require_same_device(operation, x.device(), index.device());
  constexpr int rank = X::shape_type::rank;
  using S = shape_t<checked_along_axis<typename X::shape_type, typename I::shape_type, Axis>()>;
  using Node = GatherNode<X, S, Axis + 1 != rank, false, I>;
  Dims beside = x.shape();
  beside[Axis] = index.size(Axis);
  if (detail::broadcast_conflict(beside, index.shape()) >= 0)
    throw ShapeError(std::string(operation) + ": shapes " + to_string(x.shape()) + " and " + to_string(index.shape()) +
                     " do not broadcast beside axis " + std::to_string(Axis));
  const Dims extents = detail::broadcast_dims(beside, index.shape());
  Dims strides = layout::expanded(operation, {beside, x.strides(), 0}, extents).strides;
  strides[Axis] = 0;
  return Node{{},
              x,
              typename Node::Moves(x.storage(), x.data(), extents, strides),
              {{checked_indices(operation, index, x.size(Axis), Axis)}},
              {x.strides()[Axis]}};
}

/// `x[index]`: a gathered read that can be assigned to. Values convert and broadcast; the last write to a place wins.
template <class Node> struct Selection : Node {
  using value_type = typename Node::value_type;

  explicit Selection(Node node) : Node(std::move(node)) {}
  Selection(const Selection&) = default;
  Selection(Selection&&) noexcept = default;
  ~Selection() = default;
  void operator=(const Selection& values) && { assign(values); }
  // writes elements, which may fail: NOLINTNEXTLINE(performance-noexcept-move-constructor)
  void operator=(Selection&& values) && { assign(values); }
  void operator=(value_type value) && { assign(scalar(value, this->device())); }
  template <TensorOperand V> void operator=(V&& values) && { assign(std::forward<V>(values)); }

  template <AnyOperand V> void operator+=(V&& values) && { assign(Node(*this) + std::forward<V>(values)); }
  template <AnyOperand V> void operator-=(V&& values) && { assign(Node(*this) - std::forward<V>(values)); }
  template <AnyOperand V> void operator*=(V&& values) && { assign(Node(*this) * std::forward<V>(values)); }
  template <AnyOperand V> void operator/=(V&& values) && { assign(Node(*this) / std::forward<V>(values)); }

private:
  template <class V> void assign(V&& values) const {
    if constexpr (AnyTensor<V>)
      scatter<Writing::replace>("assign", *this, values);
    else
      scatter<Writing::replace>("assign", *this, evaluate_as<typename std::remove_cvref_t<V>::shape_type>(values));
  }
};

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The slices of x that an index tensor chooses along an axis, which the index's axes replace; without an axis, the
/// elements of the flattened x. throws: IndexError
template <int Axis, TensorOperand X, TensorOperand I> [[nodiscard]] auto take(X&& x, I&& index) {
  return expr::gather_axes<axis_of<Axis, std::remove_cvref_t<X>::shape_type::rank>>(
      "take", expr::evaluated(std::forward<X>(x)), expr::evaluated(std::forward<I>(index)));
}
template <TensorOperand X, TensorOperand I> [[nodiscard]] auto take(X&& x, I&& index) {
  return expr::gather_axes<0>("take", expr::evaluated(std::forward<X>(x)).flatten(),
                              expr::evaluated(std::forward<I>(index)));
}

/// `result(i, j) = x(i, index(i, j))` for axis 1 of a matrix: PyTorch's gather. Other axes broadcast.
/// throws: IndexError, ShapeError
template <int Axis, TensorOperand X, TensorOperand I> [[nodiscard]] auto take_along_axis(X&& x, I&& index) {
  return expr::gather_along<axis_of<Axis, std::remove_cvref_t<X>::shape_type::rank>>(
      "take_along_axis", expr::evaluated(std::forward<X>(x)), expr::evaluated(std::forward<I>(index)));
}

/// `index(x, i, j)`: the elements `x(i[k], j[k])`, for index tensors that broadcast together; NumPy's `x[i, j]`.
/// throws: IndexError, ShapeError
template <TensorOperand X, TensorOperand... I>
requires(sizeof...(I) >= 1 && sizeof...(I) <= expr::max_indices) [[nodiscard]] auto index(X&& x, I&&... indices) {
  return expr::gather_axes<0>("index", expr::evaluated(std::forward<X>(x)),
                              expr::evaluated(std::forward<I>(indices))...);
}

/// The value of `x[index]` and `x(i, j)`: to read as an expression, or to assign to. throws: IndexError, ShapeError
template <AnyTensor X, TensorOperand... I>
requires(!(std::is_same_v<typename std::remove_cvref_t<I>::value_type, bool> || ...))
    [[nodiscard]] auto selected(const X& x, I&&... indices) {
  return expr::Selection(expr::gather_axes<0>("index", x, expr::evaluated(std::forward<I>(indices))...));
}

}}} // namespace twill::v0::TWILL_ISA
