#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Symbols of a program being written. Arithmetic on a `Symbol` appends lines and promotes like tensors, so an
// elementwise function is written once, as ordinary code, and a value that it uses twice is computed once. Its
// functions are those of elementwise/. Read next: expr/operation.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/elementwise/activations.hpp>
#include <twill/elementwise/argument.hpp>
#include <twill/elementwise/arithmetic.hpp>
#include <twill/elementwise/comparison.hpp>
#include <twill/elementwise/floating.hpp>
#include <twill/elementwise/real.hpp>
#include <twill/expr/code.hpp>
#include <twill/kernel/primitive.hpp>

#include <concepts>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

using namespace elementwise;
using kernel::Primitive;

using kernel::Family;

[[nodiscard]] constexpr Family family_of(Primitive primitive) { return kernel::info(primitive).family; }

/// The type in which a primitive computes when its operands meet in `common`.
[[nodiscard]] constexpr DType operand_type(Primitive primitive, DType common) {
  switch (family_of(primitive)) {
  case Family::floating:
    return floating_type(common);
  case Family::logical:
    return DType::boolean;
  default:
    return common;
  }
}

/// The element type of the result.
[[nodiscard]] constexpr DType result_type(Primitive primitive, DType common) {
  if (kernel::info(primitive).boolean_result) return DType::boolean;
  const DType type = operand_type(primitive, common);
  return primitive == Primitive::abs ? real_type(type) : type;
}

/// The meaning of `+`, `*`, maximum and minimum for booleans, as in PyTorch; `fma` says that there is none.
[[nodiscard]] constexpr Primitive of_booleans(Primitive primitive) {
  switch (primitive) {
  case Primitive::add:
  case Primitive::maximum:
    return Primitive::logical_or;
  case Primitive::multiply:
  case Primitive::minimum:
  case Primitive::square:
  case Primitive::abs:
    return Primitive::logical_and;
  default:
    return Primitive::fma;
  }
}

/// Whether complex numbers have this function; see expr/complex_symbols.hpp.
[[nodiscard]] constexpr bool takes_complex(Primitive primitive) {
  using enum Primitive;
  const auto is_in = [=](Primitive first, Primitive last) { return primitive >= first && primitive <= last; };
  return is_in(negate, reciprocal) || is_in(exp, log10) || is_in(sin, atanh) || primitive == tanh_accurate ||
         is_in(logical_not, isfinite) || is_in(add, divide) || primitive == power || is_in(equal, not_equal) ||
         is_in(logical_and, logical_xor) || primitive == where;
}

[[nodiscard]] constexpr bool accepts(Primitive primitive, DType common) {
  const Family family = family_of(primitive);
  if (is_complex(common)) return takes_complex(primitive);
  if (family == Family::arithmetic) return common != DType::boolean || of_booleans(primitive) != Primitive::fma;
  if (family == Family::bitwise) return !is_floating(common);
  if (family == Family::integer) return !is_floating(common) && common != DType::boolean;
  return primitive != Primitive::nextafter || (common != DType::float16 && common != DType::bfloat16);
}

/// One value of the program being written.
class Symbol : public ArgumentBase<ArgumentKind::symbol, Symbol> {
public:
  constexpr Symbol() = default;
  constexpr Symbol(Code& code, int line) : code_{&code}, line_{line} {}

  [[nodiscard]] constexpr int line() const { return line_; }
  [[nodiscard]] constexpr Code& code() const { return *code_; }
  [[nodiscard]] constexpr DType type() const { return code_->type_of(line_); }
  [[nodiscard]] constexpr Symbol to(DType type) const { return {*code_, code_->cast(type, line_)}; }
  /// Whether it is complex, and its parts.
  [[nodiscard]] constexpr bool is_complex() const { return is_pair(line_); }
  [[nodiscard]] constexpr Symbol real() const { return {*code_, real_line(line_)}; }
  [[nodiscard]] constexpr Symbol imag() const { return {*code_, imaginary_line(line_)}; }
  /// A number beside this value: weak, so it takes this value's type unless its kind is higher.
  [[nodiscard]] constexpr Symbol number(double value, TypeCategory kind = TypeCategory::floating) const {
    return {*code_, code_->number(weak_promote(type(), kind), value)};
  }

private:
  Code* code_ = nullptr;
  int line_ = 0;
};

// Functions of complex symbols, in expr/complex_symbols.hpp.
[[nodiscard]] constexpr Symbol apply_complex(Primitive primitive, Symbol z);
[[nodiscard]] constexpr Symbol apply_complex(Primitive primitive, Symbol a, Symbol b);
[[nodiscard]] constexpr Symbol choose_complex(Symbol condition, Symbol a, Symbol b);
/// Not a constant expression: calling it is the error of a function that complex numbers do not have.
void complex_numbers_have_no_such_function();

