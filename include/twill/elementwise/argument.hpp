#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Arguments of elementwise functions, and the algebras that compute with them. Tensors with their expressions, symbols
// of an expression, traced values of a model and tracked results of staged runs have one `Algebra` each, so a function
// is named once, and a formula written once, for all of them. `ArgumentBase`, the empty base class of arguments, lets
// calls find the functions without a namespace. Read next: elementwise/arithmetic.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/kernel/primitive.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace elementwise {

using kernel::Primitive;

/// The algebra of an argument, one bit each. A plain number joins the algebra of the other arguments, and a tensor that
/// of tracked ones, the results of staged runs.
enum class ArgumentKind : std::uint8_t {
  number = 0,
  tensor = 1,
  symbol = 2,
  value = 4,
  other = 8,
  tracked = 16,
  tracked_and_tensor = 17
};

/// The base class of an argument; one type for each, so that an object may hold another one at its own address.
template <ArgumentKind Kind, class Self> struct ArgumentBase {
  static constexpr ArgumentKind argument_kind = Kind; ///< The algebra that it belongs to.

  /// NumPy's `x.T`: all axes in reverse, of a tensor or a traced value.
  template <class X = Self> [[nodiscard]] constexpr auto T() const { return static_cast<const X&>(*this).transpose(); }
};

/// The kind of one type, without const and reference.
template <class X> inline constexpr ArgumentKind kind_of_one = ArgumentKind::other;
template <WeakScalar X> inline constexpr ArgumentKind kind_of_one<X> = ArgumentKind::number;
template <class X>
requires requires { X::argument_kind; }
inline constexpr ArgumentKind kind_of_one<X> = X::argument_kind;

/// The kind of several arguments together: all bits that they have.
template <class... X>
inline constexpr auto
    kind_of = static_cast<ArgumentKind>((static_cast<int>(kind_of_one<std::remove_cvref_t<X>>) | ...));

[[nodiscard]] constexpr bool has_algebra(ArgumentKind kind) {
  using enum ArgumentKind;
  return kind == tensor || kind == symbol || kind == value || kind == tracked || kind == tracked_and_tensor;
}

/// A tensor or expression, a symbol, or a traced value.
template <class X>
concept Argument = has_algebra(kind_of<X>);

/// An argument or a number in the algebra of the others; numbers alone have no algebra.
template <class X, class... Others>
concept With = has_algebra(kind_of<X, Others...>);

}}} // namespace twill::v0::elementwise

namespace twill { inline namespace v0 { namespace elementwise { inline namespace TWILL_ISA {

/// How arguments of a kind are computed with. `apply<P>` is a primitive of one to three of them, `compose<F>` a formula
/// of one to three, `compose_with<F>` a formula of one and parameters, `choose` is `where`, `convert<To>` and
/// `floating` are casts to a type and to that of a real number. A specialisation stands beside each kind of argument.
template <ArgumentKind Kind> struct Algebra;

/// A primitive of one argument.
template <Primitive P, Argument X> [[nodiscard]] constexpr auto apply(X&& x) {
  return Algebra<kind_of<X>>::template apply<P>(std::forward<X>(x));
}
/// A primitive of two; `site` is that of the call, which messages name.
template <Primitive P, class A, With<A> B> [[nodiscard]] constexpr auto apply(A&& a, B&& b, CallSite site) {
  return Algebra<kind_of<A, B>>::template apply<P>(std::forward<A>(a), std::forward<B>(b), site);
}
/// A primitive of three.
template <Primitive P, class A, class B, With<A, B> C>
[[nodiscard]] constexpr auto apply(A&& a, B&& b, C&& c, CallSite site) {
  return Algebra<kind_of<A, B, C>>::template apply<P>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), site);
}
/// A formula of arguments; each fuses with the lines around it.
template <class F, class... X>
requires(has_algebra(kind_of<X...>)) [[nodiscard]] constexpr auto compose(X&&... x) {
  return Algebra<kind_of<X...>>::template compose<F>(std::forward<X>(x)...);
}
/// A formula of an argument and numbers, one or more.
template <class F, Argument X, std::same_as<double>... P>
[[nodiscard]] constexpr auto compose_with(X&& x, P... parameters) {
  return Algebra<kind_of<X>>::template compose_with<F>(std::forward<X>(x), parameters...);
}

}}}} // namespace twill::v0::elementwise::TWILL_ISA

namespace twill { inline namespace v0 {
using namespace elementwise;
}} // namespace twill::v0
