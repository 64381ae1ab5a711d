#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The activation functions whose errors are measured, as expressions, each beside its reference in float64, down to where its
// results end to be normal numbers or lose digits. tests/expr/ measures the same list more coarsely.

#include "sweep.hpp"

#include <twill/expr.hpp>
#include <twill/tensor/create.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace ulp {

/// A formula of one float32, above `least`.
struct Formula {
  std::string_view name;
  Evaluate evaluate;
  Exact exact;
  float least;
  double bound; ///< the largest error that was measured, rounded up
};

template <class F> void evaluate_formula(const float* x, float* y) {
  const auto operand = twill::empty<float, twill::Shape<block>>(twill::Cpu{0});
  std::copy(x, x + block, operand.data());
  const auto result = eval(F{}(operand));
  synchronize(twill::Cpu{0});
  std::copy(result.data(), result.data() + block, y);
}
template <class F> constexpr Formula formula(std::string_view name, F, Exact exact, float least, double bound) {
  return {name, &evaluate_formula<F>, exact, least, bound};
}

namespace detail {
inline double exact_softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
} // namespace detail

inline constexpr float everything = -std::numeric_limits<float>::infinity();
// clang-format off
inline constexpr Formula formulas[] = {
    formula("sigmoid", [](const auto& x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }, -87, 2.4),
    formula("logsigmoid", [](const auto& x) { return logsigmoid(x); }, [](double x) { return -detail::exact_softplus(-x); }, everything, 1.95),
    formula("silu", [](const auto& x) { return silu(x); }, [](double x) { return x / (1 + std::exp(-x)); }, -87, 2.8),
    formula("softplus", [](const auto& x) { return softplus(x); }, &detail::exact_softplus, everything, 1.95),
    formula("mish", [](const auto& x) { return mish(x); }, [](double x) { return x * std::tanh(detail::exact_softplus(x)); }, -87, 5.5),
    formula("elu", [](const auto& x) { return elu(x); }, [](double x) { return x > 0 ? x : std::expm1(x); }, everything, 1.1),
    formula("celu of 0.5", [](const auto& x) { return celu(x, 0.5); }, [](double x) { return x > 0 ? x : 0.5 * std::expm1(2 * x); }, everything, 1.1),
    formula("selu", [](const auto& x) { return selu(x); }, [](double x) { return 1.0507009873554804935 * (x > 0 ? x : 1.6732632423543772848 * std::expm1(x)); }, everything, 2.5),
    formula("gelu_accurate", [](const auto& x) { return gelu_accurate(x); }, [](double x) { return 0.5 * x * std::erfc(x * -0.70710678118654752440); }, -13, 195),
    formula("gelu", [](const auto& x) { return gelu(x); }, [](double x) { return 0.5 * x * std::erfc(x * -0.70710678118654752440); }, -1, 4.8),
    formula("gelu_tanh", [](const auto& x) { return gelu_tanh(x); }, [](double x) { return x / (1 + std::exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x))); }, -1, 5.8),
};
// clang-format on

/// What every stride-th float from `least` to infinity shows.
[[nodiscard]] inline Finding sweep(const Formula& formula, std::uint64_t stride) {
  const auto end_of = [](float x) { return std::uint64_t{std::bit_cast<std::uint32_t>(x)} + 1; };
  Finding found =
      sweep(0, end_of(std::numeric_limits<float>::infinity()), stride, formula.evaluate, formula.exact, nullptr);
  found.take(sweep(0x80000000U, end_of(formula.least), stride, formula.evaluate, formula.exact, nullptr));
  return found;
}

} // namespace ulp
