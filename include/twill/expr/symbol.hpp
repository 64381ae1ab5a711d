#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// `Symbol` stands for one value of a program being written. Arithmetic on symbols appends lines and follows the same
// promotion as tensors do, so an elementwise function is written once, as ordinary code, and a value that it uses twice is
// computed once. Read next: expr/activations.hpp, which is made of it.

#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/code.hpp>
#include <twill/kernel/primitive.hpp>

#include <cstdint>

namespace twill::inline v0::expr {

using kernel::Primitive;

/// What a primitive is about, which decides the element types that it takes and gives.
enum class Family : std::uint8_t { arithmetic, floating, rounding, comparison, logical, bitwise };

[[nodiscard]] constexpr Family family_of(Primitive primitive) {
  switch (primitive) {
  case Primitive::floor:
  case Primitive::ceil:
  case Primitive::round:
  case Primitive::trunc:
    return Family::rounding;
  case Primitive::logical_not:
  case Primitive::logical_and:
  case Primitive::logical_or:
  case Primitive::logical_xor:
    return Family::logical;
  case Primitive::bitwise_and:
  case Primitive::bitwise_or:
  case Primitive::bitwise_xor:
    return Family::bitwise;
  case Primitive::negate:
  case Primitive::abs:
  case Primitive::sign:
  case Primitive::square:
  case Primitive::add:
  case Primitive::subtract:
  case Primitive::multiply:
  case Primitive::floor_divide:
  case Primitive::remainder:
  case Primitive::power:
  case Primitive::maximum:
  case Primitive::minimum:
    return Family::arithmetic;
  case Primitive::equal:
  case Primitive::not_equal:
  case Primitive::less:
  case Primitive::less_equal:
  case Primitive::greater:
  case Primitive::greater_equal:
    return Family::comparison;
  default:
    return Family::floating;
  }
}

/// In what type a primitive computes when its operands meet in `common`.
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
  return kernel::info(primitive).boolean_result ? DType::boolean : operand_type(primitive, common);
}

/// What `+`, `*`, maximum and minimum mean for booleans, as PyTorch has it; `fma` says that there is no meaning.
[[nodiscard]] constexpr Primitive of_booleans(Primitive primitive) {
  switch (primitive) {
  case Primitive::add:
  case Primitive::maximum:
    return Primitive::logical_or;
  case Primitive::multiply:
  case Primitive::minimum:
  case Primitive::square:
    return Primitive::logical_and;
  default:
    return Primitive::fma;
  }
}

[[nodiscard]] constexpr bool accepts(Primitive primitive, DType common) {
  const Family family = family_of(primitive);
  if (family == Family::arithmetic) return common != DType::boolean || of_booleans(primitive) != Primitive::fma;
  if (family == Family::bitwise) return !is_floating(common);
  return true;
}

/// One value of the program being written.
class Symbol {
public:
  constexpr Symbol(Code& code, int line) : code_{&code}, line_{line} {}

  [[nodiscard]] constexpr int line() const { return line_; }
  [[nodiscard]] constexpr Code& code() const { return *code_; }
  [[nodiscard]] constexpr DType type() const { return (*code_)[line_].line.type; }
  [[nodiscard]] constexpr Symbol to(DType type) const { return {*code_, code_->cast(type, line_)}; }
  /// A number beside this value: weak, so it takes this value's type unless its kind is higher.
  [[nodiscard]] constexpr Symbol number(double value, Category kind = Category::floating) const {
    return {*code_, code_->number(weak_promote(type(), kind), value)};
  }

private:
  Code* code_;
  int line_;
};

[[nodiscard]] constexpr Symbol apply(Primitive primitive, Symbol x) {
  if (family_of(primitive) == Family::rounding && !is_floating(x.type())) return x;
  if (x.type() == DType::boolean && family_of(primitive) == Family::arithmetic)
    return primitive == Primitive::square ? x : x.to(DType::int64);
  const Symbol operand = x.to(operand_type(primitive, x.type()));
  return {x.code(), x.code().step(primitive, result_type(primitive, x.type()), {operand.line(), 0, 0, 0})};
}

[[nodiscard]] constexpr Symbol apply(Primitive primitive, Symbol a, Symbol b) {
  const DType common = promote(a.type(), b.type());
  if (common == DType::boolean && family_of(primitive) == Family::arithmetic) primitive = of_booleans(primitive);
  const DType type = operand_type(primitive, common);
  const int left = a.to(type).line();
  const int right = b.to(type).line();
  return {a.code(), a.code().step(primitive, result_type(primitive, common), {left, right, 0, 0})};
}

