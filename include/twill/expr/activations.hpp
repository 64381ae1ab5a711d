#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Activation functions, and `map`, which makes an elementwise function of your own. They are functions of symbols: ordinary
// code that is run once, by the compiler, to write the lines of the program. An operand used twice is read and computed
// once. Definitions and defaults are PyTorch's.

#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>
#include <twill/expr/symbol_functions.hpp>
#include <twill/kernel/formulas.hpp>

#include <string_view>
#include <utility>

namespace twill::inline v0::expr::inline TWILL_ISA {

struct Relu {
  static constexpr std::string_view name = "relu";
  constexpr Symbol operator()(Symbol x) const { return maximum(x, x.number(0, Category::integer)); }
};
struct LeakyRelu {
  static constexpr std::string_view name = "leaky_relu";
  constexpr Symbol operator()(Symbol x, Symbol slope) const { return where(x > 0.0, x, x * slope); }
};
struct Sigmoid {
  static constexpr std::string_view name = "sigmoid";
  constexpr Symbol operator()(Symbol x) const { return reciprocal(exp(-x) + 1.0); }
};
struct Silu {
  static constexpr std::string_view name = "silu";
  constexpr Symbol operator()(Symbol x) const { return x * Sigmoid{}(x); }
};
struct Gelu {
  static constexpr std::string_view name = "gelu";
  // x times the normal distribution function at x
  constexpr Symbol operator()(Symbol x) const { return x * 0.5 * (erf(x * 0.70710678118654752440) + 1.0); }
};
struct GeluTanh {
  static constexpr std::string_view name = "gelu_tanh";
  // the approximation of GPT-2
  constexpr Symbol operator()(Symbol x) const {
    return x * 0.5 * (tanh((x + x * x * x * 0.044715) * 0.79788456080286535588) + 1.0);
  }
};
struct Softplus {
  static constexpr std::string_view name = "softplus";
  // log(1 + exp(x)) without overflow
  constexpr Symbol operator()(Symbol x) const { return maximum(x, 0.0) + log1p(exp(-abs(x))); }
};
struct Elu {
  static constexpr std::string_view name = "elu";
  constexpr Symbol operator()(Symbol x, Symbol alpha) const {
    return where(x > 0.0, x, expm1(minimum(x, 0.0)) * alpha);
  }
};

// clang-format off
[[nodiscard]] constexpr Symbol relu(Symbol x) { return Relu{}(x); }
[[nodiscard]] constexpr Symbol leaky_relu(Symbol x, double slope = 0.01) { return LeakyRelu{}(x, x.number(slope)); }
[[nodiscard]] constexpr Symbol sigmoid(Symbol x) { return Sigmoid{}(x); }
[[nodiscard]] constexpr Symbol silu(Symbol x) { return Silu{}(x); }
[[nodiscard]] constexpr Symbol gelu(Symbol x) { return Gelu{}(x); }
[[nodiscard]] constexpr Symbol gelu_tanh(Symbol x) { return GeluTanh{}(x); }
[[nodiscard]] constexpr Symbol softplus(Symbol x) { return Softplus{}(x); }
[[nodiscard]] constexpr Symbol elu(Symbol x, double alpha = 1) { return Elu{}(x, x.number(alpha)); }
// clang-format on

} // namespace twill::inline v0::expr::inline TWILL_ISA

namespace twill::inline v0::inline TWILL_ISA {

/// max(x, 0)
template <TensorOperand X> [[nodiscard]] auto relu(X&& x) {
  return expr::function_node<expr::Relu>(std::forward<X>(x));
}
/// x where positive, slope * x elsewhere
template <TensorOperand X> [[nodiscard]] auto leaky_relu(X&& x, double slope = 0.01) {
  return expr::function_node<expr::LeakyRelu>(std::forward<X>(x), slope);
}
/// 1 / (1 + exp(-x)). float32: within 3 ULP
template <TensorOperand X> [[nodiscard]] auto sigmoid(X&& x) {
  return expr::function_node<expr::Sigmoid>(std::forward<X>(x));
}
/// x * sigmoid(x)
template <TensorOperand X> [[nodiscard]] auto silu(X&& x) {
  return expr::function_node<expr::Silu>(std::forward<X>(x));
}
/// x times the normal distribution function at x
template <TensorOperand X> [[nodiscard]] auto gelu(X&& x) {
  return expr::function_node<expr::Gelu>(std::forward<X>(x));
}
/// gelu by erfc, without cancellation in the left tail
template <TensorOperand X> [[nodiscard]] auto gelu_accurate(X&& x) {
  return expr::function_node<formula::GeluAccurate>(std::forward<X>(x));
}
/// gelu as GPT-2 approximates it
template <TensorOperand X> [[nodiscard]] auto gelu_tanh(X&& x) {
  return expr::function_node<expr::GeluTanh>(std::forward<X>(x));
}
/// log(1 + exp(x))
template <TensorOperand X> [[nodiscard]] auto softplus(X&& x) {
  return expr::function_node<expr::Softplus>(std::forward<X>(x));
}
/// x where positive, alpha * (exp(x) - 1) elsewhere
template <TensorOperand X> [[nodiscard]] auto elu(X&& x, double alpha = 1) {
  return expr::function_node<expr::Elu>(std::forward<X>(x), alpha);
}

/// An elementwise function of your own, given as a captureless function of symbols, over one to three operands:
/// `y = map([](auto x) { return x * exp(-x); }, a * b)`.
template <class F, class... X>
requires(Operands<X...> && sizeof...(X) <= 3) [[nodiscard]] auto map(F, X&&... x) {
  static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                "twill: map takes a function without captures; pass what it needs as operands");
  return expr::function_node<F>(std::forward<X>(x)...);
}

} // namespace twill::inline v0::inline TWILL_ISA
