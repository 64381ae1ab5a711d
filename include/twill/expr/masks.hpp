#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elements chosen by truth values: `x[mask]` to read or to assign to, masked_select, masked_fill, and the places of
// true elements: nonzero, argwhere, flatnonzero. Their number is counted on the device and read back, so these wait for
// the device. Read next: expr/put.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/expr/take.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Visits the true elements of a mask in row-major order: `visit(number, position)`.
template <class F> void each_true(const bool* mask, const Dims& extents, const Dims& strides, F&& visit) {
  if (extents.elements() == 0) return;
  std::int64_t position[max_rank]{};
  std::int64_t number = 0;
  std::int64_t place = 0;
  for (;;) {
    if (mask[place]) visit(number++, position);
    int axis = extents.rank - 1;
    for (; axis >= 0; --axis) {
      place += strides[axis];
      if (++position[axis] < extents[axis]) break;
      place -= strides[axis] * extents[axis];
      position[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/// x as truth values.
template <class X> [[nodiscard]] auto truth_of(X&& x) {
  using Bare = std::remove_cvref_t<X>;
  if constexpr (std::is_same_v<typename Bare::value_type, bool>)
    return evaluated(std::forward<X>(x));
  else
    return eval(make_node<Convert<DType::boolean>>(std::forward<X>(x)));
}

/// throws: DeviceError on a device without memory
template <class Mask> [[nodiscard]] std::int64_t count_true(const char* operation, const Mask& mask) {
  if constexpr (!Mask::device_type::has_memory)
    throw DeviceError(std::string(operation) + ": a mask on " + to_string(mask.device()) +
                      " has no values to count; run on a device that has memory");
  else
    return sum(mask).item();
}

/// For each true element in row-major order, the sum of its indices times these strides.
template <class Mask> [[nodiscard]] auto offsets_of_true(const char* operation, const Mask& mask, const Dims& weights) {
  using D = typename Mask::device_type;
  if constexpr (kernel::has_queue<D>) {
    const auto counted = kernel::gpu::counted_true(mask.device(), mask.data(), mask.shape(), mask.strides());
    const Tensor<std::int64_t, D, Shape<dyn>> offsets(mask.device(), Dims(counted.found()));
    kernel::gpu::write_offsets(counted, mask.shape(), weights, offsets.data());
    return offsets;
  } else {
    const Tensor<std::int64_t, D, Shape<dyn>> offsets(mask.device(), Dims(count_true(operation, mask)));
    launch(mask.device(), [weights, from = mask.data(), extents = mask.shape(), strides = mask.strides(),
                           to = offsets.data()](const auto&) {
      each_true(from, extents, strides, [&](std::int64_t number, const std::int64_t* position) {
        std::int64_t offset = 0;
        for (int axis = 0; axis < weights.rank; ++axis) offset += position[axis] * weights[axis];
        to[number] = offset;
      });
    });
    return offsets;
  }
}

/// The indices of the true elements: one row for each axis of the mask.
template <class Mask> [[nodiscard]] auto indices_of_true(const char* operation, const Mask& mask) {
  constexpr int rank = Mask::shape_type::rank;
  using D = typename Mask::device_type;
  using Indices = Tensor<std::int64_t, D, Shape<rank, dyn>>;
  if constexpr (kernel::has_queue<D>) {
    const auto counted = kernel::gpu::counted_true(mask.device(), mask.data(), mask.shape(), mask.strides());
    const std::int64_t found = counted.found();
    const Indices indices(mask.device(), Dims(rank, found));
    kernel::gpu::write_indices(counted, mask.shape(), found, indices.data());
    return indices;
  } else {
    const std::int64_t count = count_true(operation, mask);
    const Indices indices(mask.device(), Dims(rank, count));
    launch(mask.device(), [count, from = mask.data(), extents = mask.shape(), strides = mask.strides(),
                           to = indices.data()](const auto&) {
      each_true(from, extents, strides, [&](std::int64_t number, const std::int64_t* position) {
        for (int axis = 0; axis < rank; ++axis) to[axis * count + number] = position[axis];
      });
    });
    return indices;
  }
}

template <AnyShape X, AnyShape M> consteval void require_leading_shape() {
  if constexpr (M::rank > X::rank) {
    static_cast<void>(sizeof(Mistake<refused<Problem::mask_shape_differs_from_the_tensors, with::left_rank<X::rank>,
                                             with::right_rank<M::rank>>>));
  } else {
    constexpr int axis = [] {
      for (int a = 0; a < M::rank; ++a)
        if (X::extent(a) != M::extent(a) && X::extent(a) != dyn && M::extent(a) != dyn) return a;
      return -1;
    }();
    if constexpr (axis >= 0)
      static_cast<void>(sizeof(Mistake<refused<Problem::mask_shape_differs_from_the_tensors, with::axis<axis>,
                                               with::left<X::extent(axis)>, with::right<M::extent(axis)>>>));
  }
}

/// The slices of x for which a mask of its leading axes holds, one after another. throws: IndexError
template <class X, class Mask> [[nodiscard]] auto gather_true(const char* operation, const X& x, const Mask& mask) {
  using From = typename X::shape_type;
  constexpr int masked = Mask::shape_type::rank;
  constexpr int behind = From::rank - masked;
  using S = shape_t<replaced_axes(dims_of<From>, 0, masked, dims_of<Shape<dyn>>)>;
  using Offsets = Tensor<std::int64_t, typename X::device_type, shape_t<with_ones(dims_of<Shape<dyn>>, behind)>>;
  using Node = GatherNode<X, S, (behind > 0), false, Offsets>;
  Dims weights = x.strides();
  weights.rank = masked;
  const auto offsets = offsets_of_true(operation, mask, weights);
  return Node{{},
              x,
              typename Node::Moves(x.storage(), x.data(), replaced_axes(x.shape(), 0, masked, offsets.shape()),
                                   replaced_axes(x.strides(), 0, masked, zero_strides(1))),
              {{with_trailing_ones<behind>(offsets)}},
              {1}};
}

/// `x[mask]`. The elements are found when they are read, or assigned from a tensor; one value needs no search.
template <class X, class Mask> class MaskSelection : public Evaluates<MaskSelection<X, Mask>> {
public:
  using Node = decltype(gather_true("index", std::declval<const X&>(), std::declval<const Mask&>()));
  using value_type = typename Node::value_type;
  using device_type = typename Node::device_type;
  using shape_type = typename Node::shape_type;
  static constexpr DType dtype = Node::dtype;
  static constexpr bool owns = false;
  static constexpr bool has_reductions = false;
  static constexpr bool shape_is_proven = false;
  static constexpr bool is_gather = true;

  MaskSelection(const X& x, const Mask& mask) : x_{x}, mask_{mask} {}
  MaskSelection(const MaskSelection&) = default;
  MaskSelection(MaskSelection&&) noexcept = default;
  ~MaskSelection() = default;

  void operator=(value_type value) && {
    constexpr int behind = X::shape_type::rank - Mask::shape_type::rank;
    store(x_, where(with_trailing_ones<behind>(mask_), scalar(value, x_.device()), x_));
  }
  void operator=(const MaskSelection& values) && { assign(values); }
  // writes elements, which may fail: NOLINTNEXTLINE(performance-noexcept-move-constructor)
  void operator=(MaskSelection&& values) && { assign(values); }
  template <TensorOperand V> void operator=(V&& values) && { assign(std::forward<V>(values)); }
  template <AnyOperand V> void operator+=(V&& values) && { assign(Node(node()) + std::forward<V>(values)); }
  template <AnyOperand V> void operator-=(V&& values) && { assign(Node(node()) - std::forward<V>(values)); }
  template <AnyOperand V> void operator*=(V&& values) && { assign(Node(node()) * std::forward<V>(values)); }
  template <AnyOperand V> void operator/=(V&& values) && { assign(Node(node()) / std::forward<V>(values)); }

  static constexpr int lower(Code& code, const Frame& frame) { return Node::lower(code, frame); }
  template <class F> void each_leaf(F& f) const { node().each_leaf(f); }
  [[nodiscard]] Dims shape() const { return node().shape(); }
  [[nodiscard]] device_type device() const { return x_.device(); }
  [[nodiscard]] const Node& node() const {
    if (!is_found_) node_ = gather_true("index", x_, mask_);
    is_found_ = true;
    return node_;
  }

private:
  template <class V> void assign(V&& values) const {
    if constexpr (AnyTensor<V>)
      scatter<Writing::replace>("assign", node(), values);
    else
      scatter<Writing::replace>("assign", node(), evaluate_as<typename std::remove_cvref_t<V>::shape_type>(values));
  }

  X x_;
  Mask mask_;
  mutable Node node_{};
  mutable bool is_found_ = false;
};

template <class X, class Mask> [[nodiscard]] auto owned(const MaskSelection<X, Mask>& selection) {
  return owned(selection.node());
}

template <class Mask> void require_leading(const char* operation, const Dims& own, const Mask& mask) {
  const Dims extents = mask.shape();
  for (int axis = 0; axis < extents.rank; ++axis)
    if (axis >= own.rank || own[axis] != extents[axis])
      throw IndexError(std::string(operation) + ": a mask of shape " + to_string(extents) +
                       " does not cover the leading axes of shape " + to_string(own));
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// `x[mask]`: the slices where a mask of the leading axes holds. throws: IndexError
template <AnyTensor X, TensorOperand M>
requires std::is_same_v < typename std::remove_cvref_t<M>::value_type,
bool > [[nodiscard]] auto selected(const X& x, M&& mask) {
  expr::require_leading_shape<typename X::shape_type, typename std::remove_cvref_t<M>::shape_type>();
  const auto truth = expr::evaluated(std::forward<M>(mask));
  require_same_device("index", x.device(), truth.device());
  expr::require_leading("index", x.shape(), truth);
  return expr::MaskSelection<X, std::remove_cvref_t<decltype(truth)>>(x, truth);
}

/// The elements where the mask holds, in row-major order of what x and the mask broadcast to. throws: ShapeError
template <TensorOperand X, TensorOperand M> [[nodiscard]] auto masked_select(X&& x, M&& mask) {
  const auto source = expr::evaluated(std::forward<X>(x));
  const auto truth = expr::truth_of(std::forward<M>(mask));
  require_same_device("masked_select", source.device(), truth.device());
  using Common = broadcast_t<typename decltype(source)::shape_type, typename decltype(truth)::shape_type>;
  Dims extents = source.shape();
  expr::join_extents("masked_select", extents, truth.shape());
  return expr::gather_true("masked_select", source.template expand<Common>(extents),
                           truth.template expand<Common>(extents));
}

/// x with one value where the mask holds. throws: ShapeError
template <TensorOperand X, TensorOperand M, WeakScalar V> [[nodiscard]] auto masked_fill(X&& x, M&& mask, V value) {
  using T = typename std::remove_cvref_t<X>::value_type;
  using Node =
      expr::Node<expr::Where, expr::operand_t<dtype_of<T>, M>, expr::Constant<T>, expr::operand_t<dtype_of<T>, X>>;
  return Node(expr::operand<dtype_of<T>>(std::forward<M>(mask)), expr::Constant<T>{static_cast<T>(value)},
              expr::operand<dtype_of<T>>(std::forward<X>(x)));
}

/// The indices of the elements that are not zero, one tensor for each axis, in row-major order.
template <TensorOperand X>
requires(std::remove_cvref_t<X>::shape_type::rank > 0) [[nodiscard]] auto nonzero(X&& x) {
  const auto indices = expr::indices_of_true("nonzero", expr::truth_of(std::forward<X>(x)));
  return [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
    return std::array{indices[static_cast<std::int64_t>(Axis)]...};
  }
  (std::make_index_sequence<static_cast<std::size_t>(std::remove_cvref_t<X>::shape_type::rank)>{});
}
/// The indices of the elements that are not zero as a matrix: one row for each element.
template <TensorOperand X> [[nodiscard]] auto argwhere(X&& x) {
  return expr::indices_of_true("argwhere", expr::truth_of(std::forward<X>(x))).transpose().contiguous();
}
/// The places of the elements that are not zero in row-major order.
template <TensorOperand X> [[nodiscard]] auto flatnonzero(X&& x) {
  const auto truth = expr::truth_of(std::forward<X>(x));
  return expr::offsets_of_true("flatnonzero", truth, contiguous_strides(truth.shape()));
}

}}} // namespace twill::v0::TWILL_ISA
