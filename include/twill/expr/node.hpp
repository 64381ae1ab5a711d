#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations on operands, not yet computed. The type knows the element type, the broadcast shape and the
// device kind of the result, and refuses operands that do not fit; the object holds the operands. Read next:
// expr/evaluate.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/code.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/tensor/shapes.hpp>
#include <twill/tensor/tensor.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The one device kind of several operands; numbers have none.
template <class A, class... Rest> struct CommonDevice;
template <class A> struct CommonDevice<A> { using type = A; };
template <class A, class B, class... Rest> struct CommonDevice<A, B, Rest...> {
  static_assert(std::is_void_v<A> || std::is_void_v<B> || std::same_as<A, B>,
                "twill: the operands live on different kinds of device; move one of them with to(device)");
  using type = typename CommonDevice<std::conditional_t<std::is_void_v<A>, B, A>, Rest...>::type;
};

template <class A, class... Rest> struct CommonShape;
template <class A> struct CommonShape<A> { using type = A; };
template <class A, class B, class... Rest> struct CommonShape<A, B, Rest...> {
  using type = typename CommonShape<broadcast_t<A, B>, Rest...>::type;
};

/// Broadcasts the extents of one more operand. Out of line: every node of every expression calls it.
void join_extents(std::string_view operation, Dims& result, const Dims& other);
/// The broadcast extents of two operands. throws: ShapeError that names the operation and both shapes
[[nodiscard]] Dims joined_extents(std::string_view operation, const Dims& left, const Dims& right);

/// The operands as plain members: a tuple would cost more to compile than the rest of the node. Its visits in every
/// statement are functions of their own, since lambdas would cost more as well.
template <class... A> struct Fields;
template <class A> struct Fields<A> {
  A a;
  template <class F> constexpr decltype(auto) apply(F&& f) const { return f(a); }
  template <class F> constexpr decltype(auto) consume(F&& f) && { return f(std::move(a)); }
  template <class F> void each_leaf(F& f) const { a.each_leaf(f); }
  [[nodiscard]] Dims joined(std::string_view) const { return a.shape(); }
};
template <class A, class B> struct Fields<A, B> {
  A a;
  B b;
  template <class F> constexpr decltype(auto) apply(F&& f) const { return f(a, b); }
  template <class F> constexpr decltype(auto) consume(F&& f) && { return f(std::move(a), std::move(b)); }
  template <class F> void each_leaf(F& f) const {
    a.each_leaf(f);
    b.each_leaf(f);
  }
  [[nodiscard]] Dims joined(std::string_view operation) const {
    return joined_extents(operation, a.shape(), b.shape());
  }
};
template <class A, class B, class C> struct Fields<A, B, C> {
  A a;
  B b;
  C c;
  template <class F> constexpr decltype(auto) apply(F&& f) const { return f(a, b, c); }
  template <class F> constexpr decltype(auto) consume(F&& f) && { return f(std::move(a), std::move(b), std::move(c)); }
  template <class F> void each_leaf(F& f) const {
    a.each_leaf(f);
    b.each_leaf(f);
    c.each_leaf(f);
  }
  [[nodiscard]] Dims joined(std::string_view operation) const {
    Dims result = joined_extents(operation, a.shape(), b.shape());
    join_extents(operation, result, c.shape());
    return result;
  }
};
template <class A, class B, class C, class D> struct Fields<A, B, C, D> {
  A a;
  B b;
  C c;
  D d;
  template <class F> constexpr decltype(auto) apply(F&& f) const { return f(a, b, c, d); }
  template <class F> constexpr decltype(auto) consume(F&& f) && {
    return f(std::move(a), std::move(b), std::move(c), std::move(d));
  }
  template <class F> void each_leaf(F& f) const {
    a.each_leaf(f);
    b.each_leaf(f);
    c.each_leaf(f);
    d.each_leaf(f);
  }
  [[nodiscard]] Dims joined(std::string_view operation) const {
    Dims result = joined_extents(operation, a.shape(), b.shape());
    join_extents(operation, result, c.shape());
    join_extents(operation, result, d.shape());
    return result;
  }
};
template <class A, class B, class C, class D, class E> struct Fields<A, B, C, D, E> {
  A a;
  B b;
  C c;
  D d;
  E e;
  template <class F> constexpr decltype(auto) apply(F&& f) const { return f(a, b, c, d, e); }
  template <class F> constexpr decltype(auto) consume(F&& f) && {
    return f(std::move(a), std::move(b), std::move(c), std::move(d), std::move(e));
  }
  template <class F> void each_leaf(F& f) const {
    a.each_leaf(f);
    b.each_leaf(f);
    c.each_leaf(f);
    d.each_leaf(f);
    e.each_leaf(f);
  }
  [[nodiscard]] Dims joined(std::string_view operation) const {
    Dims result = joined_extents(operation, a.shape(), b.shape());
    join_extents(operation, result, c.shape());
    join_extents(operation, result, d.shape());
    join_extents(operation, result, e.shape());
    return result;
  }
};

