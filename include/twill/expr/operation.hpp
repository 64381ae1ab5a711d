#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Operations of expression nodes: a primitive, a choice, a conversion, or a function of symbols. Each is a
// type with a name and `emit`; `make_node` turns operands of any kind into the node. The algebra of tensors makes the
// nodes of the functions of elementwise/. Read next: expr/operators.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/symbol.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// One primitive with promotion of its operands.
template <Primitive P> struct Apply {
  static constexpr std::string_view name() { return kernel::info(P).name; }
  static constexpr DType result(DType a) { return result_type(P, a); }
  static constexpr DType result(DType a, DType b) {
    const DType common = joint_type(a, b);
    return common == DType::boolean && family_of(P) == Family::arithmetic ? DType::boolean : result_type(P, common);
  }
  static constexpr DType result(DType a, DType b, DType c) { return result(joint_type(a, b), c); }
  static constexpr Symbol emit(Symbol a) { return apply(P, a); }
  static constexpr Symbol emit(Symbol a, Symbol b) { return apply(P, a, b); }
  static constexpr Symbol emit(Symbol a, Symbol b, Symbol c) { return apply(P, a, b, c); }
};

/// a where the condition holds, b elsewhere.
struct Where {
  static constexpr std::string_view name() { return "where"; }
  static constexpr DType result(DType, DType a, DType b) { return joint_type(a, b); }
  static constexpr Symbol emit(Symbol condition, Symbol a, Symbol b) { return choose(condition, a, b); }
};

template <DType To> struct Convert {
  static constexpr std::string_view name() { return "cast"; }
  static constexpr DType result(DType) { return To; }
  static constexpr Symbol emit(Symbol x) { return x.to(To); }
};

/// A captureless function of symbols.
template <class F> struct Function {
  static constexpr std::string_view name() {
    if constexpr (requires { F::name; })
      return F::name;
    else
      return "map";
  }
  static constexpr Symbol emit(auto... symbols) {
    if constexpr (std::is_default_constructible_v<F>)
      return formula_of<F>(symbols...);
    else
      return (symbols, ...); // refused by `map`
  }
};

/// A node over a function of symbols; numbers take the floating type of the tensors beside them.
template <class F, class... X> [[nodiscard]] auto function_node(X&&... x) {
  constexpr DType numbers = floating_type(common_type<X...>());
  return Node<Function<F>, operand_t<numbers, X>...>(operand<numbers>(std::forward<X>(x))...);
}

/// A node over operands of any kind; numbers beside them take the common type.
template <class Op, class... X> [[nodiscard]] auto make_node(X&&... x) {
  constexpr DType common = common_type<X...>();
  return Node<Op, operand_t<common, X>...>(operand<common>(std::forward<X>(x))...);
}

/// Whether a primitive compares by size.
[[nodiscard]] constexpr bool is_order(Primitive primitive) {
  return (primitive >= Primitive::less && primitive <= Primitive::greater_equal) || primitive == Primitive::maximum ||
         primitive == Primitive::minimum;
}

/// Refuses operands that are complex.
template <class... X> constexpr void require_real() {
  static_assert(!(is_complex(typed<X>().type) || ...),
                "twill: complex numbers have no such function here; apply it to abs(x), real(x) or imag(x)");
}

/// The real part of a complex operand, others as they are: a refused expression goes on with it, so that the refusal is
/// the one error.
template <class X> [[nodiscard]] decltype(auto) real_part(X&& x) {
  if constexpr (is_complex(typed<X>().type))
    return real(std::forward<X>(x));
  else
    return std::forward<X>(x);
}

/// Refuses operands of types without this function.
template <Primitive P, DType Common, class... X> constexpr void require_accepted() {
  static_assert(!is_complex(Common) || !is_order(P),
                "twill: complex numbers have no order; compare abs(x), real(x) or imag(x)");
  if constexpr (!is_order(P) && !takes_complex(P)) require_real<X...>();
  static_assert(!is_float8(Common) || family_of(P) == Family::comparison,
                "twill: floats of 8 bits are stored, not computed with; convert the operand with cast<float>(x)");
}

