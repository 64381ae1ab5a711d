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
struct Silu {
  static constexpr std::string_view name = "silu";
  constexpr Symbol operator()(Symbol x) const { return x * formula::Sigmoid{}(x); }
};
struct Logsigmoid {
  static constexpr std::string_view name = "logsigmoid";
  constexpr Symbol operator()(Symbol x) const { return -formula::Softplus{}(-x); }
};
struct Mish {
  static constexpr std::string_view name = "mish";
  constexpr Symbol operator()(Symbol x) const { return x * tanh(formula::Softplus{}(x)); }
};
struct Selu {
  static constexpr std::string_view name = "selu";
  constexpr Symbol operator()(Symbol x) const {
    return formula::Elu{}(x, x.number(formula::selu_alpha)) * formula::selu_scale;
  }
};

// clang-format off
[[nodiscard]] constexpr Symbol relu(Symbol x) { return Relu{}(x); }
[[nodiscard]] constexpr Symbol leaky_relu(Symbol x, double slope = 0.01) { return LeakyRelu{}(x, x.number(slope)); }
[[nodiscard]] constexpr Symbol sigmoid(Symbol x) { return formula::Sigmoid{}(x); }
[[nodiscard]] constexpr Symbol silu(Symbol x) { return Silu{}(x); }
[[nodiscard]] constexpr Symbol gelu(Symbol x) { return formula::Gelu{}(x); }
[[nodiscard]] constexpr Symbol gelu_tanh(Symbol x) { return formula::GeluTanh{}(x); }
[[nodiscard]] constexpr Symbol softplus(Symbol x) { return formula::Softplus{}(x); }
[[nodiscard]] constexpr Symbol logsigmoid(Symbol x) { return Logsigmoid{}(x); }
[[nodiscard]] constexpr Symbol mish(Symbol x) { return Mish{}(x); }
[[nodiscard]] constexpr Symbol elu(Symbol x, double alpha = 1) { return formula::Elu{}(x, x.number(alpha)); }
[[nodiscard]] constexpr Symbol celu(Symbol x, double alpha = 1) { return formula::Celu{}(x, x.number(alpha)); }
[[nodiscard]] constexpr Symbol selu(Symbol x) { return Selu{}(x); }
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
  return expr::function_node<formula::Sigmoid>(std::forward<X>(x));
}
/// x * sigmoid(x)
template <TensorOperand X> [[nodiscard]] auto silu(X&& x) {
  return expr::function_node<expr::Silu>(std::forward<X>(x));
}
/// x times the normal distribution function at x
template <TensorOperand X> [[nodiscard]] auto gelu(X&& x) {
  return expr::function_node<formula::Gelu>(std::forward<X>(x));
}
/// gelu by erfc, without cancellation in the left tail
template <TensorOperand X> [[nodiscard]] auto gelu_accurate(X&& x) {
  return expr::function_node<formula::GeluAccurate>(std::forward<X>(x));
}
/// gelu as GPT-2 approximates it
template <TensorOperand X> [[nodiscard]] auto gelu_tanh(X&& x) {
  return expr::function_node<formula::GeluTanh>(std::forward<X>(x));
}
/// log(1 + exp(x))
template <TensorOperand X> [[nodiscard]] auto softplus(X&& x) {
  return expr::function_node<formula::Softplus>(std::forward<X>(x));
}
/// log(sigmoid(x)), exact in both tails
template <TensorOperand X> [[nodiscard]] auto logsigmoid(X&& x) {
  return expr::function_node<expr::Logsigmoid>(std::forward<X>(x));
}
/// x * tanh(softplus(x))
template <TensorOperand X> [[nodiscard]] auto mish(X&& x) {
  return expr::function_node<expr::Mish>(std::forward<X>(x));
}
/// x where positive, alpha * (exp(x) - 1) elsewhere
template <TensorOperand X> [[nodiscard]] auto elu(X&& x, double alpha = 1) {
  return expr::function_node<formula::Elu>(std::forward<X>(x), alpha);
}
/// x where positive, alpha * (exp(x / alpha) - 1) elsewhere
template <TensorOperand X> [[nodiscard]] auto celu(X&& x, double alpha = 1) {
  return expr::function_node<formula::Celu>(std::forward<X>(x), alpha);
}
/// 1.0507 * elu(x, 1.6733), which keeps mean 0 and variance 1 from layer to layer
template <TensorOperand X> [[nodiscard]] auto selu(X&& x) {
  return expr::function_node<expr::Selu>(std::forward<X>(x));
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