/// `Op` has a name and a static `emit(Symbol...)`; a primitive's result type need not be traced.
template <class Op, class... A> [[nodiscard]] constexpr DType result_of() {
  if constexpr (requires { Op::result(A::dtype...); }) {
    return Op::result(A::dtype...);
  } else {
    Code code{};
    return Op::emit(Symbol{code, code.constant(A::dtype)}...).type();
  }
}

/// The one device of several operands; numbers have none.
template <class D> struct OperandDevice {
  std::string_view operation;
  D device{};
  bool found = false;

  void join(NoDevice) {}
  void join(const D& other) {
    if (found && device != other) [[unlikely]]
      differ(other);
    device = other;
    found = true;
  }
  [[noreturn, gnu::noinline]] void differ(const D& other) const {
    require_same_device(operation, device, other);
    __builtin_unreachable();
  }
};

/// throws: DeviceError that names the operation and both devices
template <class D, class... A> [[nodiscard]] D common_device(std::string_view operation, const Fields<A...>& operands) {
  OperandDevice<D> found{operation};
  operands.apply([&found](const auto&... operand) { (found.join(operand.device()), ...); });
  return found.device;
}

/// The abilities of every expression: to become a tensor, or a number if it has one element; then it is evaluated.
template <class Derived> struct Evaluates : ArgumentBase<ArgumentKind::tensor, Derived> {
  static constexpr bool is_expression = true;

  /// `Tensor c = a * b`
  template <class T, class D, class S, class Self = Derived> // Self is complete by the time it is deduced
  requires(std::same_as<T, typename Self::value_type>&& std::same_as<D, typename Self::device_type>&&
               FitsShape<typename Self::shape_type, S>)
  operator Tensor<T, D, S>() && { // NOLINT: implicit on purpose
    return evaluate_as<S>(static_cast<const Derived&>(*this));
  }
  template <class T, class D, class S, class Self = Derived> // Self is complete by the time it is deduced
  requires(std::same_as<T, typename Self::value_type>&& std::same_as<D, typename Self::device_type>&&
               FitsShape<typename Self::shape_type, S>)
  operator Tensor<T, D, S>() const& { // NOLINT: implicit on purpose
    static_assert(
        Derived::owns && is_shape<S>,
        "twill: a stored expression refers to tensors that may be gone; evaluate it (Tensor c = a * b) or keep "
        "it with lazy(a * b)");
    return evaluate_as<S>(static_cast<const Derived&>(*this));
  }

  /// The only element, copied to the caller: `sum(a * b).item()`. throws: ShapeError, DeviceError on a device without
  /// memory
  template <class Self = Derived> [[nodiscard]] typename Self::value_type item() && {
    return evaluate_as<typename Self::shape_type>(static_cast<const Self&>(*this)).item();
  }
  /// `if (allclose(x, y))`: the only truth value, copied to the caller.
  template <class Self = Derived>
  requires(Self::shape_type::rank == 0 && std::same_as<typename Self::value_type, bool>) explicit operator bool() && {
    return std::move(*this).item();
  }
  template <class Self = Derived> [[nodiscard]] typename Self::value_type item() const& {
    static_assert(Self::owns,
                  "twill: a stored expression refers to tensors that may be gone; read it in its own statement "
                  "(sum(a * b).item()) or keep it with lazy(a * b)");
    return evaluate_as<typename Self::shape_type>(static_cast<const Self&>(*this)).item();
  }

  /// Does not compile: other expressions are no condition.
  template <std::same_as<bool> B, class Self = Derived>
  requires(!(Self::shape_type::rank == 0 && std::same_as<typename Self::value_type, bool>)) explicit
  operator B() const {
    static_assert(sizeof(B) == 0, "twill: an expression of several elements, or of numbers, is no condition; reduce a "
                                  "comparison to one: if (all(x > 0)), if (any(x != y))");
  }

  /// `static_cast<float>(sum(a * b))`, `if (any(a > 3))`: an expression without axes as the number it is.
  template <Scalar T, class Self = Derived>
  requires(std::same_as<T, typename Self::value_type>&& Self::shape_type::rank == 0) explicit operator T() && {
    return static_cast<Derived&&>(*this).item();
  }
  template <Scalar T, class Self = Derived>
  requires(std::same_as<T, typename Self::value_type>&& Self::shape_type::rank == 0) explicit operator T() const& {
    return static_cast<const Derived&>(*this).item();
  }
};

