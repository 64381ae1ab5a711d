#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Activation functions as compositions of primitives: each fuses with what stands around it. Definitions and defaults are
// PyTorch's.

#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/kernel/formulas.hpp>

namespace twill::inline v0::graph::inline TWILL_ISA {

/// max(x, 0); the gradient at 0 is 0.
[[nodiscard]] constexpr Value relu(Value x) { return maximum(x, 0); }

/// x where x > 0, slope * x elsewhere.
[[nodiscard]] constexpr Value leaky_relu(Value x, double slope = 0.01) { return where(x > 0, x, x * slope); }

/// 1 / (1 + exp(-x)), by way of tanh, which cannot overflow.
[[nodiscard]] constexpr Value sigmoid(Value x) { return tanh(x * 0.5) * 0.5 + 0.5; }

/// x * sigmoid(x).
[[nodiscard]] constexpr Value silu(Value x) { return x * sigmoid(x); }

/// x * Phi(x) with the normal distribution function.
[[nodiscard]] constexpr Value gelu(Value x) { return x * 0.5 * (erf(x * 0.70710678118654752440) + 1); }

/// The approximation of gelu by tanh that GPT-2 uses.
[[nodiscard]] constexpr Value gelu_tanh(Value x) {
  return x * 0.5 * (tanh((x + x * x * x * 0.044715) * 0.79788456080286535588) + 1);
}

/// log(1 + exp(x)), without overflow.
[[nodiscard]] constexpr Value softplus(Value x) { return maximum(x, 0) + log1p(exp(-abs(x))); }

/// x where x > 0, alpha * (exp(x) - 1) elsewhere.
[[nodiscard]] constexpr Value elu(Value x, double alpha = 1) { return where(x > 0, x, expm1(minimum(x, 0)) * alpha); }

/// sigmoid without the fast form's cancellation in the left tail.
[[nodiscard]] constexpr Value sigmoid_accurate(Value x) { return formula::SigmoidAccurate{}(x); }

/// x * sigmoid_accurate(x).
[[nodiscard]] constexpr Value silu_accurate(Value x) { return formula::SiluAccurate{}(x); }

/// gelu by erfc, without cancellation in the left tail.
[[nodiscard]] constexpr Value gelu_accurate(Value x) { return formula::GeluAccurate{}(x); }

/// exp(x - max) / sum over one axis.
[[nodiscard]] constexpr Value softmax(Value x, int axis = -1, int line = __builtin_LINE()) {
  x = detail::autocast_to_wide(x);
  const Value e = exp(x - stop_gradient(max(x, {axis}, KeepDims::yes, line)));
  return e / sum(e, {axis}, KeepDims::yes, line);
}

/// log(sum(exp(x))) over one axis, which stays with extent one.
[[nodiscard]] constexpr Value logsumexp(Value x, int axis = -1, int line = __builtin_LINE()) {
  x = detail::autocast_to_wide(x);
  const Value largest = stop_gradient(max(x, {axis}, KeepDims::yes, line));
  return log(sum(exp(x - largest), {axis}, KeepDims::yes, line)) + largest;
}

/// x - logsumexp(x) over one axis.
[[nodiscard]] constexpr Value log_softmax(Value x, int axis = -1, int line = __builtin_LINE()) {
  return x - logsumexp(x, axis, line);
}

} // namespace twill::inline v0::graph::inline TWILL_ISA