[[nodiscard]] constexpr Symbol apply(Primitive primitive, Symbol x) {
  if (x.is_complex()) {
    if (!takes_complex(primitive)) complex_numbers_have_no_such_function();
    return apply_complex(primitive, x);
  }
  if (family_of(primitive) == Family::rounding && !is_floating(x.type())) return x;
  if (x.type() == DType::boolean && family_of(primitive) == Family::arithmetic)
    return of_booleans(primitive) == Primitive::logical_and ? x : x.to(DType::int64);
  const Symbol operand = x.to(operand_type(primitive, x.type()));
  return {x.code(), x.code().step(primitive, result_type(primitive, x.type()), {operand.line(), 0, 0, 0})};
}

/// The type in which two operands meet; of a pair that was refused, that of the first.
[[nodiscard]] constexpr DType joint_type(DType a, DType b) {
  const DType common = promote(a, b);
  return common == no_type ? a : common;
}

[[nodiscard]] constexpr Symbol apply(Primitive primitive, Symbol a, Symbol b) {
  const DType common = joint_type(a.type(), b.type());
  if (common == DType::boolean && family_of(primitive) == Family::arithmetic) primitive = of_booleans(primitive);
  if (is_complex(common)) {
    if (!takes_complex(primitive)) complex_numbers_have_no_such_function();
    return apply_complex(primitive, a, b);
  }
  const DType type = operand_type(primitive, common);
  const int left = a.to(type).line();
  const int right = b.to(type).line();
  return {a.code(), a.code().step(primitive, result_type(primitive, common), {left, right, 0, 0})};
}

/// A primitive of three real numbers.
[[nodiscard]] constexpr Symbol apply(Primitive primitive, Symbol a, Symbol b, Symbol c) {
  const DType common = joint_type(joint_type(a.type(), b.type()), c.type());
  if (is_complex(common)) complex_numbers_have_no_such_function();
  const DType type = operand_type(primitive, common);
  const int first = a.to(type).line();
  const int second = b.to(type).line();
  return {a.code(), a.code().step(primitive, type, {first, second, c.to(type).line(), 0})};
}

/// An operand of a function of symbols: a symbol, or a plain number, which is weak.
class Term : public ArgumentBase<ArgumentKind::symbol, Term> {
public:
  constexpr Term(Symbol symbol) : symbol_{symbol} {} // NOLINT: implicit on purpose
  template <class T>
  requires std::integral<T> || std::floating_point<T>
  constexpr Term(T number) // NOLINT: implicit on purpose
      : number_{static_cast<double>(number)}, kind_{category_of<T>}, is_number_{true} {}

  [[nodiscard]] constexpr bool is_number() const { return is_number_; }
  [[nodiscard]] constexpr TypeCategory kind() const { return kind_; }
  /// The value as an operand of another one, whose type a number takes.
  [[nodiscard]] constexpr Symbol beside(const Term& other) const {
    return is_number_ ? other.symbol_.number(number_, kind_) : symbol_;
  }
  /// The value converted to a type.
  [[nodiscard]] constexpr Symbol in(Code& code, DType type) const {
    return is_number_ ? Symbol{code, code.number(type, number_)} : symbol_.to(type);
  }
  [[nodiscard]] constexpr DType type() const {
    return is_number_ ? weak_promote(DType::boolean, kind_) : symbol_.type();
  }

private:
  Symbol symbol_{};
  double number_ = 0;
  TypeCategory kind_ = TypeCategory::boolean;
  bool is_number_ = false;
};

[[nodiscard]] constexpr Symbol apply(Primitive primitive, const Term& a, const Term& b) {
  return apply(primitive, a.beside(b), b.beside(a));
}

[[nodiscard]] constexpr Symbol apply(Primitive primitive, const Term& a, const Term& b, const Term& c) {
  const Term& other = !a.is_number() ? a : !b.is_number() ? b : c;
  return apply(primitive, a.beside(other), b.beside(other), c.beside(other));
}

/// a where the condition holds, b elsewhere.
[[nodiscard]] constexpr Symbol choose(Symbol condition, const Term& a, const Term& b) {
  const DType common = a.is_number() == b.is_number() ? promote(a.type(), b.type())
                       : a.is_number()                ? weak_promote(b.type(), a.kind())
                                                      : weak_promote(a.type(), b.kind());
  Code& code = condition.code();
  const Symbol chosen = condition.to(DType::boolean);
  const Symbol first = a.in(code, common);
  const Symbol second = b.in(code, common);
  if (is_complex(common)) return choose_complex(chosen, first, second);
  if (common == DType::boolean)
    return apply(Primitive::logical_or, apply(Primitive::logical_and, chosen, first),
                 apply(Primitive::logical_and, apply(Primitive::logical_not, chosen), second));
  return {code, code.step(Primitive::where, common, {chosen.line(), first.line(), second.line(), 0})};
}