/// Whether a part of an expression contains products, which are computed before the rest.
template <class E> inline constexpr bool has_products = false;

template <class Op, class... A> struct Node : Evaluates<Node<Op, A...>> {
  static constexpr bool owns = (A::owns && ...);
  static constexpr bool has_reductions = (A::has_reductions || ...);
  static constexpr bool shape_is_proven = (A::shape_is_proven && ...);
  static constexpr DType dtype = result_of<Op, A...>();
  using value_type = scalar_t<dtype>;
  using device_type = typename CommonDevice<typename A::device_type...>::type;
  using shape_type = typename CommonShape<typename A::shape_type...>::type;

  Fields<A...> operands;

  constexpr explicit Node(A... a) : operands{std::move(a)...} {}

  static constexpr int lower(Code& code, const Frame& frame) {
    // braces order the evaluation: leaves are numbered from left to right, as each_leaf visits them
    return lower_ordered(code, {A::lower(code, frame)...});
  }
  template <class F> void each_leaf(F& f) const { operands.each_leaf(f); }

  /// The extents of the result. Out of line: a statement needs them where its leaves differ, and nodes share parts.
  /// throws: ShapeError that names the operation and both shapes
  [[nodiscard, gnu::noinline]] Dims shape() const {
    if constexpr (shape_is_proven)
      return dims_of<shape_type>;
    else
      return operands.joined(Op::name());
  }

  /// The device of the operands. throws: DeviceError that names the operation and both devices
  [[nodiscard]] device_type device() const { return common_device<device_type>(Op::name(), operands); }

private:
  static constexpr int lower_ordered(Code& code, const int (&lines)[sizeof...(A)]) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return Op::emit(Symbol{code, lines[I]}...).line(); }
    (std::index_sequence_for<A...>{});
  }
};

/// Rebuilds an operation on other operands.
template <class Op, class... Old, class... A> [[nodiscard]] auto rebuilt(const Node<Op, Old...>*, A... operands) {
  return Node<Op, A...>(std::move(operands)...);
}

/// Whether a part of an expression reads by index (expr/gather.hpp).
template <class E> inline constexpr bool gathers = requires { requires E::is_gather; };
template <class Op, class... A> inline constexpr bool gathers<Node<Op, A...>> = (gathers<A> || ...);
template <class Op, class... A> inline constexpr bool has_products<Node<Op, A...>> = (has_products<A> || ...);

}}}} // namespace twill::v0::expr::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/node.ipp>
#endif
