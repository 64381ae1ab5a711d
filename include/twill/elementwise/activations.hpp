#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Activation functions as formulas: each fuses with the lines around it. Definitions, defaults and slopes at kinks are
// PyTorch's. Read next: expr/rowwise.hpp for functions of your own, nn/activations.hpp for those of rows.

#include <twill/core/config.hpp>
#include <twill/elementwise/argument.hpp>
#include <twill/elementwise/arithmetic.hpp>
#include <twill/elementwise/comparison.hpp>
#include <twill/elementwise/real.hpp>

#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace elementwise { inline namespace TWILL_ISA {

namespace formula {
struct Relu {
  static constexpr std::string_view name = "relu";
  constexpr auto operator()(auto x) const { return maximum(x, 0); }
};
struct LeakyRelu {
  static constexpr std::string_view name = "leaky_relu";
  constexpr auto operator()(auto x, auto slope) const { return where(greater(x, 0), x, x * slope); }
};
struct Sigmoid {
  static constexpr std::string_view name = "sigmoid";
  constexpr auto operator()(auto x) const { return reciprocal(exp(-x) + 1.0); }
  /// Of a complex symbol, whose exponential has no reciprocal where it overflows.
  constexpr auto of_complex(auto z) const {
    const auto is_left = less(z.real(), 0);
    const auto decay = exp(where(is_left, z, -z));
    return where(is_left, decay, 1.0) / (decay + 1.0);
  }
};
struct Silu {
  static constexpr std::string_view name = "silu";
  constexpr auto operator()(auto x) const { return x * sigmoid(x); }
};
struct Gelu {
  static constexpr std::string_view name = "gelu";
  constexpr auto operator()(auto x) const { return x * 0.5 * (erf(x * 0.70710678118654752440) + 1.0); }
};
struct GeluTanh {
  static constexpr std::string_view name = "gelu_tanh";
  constexpr auto operator()(auto x) const {
    return x * 0.5 * (tanh((x + x * x * x * 0.044715) * 0.79788456080286535588) + 1.0);
  }
};
struct GeluAccurate {
  static constexpr std::string_view name = "gelu_accurate";
  constexpr auto operator()(auto x) const { return x * 0.5 * erfc(x * -0.70710678118654752440); }
};
struct Softplus {
  static constexpr std::string_view name = "softplus";
  constexpr auto operator()(auto x) const { return maximum(x, 0.0) + log1p(exp(-abs(x))); }
};
struct Logsigmoid {
  static constexpr std::string_view name = "logsigmoid";
  constexpr auto operator()(auto x) const { return -softplus(-x); }
};
struct Mish {
  static constexpr std::string_view name = "mish";
  constexpr auto operator()(auto x) const { return x * tanh(softplus(x)); }
};
/// Source: Howard et al., "Searching for MobileNetV3" (2019).
struct Hardswish {
  static constexpr std::string_view name = "hardswish";
  constexpr auto operator()(auto x) const { return x * (minimum(maximum(x + 3.0, 0.0), 6.0) / 6.0); }
};
struct Hardsigmoid {
  static constexpr std::string_view name = "hardsigmoid";
  constexpr auto operator()(auto x) const { return minimum(maximum(x + 3.0, 0.0), 6.0) / 6.0; }
};
struct Softsign {
  static constexpr std::string_view name = "softsign";
  constexpr auto operator()(auto x) const { return x / (abs(x) + 1.0); }
};
struct Tanhshrink {
  static constexpr std::string_view name = "tanhshrink";
  constexpr auto operator()(auto x) const { return x - tanh(x); }
};
struct Softshrink {
  static constexpr std::string_view name = "softshrink";
  constexpr auto operator()(auto x, auto width) const {
    return where(greater(x, width), x - width, where(less(x, -width), x + width, x * 0.0));
  }
};
struct Hardshrink {
  static constexpr std::string_view name = "hardshrink";
  constexpr auto operator()(auto x, auto width) const {
    return where(logical_and(greater_equal(x, -width), less_equal(x, width)), 0.0, x);
  }
};
struct Threshold {
  static constexpr std::string_view name = "threshold";
  constexpr auto operator()(auto x, auto limit, auto value) const { return where(less_equal(x, limit), value, x); }
};
struct Elu {
  static constexpr std::string_view name = "elu";
  constexpr auto operator()(auto x, auto alpha) const {
    return where(greater(x, 0.0), x, expm1(minimum(x, 0.0)) * alpha);
  }
};
struct Celu {
  static constexpr std::string_view name = "celu";
  constexpr auto operator()(auto x, auto alpha) const {
    return where(greater(x, 0.0), x, expm1(minimum(x, 0.0) / alpha) * alpha);
  }
};
/// Source: Klambauer, Unterthiner, Mayr and Hochreiter, "Self-normalizing neural networks" (2017).
struct Selu {
  static constexpr std::string_view name = "selu";
  constexpr auto operator()(auto x) const {
    return elu(x, 1.6732632423543772848170429916717) * 1.0507009873554804934193349852946;
  }
};
} // namespace formula

