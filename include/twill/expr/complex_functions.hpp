#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions that complex tensors have and real ones do not: parts, conjugate, angle. Those that both have, `exp`, `abs`
// and so on, are called as for real numbers. `real` and `imag` of a tensor are views (tensor/complex_views.hpp), of an
// expression they are expressions. Read next: expr/complex_symbols.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>
#include <twill/expr/symbol.hpp>

#include <numbers>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Whether an operand has complex elements.
template <class X> inline constexpr bool is_complex_operand = is_complex(typed<X>().type);

struct ImaginaryPart {
  static constexpr std::string_view name() { return "imag"; }
  static constexpr DType result(DType type) { return real_type(type); }
  static constexpr Symbol emit(Symbol z) { return z.imag(); }
};

struct Conjugate {
  static constexpr std::string_view name() { return "conj"; }
  static constexpr DType result(DType type) { return type; }
  static constexpr Symbol emit(Symbol z) { return z.is_complex() ? complex_of(z.real(), -z.imag()) : z; }
};

struct AngleOf {
  static constexpr std::string_view name() { return "angle"; }
  static constexpr DType result(DType type) { return real_type(floating_type(type)); }
  static constexpr Symbol emit(Symbol z) {
    if (z.is_complex()) return atan2(z.imag(), z.real());
    const Symbol x = z.to(result(z.type()));
    return where(isnan(x), x, where(signbit(x), std::numbers::pi, x.number(0)));
  }
};

struct PartsJoined {
  static constexpr std::string_view name() { return "complex"; }
  static constexpr DType result(DType real, DType imag) { return complex_type(promote(real, imag)); }
  static constexpr Symbol emit(Symbol real, Symbol imag) {
    const DType part = real_type(result(real.type(), imag.type()));
    return complex_of(real.to(part), imag.to(part));
  }
};

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The real part of a complex expression.
template <LazyValue X> [[nodiscard]] auto real(X&& x) {
  static_assert(expr::is_complex_operand<X>, "twill: real: the operand has complex elements, not real ones");
  return expr::make_node<expr::Convert<real_type(expr::typed<X>().type)>>(std::forward<X>(x));
}
/// The imaginary part of a complex expression.
template <LazyValue X> [[nodiscard]] auto imag(X&& x) {
  static_assert(expr::is_complex_operand<X>, "twill: imag: the operand has complex elements, not real ones");
  return expr::make_node<expr::ImaginaryPart>(std::forward<X>(x));
}

/// The complex conjugate; a real number itself.
template <TensorOperand X> [[nodiscard]] auto conj(X&& x) {
  return expr::make_node<expr::Conjugate>(std::forward<X>(x));
}

/// The angle in [-pi, pi] of a complex number; 0 or pi of a real one.
template <TensorOperand X> [[nodiscard]] auto angle(X&& x) {
  return expr::make_node<expr::AngleOf>(std::forward<X>(x));
}

/// Complex numbers of real and imaginary parts, which broadcast: complex128 where one of them is float64, else
/// complex64. PyTorch's `complex`.
template <class A, OperandWith<A> B> [[nodiscard]] auto complex(A&& real, B&& imag) {
  static_assert(!expr::is_complex_operand<A> && !expr::is_complex_operand<B>, "twill: complex: the parts are real");
  return expr::make_node<expr::PartsJoined>(std::forward<A>(real), std::forward<B>(imag));
}

}}} // namespace twill::v0::TWILL_ISA
