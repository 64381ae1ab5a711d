#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Leaves of an expression. A named tensor is borrowed by its address, which is free and is why an expression lives for
// one statement; a temporary tensor is held by a handle; a C++ number becomes a constant of the type that its neighbour
// gives it. `operand` makes a leaf of each operand of an operator. Read next: expr/node.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/code.hpp>
#include <twill/tensor/complex_views.hpp>
#include <twill/tensor/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The facts that a leaf needs about the program it becomes part of.
struct Frame {
  bool other_axis = false;       ///< the row is not the last axis of the reduced operand
  bool outside = false;          ///< beside the reductions of a row program
  bool drops = false;            ///< ... which drop their axes
  std::int64_t row_extent = dyn; ///< the grid's last extent, as far as the types tell
};

/// The expected movement of a tensor of a shape along the rows of a frame.
template <AnyShape S> [[nodiscard]] constexpr kernel::Access expected_access(const Frame& frame) {
  if (frame.outside || S::rank == 0) return kernel::Access::uniform;
  if (frame.other_axis) return kernel::Access::contiguous; // or with gaps: the kernel packs those
  return S::extent(S::rank - 1) == 1 && frame.row_extent != 1 ? kernel::Access::uniform : kernel::Access::contiguous;
}

/// The elements of a shape, `dyn` where unknown.
template <AnyShape S> [[nodiscard]] constexpr std::int64_t known_elements() {
  if constexpr (S::is_static)
    return S::dims().elements();
  else
    return dyn;
}

/// A number that tensors of one known shape have in common.
template <AnyShape S> [[nodiscard]] constexpr std::uint64_t shape_key() {
  std::uint64_t key = static_cast<std::uint64_t>(S::rank);
  for (const std::int64_t extent : S::extents) key = key * 1099511628211U + static_cast<std::uint64_t>(extent) + 2;
  return key;
}

/// The device type of numbers.
struct NoDevice {};

/// Visits a tensor that is a leaf; of a complex one both parts, unless the visitor takes it as a whole.
template <class F, class T, class D, class S> void visit_leaf(F& f, const Tensor<T, D, S>& tensor) {
  if constexpr (!ComplexScalar<T> || requires { F::takes_whole_leaves; }) {
    f(tensor);
  } else {
    f(detail::part_of(tensor, 0));
    f(detail::part_of(tensor, 1));
  }
}

/// A tensor that another handle keeps alive.
template <Scalar T, Device D, AnyShape S> struct Borrowed {
  using device_type = D;
  using shape_type = S;
  static constexpr DType dtype = dtype_of<T>;
  static constexpr bool owns = false;
  static constexpr bool has_reductions = false;
  static constexpr bool shape_is_proven = S::is_static;
  const Tensor<T, D, S>* tensor;

  static constexpr int lower(Code& code, const Frame& frame) {
    return code.tensor(dtype, expected_access<S>(frame), frame.outside, frame.outside && frame.drops, shape_key<S>(),
                       known_elements<S>());
  }
  template <class F> void each_leaf(F& f) const { visit_leaf(f, *tensor); }
  [[nodiscard]] Dims shape() const { return tensor->shape(); }
  [[nodiscard]] D device() const { return tensor->device(); }
};

/// A tensor that the expression keeps alive.
template <Scalar T, Device D, AnyShape S> struct Held {
  using device_type = D;
  using shape_type = S;
  static constexpr DType dtype = dtype_of<T>;
  static constexpr bool owns = true;
  static constexpr bool has_reductions = false;
  static constexpr bool shape_is_proven = S::is_static;
  Tensor<T, D, S> tensor;

  static constexpr int lower(Code& code, const Frame& frame) {
    return code.tensor(dtype, expected_access<S>(frame), frame.outside, frame.outside && frame.drops, shape_key<S>(),
                       known_elements<S>());
  }
  template <class F> void each_leaf(F& f) const { visit_leaf(f, tensor); }
  [[nodiscard]] Dims shape() const { return tensor.shape(); }
  [[nodiscard]] D device() const { return tensor.device(); }
};