/// Whether `apply_node` refuses a primitive for its element type.
[[nodiscard]] constexpr bool is_refused(Primitive primitive, DType common) {
  const Family family = family_of(primitive);
  return !accepts(primitive, common) && (family == Family::bitwise || family == Family::integer ||
                                         family == Family::arithmetic || primitive == Primitive::nextafter);
}

/// An operand of an element type that its operation takes, for the rest of an expression that is refused.
template <DType To, class X> [[nodiscard]] auto stand_in(X&& x) {
  if constexpr (std::is_arithmetic_v<std::remove_cvref_t<X>>)
    return static_cast<scalar_t<To>>(x);
  else
    return make_node<Convert<To>>(std::forward<X>(x));
}

template <Primitive P, class... X> [[nodiscard]] auto apply_node(X&&... x) {
  constexpr DType common = common_type<X...>();
  if constexpr (is_complex(common) || is_float8(common)) require_accepted<P, common, X...>();
  if constexpr (is_complex(common) && !takes_complex(P)) {
    return apply_node<P>(real_part(std::forward<X>(x))...);
  } else {
    static_assert(family_of(P) != Family::bitwise || accepts(P, common),
                  "twill: bitwise operations take integers or booleans; convert the operand with cast<T>(x)");
    static_assert(family_of(P) != Family::integer || accepts(P, common),
                  "twill: this operation takes integers; convert the operand with cast<T>(x)");
    static_assert(P != Primitive::nextafter || accepts(P, common),
                  "twill: nextafter and spacing take float or double; convert the operand with cast<float>(x)");
    static_assert(accepts(P, common) || family_of(P) != Family::arithmetic,
                  "twill: this operation has no meaning for booleans; convert the operand with cast<T>(x)");
    if constexpr (is_refused(P, common)) {
      constexpr DType taken = P == Primitive::nextafter ? DType::float32 : DType::int64;
      return apply_node<P>(stand_in<taken>(std::forward<X>(x))...);
    } else {
      // beside bytes -3 would be 253, but a function of real numbers takes it as it is
      constexpr DType numbers = family_of(P) == Family::floating ? floating_type(common) : common;
      return Node<Apply<P>, operand_t<numbers, X>...>(operand<numbers>(std::forward<X>(x))...);
    }
  }
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { namespace elementwise { inline namespace TWILL_ISA {

template <> struct Algebra<ArgumentKind::tensor> {
  template <Primitive P, class X> static auto apply(X&& x) { return expr::apply_node<P>(std::forward<X>(x)); }
  template <Primitive P, class A, class B> static auto apply(A&& a, B&& b, CallSite) {
    return expr::apply_node<P>(std::forward<A>(a), std::forward<B>(b));
  }
  template <Primitive P, class A, class B, class C> static auto apply(A&& a, B&& b, C&& c, CallSite) {
    return expr::apply_node<P>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
  }
  template <class C, class A, class B> static auto choose(C&& condition, A&& a, B&& b, CallSite) {
    using namespace expr;
    constexpr DType common = common_type<A, B>();
    return Node<Where, operand_t<common, C>, operand_t<common, A>, operand_t<common, B>>(
        operand<common>(std::forward<C>(condition)), operand<common>(std::forward<A>(a)),
        operand<common>(std::forward<B>(b)));
  }
  template <DType To, class X> static auto convert(X&& x) {
    return expr::make_node<expr::Convert<To>>(std::forward<X>(x));
  }
  template <class X> static auto floating(X&& x) {
    return convert<floating_type(expr::typed<X>().type)>(std::forward<X>(x));
  }
  template <class F, class... X> static auto compose(X&&... x) {
    if constexpr (!requires { &F::template of_complex<expr::Symbol>; }) expr::require_real<X...>();
    if constexpr (requires { F::keeps_integers; })
      return expr::make_node<expr::Function<F>>(std::forward<X>(x)...);
    else
      return expr::function_node<F>(std::forward<X>(x)...);
  }
  template <class F, class X, class... P> static auto compose_with(X&& x, P... parameters) {
    expr::require_real<X>();
    return expr::function_node<F>(std::forward<X>(x), parameters...);
  }
};

}}}} // namespace twill::v0::elementwise::TWILL_ISA
