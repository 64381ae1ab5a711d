#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of complex symbols: the formulas of elementwise/complex_formulas.hpp for the primitives that complex
// numbers have. Read next: expr/complex_functions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/elementwise/complex_formulas.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/kernel/primitive.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// A complex number of two real ones of one type.
[[nodiscard]] constexpr Symbol complex_of(Symbol real, Symbol imag) {
  return {real.code(), paired(real.line(), imag.line())};
}

[[nodiscard]] constexpr Symbol choose_complex(Symbol condition, Symbol a, Symbol b) {
  return complex_of(where(condition, a.real(), b.real()), where(condition, a.imag(), b.imag()));
}

using ComplexParts = formula::Parts<Symbol>;
using Formulas = formula::ComplexFormulas<Symbol>;

[[nodiscard]] constexpr ComplexParts parts_of(Symbol z) { return {z.real(), z.imag()}; }
[[nodiscard]] constexpr Symbol complex_of(const ComplexParts& z) { return complex_of(z.re, z.im); }

constexpr Symbol apply_complex(Primitive primitive, Symbol z) {
  using enum Primitive;
  const Symbol x = z.real(), y = z.imag();
  switch (primitive) {
  case abs:
    return apply(hypot, x, y);
  case logical_not:
    return !z.to(DType::boolean);
  case isfinite:
    return expr::apply(isfinite, x) & expr::apply(isfinite, y);
  case isnan:
  case isinf:
    return expr::apply(primitive, x) | expr::apply(primitive, y);
  default:
    return complex_of(Formulas::of(primitive, parts_of(z)));
  }
}

constexpr Symbol apply_complex(Primitive primitive, Symbol left, Symbol right) {
  using enum Primitive;
  const DType type = promote(left.type(), right.type());
  const Symbol a = left.to(type), b = right.to(type);
  switch (primitive) {
  case add:
    return complex_of(a.real() + b.real(), a.imag() + b.imag());
  case subtract:
    return complex_of(a.real() - b.real(), a.imag() - b.imag());
  case multiply:
    return complex_of(Formulas::times(parts_of(a), parts_of(b)));
  case divide:
    return complex_of(Formulas::quotient(parts_of(a), parts_of(b)));
  case Primitive::power:
    return complex_of(Formulas::power_of(parts_of(a), parts_of(b)));
  case equal:
    return (a.real() == b.real()) & (a.imag() == b.imag());
  case not_equal:
    return (a.real() != b.real()) | (a.imag() != b.imag());
  default: // of truth values
    return expr::apply(primitive, a.to(DType::boolean), b.to(DType::boolean));
  }
}

}}}} // namespace twill::v0::expr::TWILL_ISA