/// A number.
template <Scalar T> struct Constant {
  using device_type = void;
  using shape_type = Shape<>;
  static constexpr DType dtype = dtype_of<T>;
  static constexpr bool owns = true;
  static constexpr bool has_reductions = false;
  static constexpr bool shape_is_proven = true;
  T value;

  static constexpr int lower(Code& code, const Frame&) { return code.constant(dtype); }
  template <class F> void each_leaf(F& f) const {
    if constexpr (ComplexScalar<T>) {
      f(value.re);
      f(value.im);
    } else {
      f(value);
    }
  }
  [[nodiscard]] Dims shape() const { return {}; }
  [[nodiscard]] NoDevice device() const { return {}; }
};

template <class X> inline constexpr bool is_leaf = false;
template <class T, class D, class S> inline constexpr bool is_leaf<Borrowed<T, D, S>> = true;
template <class T, class D, class S> inline constexpr bool is_leaf<Held<T, D, S>> = true;
template <class T> inline constexpr bool is_leaf<Constant<T>> = true;

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Operands of operators: a tensor, an expression or a number.
template <class X>
concept TensorOperand = AnyTensor<X> || LazyValue<X>;
template <class X>
concept AnyOperand = TensorOperand<X> || WeakScalar<std::remove_cvref_t<X>>;

/// The operands of an operator of tensors: numbers alone belong to the language's own.
template <class... X>
concept Operands = (AnyOperand<X> && ...) && (TensorOperand<X> || ...);
/// An operand for A; at least one of the two is not a number.
template <class B, class A>
concept OperandWith = Operands<A, B>;

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The type of an operand before it meets its neighbours: a weak number has only a category.
struct Typed {
  DType type = DType::boolean;
  bool is_weak = false;
};

template <class X> [[nodiscard]] constexpr Typed typed() {
  using Bare = std::remove_cvref_t<X>;
  if constexpr (AnyTensor<Bare>)
    return {dtype_of<typename Bare::value_type>, false};
  else if constexpr (LazyValue<Bare>)
    return {Bare::dtype, false};
  else {
    constexpr TypeCategory category = category_of<Bare>;
    constexpr DType of_category[] = {DType::boolean, DType::int64, DType::float32, DType::complex64};
    return {of_category[static_cast<int>(category)], true};
  }
}

[[nodiscard]] constexpr Typed meet(Typed a, Typed b) {
  if (a.type == no_type || b.type == no_type) return {no_type, false};
  if (a.is_weak == b.is_weak) return {promote(a.type, b.type), a.is_weak};
  return {a.is_weak ? weak_promote(b.type, category(a.type)) : weak_promote(a.type, category(b.type)), false};
}

[[nodiscard]] constexpr DType meet_all(const Typed* operands, int count) {
  Typed common = operands[0];
  for (int i = 1; i < count; ++i) common = meet(common, operands[i]);
  return common.type;
}

/// The common element type of operands. Refuses types that have none.
template <class... X> [[nodiscard]] constexpr DType common_type() {
  constexpr Typed operands[] = {typed<X>()...};
  constexpr DType common = meet_all(operands, static_cast<int>(sizeof...(X)));
  if constexpr (common == no_type) {
    static_cast<void>(
        sizeof(Mistake<refused<Problem::element_types_have_no_common_one, with::type<typed<X>().type>...>>));
    return operands[0].type;
  } else {
    return common;
  }
}

/// Makes a leaf or passes an expression on; numbers become constants of type `T`.
template <DType NumberType, class X> [[nodiscard]] auto operand(X&& x) {
  using Bare = std::remove_cvref_t<X>;
  if constexpr (AnyTensor<Bare>) {
    using T = typename Bare::value_type;
    using D = typename Bare::device_type;
    using S = typename Bare::shape_type;
    if constexpr (std::is_lvalue_reference_v<X>)
      return Borrowed<T, D, S>{std::addressof(x)};
    else
      return Held<T, D, S>{std::forward<X>(x)};
  } else if constexpr (LazyValue<Bare>) {
    static_assert(
        !std::is_lvalue_reference_v<X> || Bare::owns,
        "twill: a stored expression refers to tensors that may be gone; evaluate it (Tensor c = a * b) or keep "
        "it with lazy(a * b)");
    return Bare(std::forward<X>(x));
  } else {
    using T = scalar_t<NumberType>;
    return Constant<T>{static_cast<T>(x)};
  }
}

template <DType NumberType, class X> using operand_t = decltype(operand<NumberType>(std::declval<X>()));

}}}} // namespace twill::v0::expr::TWILL_ISA