[[nodiscard]] constexpr Symbol where(Symbol condition, Symbol a, Symbol b) {
  const DType common = promote(a.type(), b.type());
  const int chosen = condition.to(DType::boolean).line();
  if (common == DType::boolean) {
    const Symbol first = apply(Primitive::logical_and, condition, a);
    const Symbol second = apply(Primitive::logical_and, apply(Primitive::logical_not, condition), b);
    return apply(Primitive::logical_or, first, second);
  }
  return {a.code(), a.code().step(Primitive::where, common, {chosen, a.to(common).line(), b.to(common).line(), 0})};
}

[[nodiscard]] constexpr Symbol operator+(Symbol a, Symbol b) { return apply(Primitive::add, a, b); }
[[nodiscard]] constexpr Symbol operator-(Symbol a, Symbol b) { return apply(Primitive::subtract, a, b); }
[[nodiscard]] constexpr Symbol operator*(Symbol a, Symbol b) { return apply(Primitive::multiply, a, b); }
[[nodiscard]] constexpr Symbol operator/(Symbol a, Symbol b) { return apply(Primitive::divide, a, b); }
[[nodiscard]] constexpr Symbol operator+(Symbol a, double b) { return a + a.number(b); }
[[nodiscard]] constexpr Symbol operator-(Symbol a, double b) { return a - a.number(b); }
[[nodiscard]] constexpr Symbol operator*(Symbol a, double b) { return a * a.number(b); }
[[nodiscard]] constexpr Symbol operator/(Symbol a, double b) { return a / a.number(b); }
[[nodiscard]] constexpr Symbol operator+(double a, Symbol b) { return b.number(a) + b; }
[[nodiscard]] constexpr Symbol operator-(double a, Symbol b) { return b.number(a) - b; }
[[nodiscard]] constexpr Symbol operator*(double a, Symbol b) { return b.number(a) * b; }
[[nodiscard]] constexpr Symbol operator/(double a, Symbol b) { return b.number(a) / b; }
[[nodiscard]] constexpr Symbol operator-(Symbol a) { return apply(Primitive::negate, a); }
[[nodiscard]] constexpr Symbol operator>(Symbol a, double b) { return apply(Primitive::greater, a, a.number(b)); }
[[nodiscard]] constexpr Symbol operator<(Symbol a, double b) { return apply(Primitive::less, a, a.number(b)); }
[[nodiscard]] constexpr Symbol operator>(Symbol a, Symbol b) { return apply(Primitive::greater, a, b); }
[[nodiscard]] constexpr Symbol operator<(Symbol a, Symbol b) { return apply(Primitive::less, a, b); }
[[nodiscard]] constexpr Symbol maximum(Symbol a, Symbol b) { return apply(Primitive::maximum, a, b); }
[[nodiscard]] constexpr Symbol minimum(Symbol a, Symbol b) { return apply(Primitive::minimum, a, b); }
[[nodiscard]] constexpr Symbol maximum(Symbol a, double b) { return maximum(a, a.number(b)); }
[[nodiscard]] constexpr Symbol minimum(Symbol a, double b) { return minimum(a, a.number(b)); }
[[nodiscard]] constexpr Symbol exp(Symbol x) { return apply(Primitive::exp, x); }
[[nodiscard]] constexpr Symbol expm1(Symbol x) { return apply(Primitive::expm1, x); }
[[nodiscard]] constexpr Symbol log(Symbol x) { return apply(Primitive::log, x); }
[[nodiscard]] constexpr Symbol log1p(Symbol x) { return apply(Primitive::log1p, x); }
[[nodiscard]] constexpr Symbol tanh(Symbol x) { return apply(Primitive::tanh, x); }
[[nodiscard]] constexpr Symbol erf(Symbol x) { return apply(Primitive::erf, x); }
[[nodiscard]] constexpr Symbol sqrt(Symbol x) { return apply(Primitive::sqrt, x); }
[[nodiscard]] constexpr Symbol square(Symbol x) { return apply(Primitive::square, x); }
[[nodiscard]] constexpr Symbol abs(Symbol x) { return apply(Primitive::abs, x); }

} // namespace twill::inline v0::expr
