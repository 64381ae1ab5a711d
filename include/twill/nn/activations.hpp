#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Activation functions as compositions of primitives: each fuses with what stands around it, relu and gelu_tanh with a
// product where that takes in what follows it. Definitions, defaults and the slopes at kinks are PyTorch's. Read next:
// graph/smooth.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/smooth.hpp>
#include <twill/kernel/formulas.hpp>
#include <twill/ops/biased_product.hpp>

namespace twill::inline v0::graph::detail::inline TWILL_ISA {

[[nodiscard]] constexpr Value logistic_slope(const Applied<1>& f) { return f.y * (1 - f.y); }
[[nodiscard]] constexpr Value softplus_slope(const Applied<1>& f);
[[nodiscard]] TWILL_CONSTEXPR Value elu_slope(const Applied<2>& f) {
  return where(f.x[0] > 0, 1, f.x[1] * exp(minimum(f.x[0], 0)));
}
[[nodiscard]] constexpr Value elu_by_scale(const Applied<2>& f) { return expm1(minimum(f.x[0], 0)); }
[[nodiscard]] TWILL_CONSTEXPR Value celu_slope(const Applied<2>& f) {
  return where(f.x[0] > 0, 1, exp(minimum(f.x[0], 0) / f.x[1]));
}
[[nodiscard]] TWILL_CONSTEXPR Value celu_by_scale(const Applied<2>& f) {
  const Value ratio = minimum(f.x[0], 0) / f.x[1];
  return expm1(ratio) - ratio * exp(ratio);
}

} // namespace twill::inline v0::graph::detail::inline TWILL_ISA

namespace twill::inline v0::graph::inline TWILL_ISA {

/// max(x, 0); the gradient at 0 is 0.
[[nodiscard]] TWILL_CONSTEXPR Value relu(Value x) {
  if (const auto product = activated_product(x, Activation::relu)) return *product;
  return maximum(x, 0);
}

/// x where x > 0, slope * x elsewhere.
[[nodiscard]] constexpr Value leaky_relu(Value x, double slope = 0.01) { return where(x > 0, x, x * slope); }

/// 1 / (1 + exp(-x)).
[[nodiscard]] TWILL_CONSTEXPR Value sigmoid(Value x) {
  return detail::with_derivative<detail::logistic_slope>(formula::Sigmoid{}(x), x);
}

} // namespace twill::inline v0::graph::inline TWILL_ISA

namespace twill::inline v0::graph::detail::inline TWILL_ISA {
constexpr Value softplus_slope(const Applied<1>& f) { return sigmoid(f.x[0]); }
} // namespace twill::inline v0::graph::detail::inline TWILL_ISA

namespace twill::inline v0::graph::inline TWILL_ISA {

/// x * sigmoid(x).
[[nodiscard]] constexpr Value silu(Value x) { return x * sigmoid(x); }

/// x * Phi(x) with the normal distribution function.
[[nodiscard]] constexpr Value gelu(Value x) { return formula::Gelu{}(x); }

/// The approximation of gelu by tanh that GPT-2 uses.
[[nodiscard]] TWILL_CONSTEXPR Value gelu_tanh(Value x) {
  if (const auto product = activated_product(x, Activation::gelu_tanh)) return *product;
  return formula::GeluTanh{}(x);
}

/// log(1 + exp(x)), without overflow.
[[nodiscard]] TWILL_CONSTEXPR Value softplus(Value x) {
  return detail::with_derivative<detail::softplus_slope>(formula::Softplus{}(x), x);
}

/// log(sigmoid(x)), exact in both tails.
[[nodiscard]] constexpr Value logsigmoid(Value x) { return -softplus(-x); }

/// x * tanh(softplus(x)).
[[nodiscard]] constexpr Value mish(Value x) { return x * tanh(softplus(x)); }

/// x where x > 0, alpha * (exp(x) - 1) elsewhere.
[[nodiscard]] TWILL_CONSTEXPR Value elu(Value x, double alpha = 1) {
  return detail::with_derivatives<detail::elu_slope, detail::elu_by_scale>(formula::Elu{}(x, alpha), x, alpha);
}

/// x where x > 0, alpha * (exp(x / alpha) - 1) elsewhere.
[[nodiscard]] TWILL_CONSTEXPR Value celu(Value x, double alpha = 1) {
  return detail::with_derivatives<detail::celu_slope, detail::celu_by_scale>(formula::Celu{}(x, alpha), x, alpha);
}

/// 1.0507 * elu(x, 1.6733), which keeps mean 0 and variance 1 from layer to layer.
[[nodiscard]] constexpr Value selu(Value x) { return elu(x, formula::selu_alpha) * formula::selu_scale; }

/// gelu by erfc, without cancellation in the left tail.
[[nodiscard]] constexpr Value gelu_accurate(Value x) { return formula::GeluAccurate{}(x); }

} // namespace twill::inline v0::graph::inline TWILL_ISA

namespace twill::inline v0::graph::detail::inline TWILL_ISA {

/// log(sum(exp(x - above))).
[[nodiscard]] TWILL_CONSTEXPR Value log_sum(Value x, Value above, int axis, int line) {
  return log(sum(exp(x - above), {axis}, KeepDims::yes, line));
}

/// The greatest of each row, and how far logsumexp exceeds it: apart, since their sum would lose the digits of the second.
/// Rows whose greatest is infinite have NaN, as in PyTorch's log_softmax and cross entropy.
struct Normaliser {
  Value greatest;
  Value excess;
};
[[nodiscard]] TWILL_CONSTEXPR Normaliser normaliser(Value x, int axis, int line) {
  const Value greatest = stop_gradient(max(x, {axis}, KeepDims::yes, line));
  return {greatest, log_sum(x, greatest, axis, line)};
}

} // namespace twill::inline v0::graph::detail::inline TWILL_ISA

namespace twill::inline v0::graph::inline TWILL_ISA {

/// exp(x - max) / sum over one axis.
[[nodiscard]] TWILL_CONSTEXPR Value softmax(Value x, int axis = -1, int line = __builtin_LINE()) {
  x = detail::autocast_to_wide(x);
  const Value e = exp(x - stop_gradient(max(x, {axis}, KeepDims::yes, line)));
  return e / sum(e, {axis}, KeepDims::yes, line);
}

/// log(sum(exp(x))) over one axis, which stays with extent one. Rows with infinity have their maximum for it, as have rows of
/// nothing but its negative.
[[nodiscard]] TWILL_CONSTEXPR Value logsumexp(Value x, int axis = -1, int line = __builtin_LINE()) {
  x = detail::autocast_to_wide(x);
  const Value greatest = stop_gradient(max(x, {axis}, KeepDims::yes, line));
  const Value above = where(isinf(greatest), 0, greatest);
  return detail::log_sum(x, above, axis, line) + above;
}

/// x - logsumexp(x) over one axis; NaN in rows whose maximum is infinite.
[[nodiscard]] TWILL_CONSTEXPR Value log_softmax(Value x, int axis = -1, int line = __builtin_LINE()) {
  x = detail::autocast_to_wide(x);
  const detail::Normaliser of_rows = detail::normaliser(x, axis, line);
  return x - of_rows.greatest - of_rows.excess;
}

} // namespace twill::inline v0::graph::inline TWILL_ISA