/// A formula of symbols, of a complex one that for complex numbers where it has it.
template <class F> [[nodiscard]] constexpr Symbol formula_of(auto... symbols) {
  if constexpr (requires { F{}.of_complex(symbols...); })
    if ((symbols.is_complex() || ...)) return F{}.of_complex(symbols...);
  return F{}(symbols...);
}

// clang-format off
[[nodiscard]] constexpr Symbol operator+(Term a, Term b) { return apply(Primitive::add, a, b); }
[[nodiscard]] constexpr Symbol operator-(Term a, Term b) { return apply(Primitive::subtract, a, b); }
[[nodiscard]] constexpr Symbol operator*(Term a, Term b) { return apply(Primitive::multiply, a, b); }
[[nodiscard]] constexpr Symbol operator/(Term a, Term b) { return apply(Primitive::divide, a, b); }
[[nodiscard]] constexpr Symbol operator%(Term a, Term b) { return apply(Primitive::remainder, a, b); }
[[nodiscard]] constexpr Symbol operator&(Term a, Term b) { return apply(Primitive::bitwise_and, a, b); }
[[nodiscard]] constexpr Symbol operator|(Term a, Term b) { return apply(Primitive::bitwise_or, a, b); }
[[nodiscard]] constexpr Symbol operator^(Term a, Term b) { return apply(Primitive::bitwise_xor, a, b); }
[[nodiscard]] constexpr Symbol operator<<(Term a, Term b) { return apply(Primitive::left_shift, a, b); }
[[nodiscard]] constexpr Symbol operator>>(Term a, Term b) { return apply(Primitive::right_shift, a, b); }
[[nodiscard]] constexpr Symbol operator==(Term a, Term b) { return apply(Primitive::equal, a, b); }
[[nodiscard]] constexpr Symbol operator!=(Term a, Term b) { return apply(Primitive::not_equal, a, b); }
[[nodiscard]] constexpr Symbol operator<(Term a, Term b) { return apply(Primitive::less, a, b); }
[[nodiscard]] constexpr Symbol operator<=(Term a, Term b) { return apply(Primitive::less_equal, a, b); }
[[nodiscard]] constexpr Symbol operator>(Term a, Term b) { return apply(Primitive::greater, a, b); }
[[nodiscard]] constexpr Symbol operator>=(Term a, Term b) { return apply(Primitive::greater_equal, a, b); }
[[nodiscard]] constexpr Symbol operator-(Symbol x) { return apply(Primitive::negate, x); }
[[nodiscard]] constexpr Symbol operator!(Symbol x) { return apply(Primitive::logical_not, x); }
[[nodiscard]] constexpr Symbol operator~(Symbol x) { return apply(Primitive::invert, x); }
[[nodiscard]] constexpr Symbol operator+(Symbol x) { return x; }
// clang-format on

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { namespace elementwise { inline namespace TWILL_ISA {

template <> struct Algebra<ArgumentKind::symbol> {
  using Symbol = expr::Symbol;
  using Term = expr::Term;

  template <Primitive P> static constexpr Symbol apply(Symbol x) { return expr::apply(P, x); }
  template <Primitive P> static constexpr Symbol apply(const Term& a, const Term& b, CallSite) {
    return expr::apply(P, a, b);
  }
  template <Primitive P> static constexpr Symbol apply(const Term& a, const Term& b, const Term& c, CallSite) {
    return expr::apply(P, a, b, c);
  }
  static constexpr Symbol choose(Symbol condition, const Term& a, const Term& b, CallSite) {
    return expr::choose(condition, a, b);
  }
  template <DType To> static constexpr Symbol convert(Symbol x) { return x.to(To); }
  static constexpr Symbol floating(Symbol x) { return x.to(floating_type(x.type())); }

  template <class F> static constexpr Symbol compose(Symbol x) { return expr::formula_of<F>(x); }
  template <class F> static constexpr Symbol compose(const Term& a, const Term& b) {
    return F{}(a.beside(b), b.beside(a));
  }
  template <class F> static constexpr Symbol compose(Symbol a, Symbol b, const Term& c) {
    return F{}(a, b, c.beside(a));
  }
  template <class F, class... P> static constexpr Symbol compose_with(Symbol x, P... parameters) {
    return F{}(x, x.number(parameters)...);
  }
};

}}}} // namespace twill::v0::elementwise::TWILL_ISA

#include <twill/expr/complex_symbols.hpp>
