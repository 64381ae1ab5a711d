#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Operators of tensors and expressions. They compute nothing: they make the node that a statement evaluates as one
// kernel. `/` is true division, `%` is Python's remainder, `&`, `|`, `^` and `~` are bitwise, on booleans logical.
// In-place operators write through the memory, so views see them, and so does `out(x) = exp(x)`, NumPy's out=, while
// `x = exp(x)` may give x other memory. `&&`, `||` stay C++'s. Read next: expr/functions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>

#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// `a + b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator+(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::add>(std::forward<A>(a), std::forward<B>(b));
}
/// `a - b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator-(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::subtract>(std::forward<A>(a), std::forward<B>(b));
}
/// `a * b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator*(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::multiply>(std::forward<A>(a), std::forward<B>(b));
}
/// `a / b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator/(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::divide>(std::forward<A>(a), std::forward<B>(b));
}
/// `a % b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator%(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::remainder>(std::forward<A>(a), std::forward<B>(b));
}
/// `a & b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator&(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::bitwise_and>(std::forward<A>(a), std::forward<B>(b));
}
/// `a | b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator|(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::bitwise_or>(std::forward<A>(a), std::forward<B>(b));
}
/// `a ^ b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator^(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::bitwise_xor>(std::forward<A>(a), std::forward<B>(b));
}
/// `a << b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator<<(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::left_shift>(std::forward<A>(a), std::forward<B>(b));
}
/// `a >> b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator>>(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::right_shift>(std::forward<A>(a), std::forward<B>(b));
}

/// `a == b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator==(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::equal>(std::forward<A>(a), std::forward<B>(b));
}
/// `a != b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator!=(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::not_equal>(std::forward<A>(a), std::forward<B>(b));
}
/// `a < b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator<(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::less>(std::forward<A>(a), std::forward<B>(b));
}
/// `a <= b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator<=(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::less_equal>(std::forward<A>(a), std::forward<B>(b));
}
/// `a > b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator>(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::greater>(std::forward<A>(a), std::forward<B>(b));
}
/// `a >= b` element by element; shapes broadcast, a plain number does not widen the type.
template <class A, OperandWith<A> B> [[nodiscard]] auto operator>=(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::greater_equal>(std::forward<A>(a), std::forward<B>(b));
}

/// `-a` element by element.
template <TensorOperand A> [[nodiscard]] auto operator-(A&& a) {
  return expr::apply_node<expr::Primitive::negate>(std::forward<A>(a));
}
/// `+a` element by element.
template <TensorOperand A> [[nodiscard]] auto operator+(A&& a) {
  return expr::make_node<expr::Convert<expr::typed<A>().type>>(std::forward<A>(a));
}
/// `!a` element by element.
template <TensorOperand A> [[nodiscard]] auto operator!(A&& a) {
  return expr::apply_node<expr::Primitive::logical_not>(std::forward<A>(a));
}
/// `~a` element by element.
template <TensorOperand A> [[nodiscard]] auto operator~(A&& a) {
  return expr::apply_node<expr::Primitive::invert>(std::forward<A>(a));
}

/// `x += y` overwrites the elements of x, also for views of it; y broadcasts to x. The result keeps x's element type.
template <AnyTensor X, AnyOperand B> X&& operator+=(X&& x, B&& b) {
  expr::update<expr::Primitive::add>(x, std::forward<B>(b));
  return std::forward<X>(x);
}
/// `x = x - b` in place, in the type of x; b broadcasts. throws: ShapeError
template <AnyTensor X, AnyOperand B> X&& operator-=(X&& x, B&& b) {
  expr::update<expr::Primitive::subtract>(x, std::forward<B>(b));
  return std::forward<X>(x);
}
/// `x = x * b` in place, in the type of x; b broadcasts. throws: ShapeError
template <AnyTensor X, AnyOperand B> X&& operator*=(X&& x, B&& b) {
  expr::update<expr::Primitive::multiply>(x, std::forward<B>(b));
  return std::forward<X>(x);
}
/// `x = x / b` in place, in the type of x; b broadcasts. throws: ShapeError
template <AnyTensor X, AnyOperand B> X&& operator/=(X&& x, B&& b) {
  expr::update<expr::Primitive::divide>(x, std::forward<B>(b));
  return std::forward<X>(x);
}
/// `x = x % b` in place, in the type of x; b broadcasts. throws: ShapeError
template <AnyTensor X, AnyOperand B> X&& operator%=(X&& x, B&& b) {
  expr::update<expr::Primitive::remainder>(x, std::forward<B>(b));
  return std::forward<X>(x);
}
/// `x = x & b` in place, in the type of x; b broadcasts. throws: ShapeError
template <AnyTensor X, AnyOperand B> X&& operator&=(X&& x, B&& b) {
  expr::update<expr::Primitive::bitwise_and>(x, std::forward<B>(b));
  return std::forward<X>(x);
}
/// `x = x | b` in place, in the type of x; b broadcasts. throws: ShapeError
template <AnyTensor X, AnyOperand B> X&& operator|=(X&& x, B&& b) {
  expr::update<expr::Primitive::bitwise_or>(x, std::forward<B>(b));
  return std::forward<X>(x);
}
/// `x = x ^ b` in place, in the type of x; b broadcasts. throws: ShapeError
template <AnyTensor X, AnyOperand B> X&& operator^=(X&& x, B&& b) {
  expr::update<expr::Primitive::bitwise_xor>(x, std::forward<B>(b));
  return std::forward<X>(x);
}
/// `x = x << b` in place, in the type of x; b broadcasts. throws: ShapeError
template <AnyTensor X, AnyOperand B> X&& operator<<=(X&& x, B&& b) {
  expr::update<expr::Primitive::left_shift>(x, std::forward<B>(b));
  return std::forward<X>(x);
}
/// `x = x >> b` in place, in the type of x; b broadcasts. throws: ShapeError
template <AnyTensor X, AnyOperand B> X&& operator>>=(X&& x, B&& b) {
  expr::update<expr::Primitive::right_shift>(x, std::forward<B>(b));
  return std::forward<X>(x);
}

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The memory of a tensor as a place for values. It holds a handle.
template <class T, class D, class S> class Destination {
public:
  explicit Destination(const Tensor<T, D, S>& target) : target_{target} {}

  /// throws: ShapeError when the values do not broadcast to the tensor
  template <TensorOperand E> void operator=(E&& values) && {
    static_assert(category(typed<E>().type) <= category(dtype_of<T>),
                  "twill: out: the values do not fit the tensor's element type; convert them with cast<T>(x)");
    if constexpr (AnyTensor<E>)
      store(target_, make_node<Convert<dtype_of<T>>>(std::forward<E>(values)));
    else
      store(target_, std::forward<E>(values));
  }

private:
  Tensor<T, D, S> target_;
};

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The memory of a tensor as the destination of an expression: `out(x) = a * b`.
template <class T, class D, class S> [[nodiscard]] auto out(const Tensor<T, D, S>& target) {
  return expr::Destination<T, D, S>(target);
}

}}} // namespace twill::v0::TWILL_ISA