/// max(x, 0); the gradient at 0 is 0.
template <Argument X> [[nodiscard]] constexpr auto relu(X&& x) { return compose<formula::Relu>(std::forward<X>(x)); }
/// x where positive, slope * x elsewhere
template <Argument X> [[nodiscard]] constexpr auto leaky_relu(X&& x, double slope = 0.01) {
  return compose_with<formula::LeakyRelu>(std::forward<X>(x), slope);
}
/// 1 / (1 + exp(-x)). float32: within 3 ULP
template <Argument X> [[nodiscard]] constexpr auto sigmoid(X&& x) {
  return compose<formula::Sigmoid>(std::forward<X>(x));
}
/// x * sigmoid(x)
template <Argument X> [[nodiscard]] constexpr auto silu(X&& x) { return compose<formula::Silu>(std::forward<X>(x)); }
/// x times the normal distribution function at x
template <Argument X> [[nodiscard]] constexpr auto gelu(X&& x) { return compose<formula::Gelu>(std::forward<X>(x)); }
/// gelu by erfc, without cancellation in the left tail
template <Argument X> [[nodiscard]] constexpr auto gelu_accurate(X&& x) {
  return compose<formula::GeluAccurate>(std::forward<X>(x));
}
/// gelu as GPT-2 approximates it, by tanh
template <Argument X> [[nodiscard]] constexpr auto gelu_tanh(X&& x) {
  return compose<formula::GeluTanh>(std::forward<X>(x));
}
/// log(1 + exp(x)) without overflow
template <Argument X> [[nodiscard]] constexpr auto softplus(X&& x) {
  return compose<formula::Softplus>(std::forward<X>(x));
}
/// log(sigmoid(x)), exact in both tails
template <Argument X> [[nodiscard]] constexpr auto logsigmoid(X&& x) {
  return compose<formula::Logsigmoid>(std::forward<X>(x));
}
/// x * tanh(softplus(x))
template <Argument X> [[nodiscard]] constexpr auto mish(X&& x) { return compose<formula::Mish>(std::forward<X>(x)); }
/// x * min(max(x + 3, 0), 6) / 6, a silu without exponentials
template <Argument X> [[nodiscard]] constexpr auto hardswish(X&& x) {
  return compose<formula::Hardswish>(std::forward<X>(x));
}
/// min(max(x, low), high); the gradient at both bounds is 0.
template <Argument X> [[nodiscard]] constexpr auto hardtanh(X&& x, double low = -1, double high = 1) {
  return clamp(std::forward<X>(x), low, high);
}
/// min(max(x, 0), 6); the gradient at both bounds is 0. Integers stay integers.
template <Argument X> [[nodiscard]] constexpr auto relu6(X&& x) { return clamp(std::forward<X>(x), 0, 6); }
/// min(max(x + 3, 0), 6) / 6, a sigmoid without exponentials
template <Argument X> [[nodiscard]] constexpr auto hardsigmoid(X&& x) {
  return compose<formula::Hardsigmoid>(std::forward<X>(x));
}
/// x / (1 + |x|)
template <Argument X> [[nodiscard]] constexpr auto softsign(X&& x) {
  return compose<formula::Softsign>(std::forward<X>(x));
}
/// x - tanh(x)
template <Argument X> [[nodiscard]] constexpr auto tanhshrink(X&& x) {
  return compose<formula::Tanhshrink>(std::forward<X>(x));
}
/// x moved towards 0 by `width`, 0 where |x| is at most that
template <Argument X> [[nodiscard]] constexpr auto softshrink(X&& x, double width = 0.5) {
  return compose_with<formula::Softshrink>(std::forward<X>(x), width);
}
/// x, but 0 where |x| is at most `width`
template <Argument X> [[nodiscard]] constexpr auto hardshrink(X&& x, double width = 0.5) {
  return compose_with<formula::Hardshrink>(std::forward<X>(x), width);
}
/// x where it is greater than `limit`, `value` elsewhere; NaN stays NaN.
template <Argument X> [[nodiscard]] constexpr auto threshold(X&& x, double limit, double value) {
  return compose_with<formula::Threshold>(std::forward<X>(x), limit, value);
}
/// x where positive, alpha * (exp(x) - 1) elsewhere
template <Argument X> [[nodiscard]] constexpr auto elu(X&& x, double alpha = 1) {
  return compose_with<formula::Elu>(std::forward<X>(x), alpha);
}
/// x where positive, alpha * (exp(x / alpha) - 1) elsewhere
template <Argument X> [[nodiscard]] constexpr auto celu(X&& x, double alpha = 1) {
  return compose_with<formula::Celu>(std::forward<X>(x), alpha);
}
/// 1.0507 * elu(x, 1.6733), which keeps mean 0 and variance 1 from layer to layer
template <Argument X> [[nodiscard]] constexpr auto selu(X&& x) { return compose<formula::Selu>(std::forward<X>(x)); }

}}}} // namespace twill::v0::elementwise::TWILL_ISA
