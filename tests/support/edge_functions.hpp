#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Differentiable functions and losses of elements, with first and second derivatives, as arrays of outputs of one graph, for
// tests at kinks, in tails and at the ends of ranges. tests/graph/edges.test.cpp compares what the reference makes of them with
// PyTorch, tests/support/edge_programs.hpp what is compiled of them with the reference.

#include "tests/support/graph_interpreter.hpp"

#include <twill/graph/gradient.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/losses.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace twill::test {

using graph::Value;

/// A function of one operand, and of two; losses are functions of prediction and target.
struct EdgeUnary {
  std::string_view name;
  Value (*function)(Value x);
};
struct EdgeBinary {
  std::string_view name;
  Value (*function)(Value a, Value b);
};

// In the order of tests/golden/scripts/edges.py.
inline constexpr EdgeUnary edge_unary[] = {
    {"relu", [](Value x) { return graph::relu(x); }},
    {"leaky_relu", [](Value x) { return graph::leaky_relu(x, 0.2); }},
    {"sigmoid", [](Value x) { return graph::sigmoid(x); }},
    {"silu", [](Value x) { return graph::silu(x); }},
    {"gelu", [](Value x) { return graph::gelu(x); }},
    {"gelu_tanh", [](Value x) { return graph::gelu_tanh(x); }},
    {"softplus", [](Value x) { return graph::softplus(x); }},
    {"elu", [](Value x) { return graph::elu(x); }},
    {"elu of 0.5", [](Value x) { return graph::elu(x, 0.5); }},
    {"clamp", [](Value x) { return graph::clamp(x, -1, 2); }},
    {"clamp_min", [](Value x) { return graph::clamp_min(x, 0); }},
    {"clamp_max", [](Value x) { return graph::clamp_max(x, 1); }},
    {"abs", [](Value x) { return graph::abs(x); }},
    {"exp", [](Value x) { return graph::exp(x); }},
    {"exp2", [](Value x) { return graph::exp2(x); }},
    {"expm1", [](Value x) { return graph::expm1(x); }},
    {"log", [](Value x) { return graph::log(x); }},
    {"log1p", [](Value x) { return graph::log1p(x); }},
    {"log2", [](Value x) { return graph::log2(x); }},
    {"log10", [](Value x) { return graph::log10(x); }},
    {"sqrt", [](Value x) { return graph::sqrt(x); }},
    {"rsqrt", [](Value x) { return graph::rsqrt(x); }},
    {"reciprocal", [](Value x) { return graph::reciprocal(x); }},
    {"square", [](Value x) { return graph::square(x); }},
    {"sin", [](Value x) { return graph::sin(x); }},
    {"cos", [](Value x) { return graph::cos(x); }},
    {"tan", [](Value x) { return graph::tan(x); }},
    {"asin", [](Value x) { return graph::asin(x); }},
    {"acos", [](Value x) { return graph::acos(x); }},
    {"atan", [](Value x) { return graph::atan(x); }},
    {"sinh", [](Value x) { return graph::sinh(x); }},
    {"cosh", [](Value x) { return graph::cosh(x); }},
    {"tanh", [](Value x) { return graph::tanh(x); }},
    {"asinh", [](Value x) { return graph::asinh(x); }},
    {"acosh", [](Value x) { return graph::acosh(x); }},
    {"atanh", [](Value x) { return graph::atanh(x); }},
    {"erf", [](Value x) { return graph::erf(x); }},
    {"erfc", [](Value x) { return graph::erfc(x); }},
    {"sinc", [](Value x) { return graph::sinc(x); }},
    {"power 2", [](Value x) { return graph::power(x, 2.0); }},
    {"power 3", [](Value x) { return graph::power(x, 3.0); }},
    {"power -1", [](Value x) { return graph::power(x, -1.0); }},
    {"power 0.5", [](Value x) { return graph::power(x, 0.5); }},
    {"power 0", [](Value x) { return graph::power(x, 0.0); }},
    {"power 1", [](Value x) { return graph::power(x, 1.0); }},
    {"maximum with 1", [](Value x) { return graph::clamp_min(x, 1); }},
    {"logsigmoid", [](Value x) { return graph::logsigmoid(x); }},
    {"mish", [](Value x) { return graph::mish(x); }},
    {"celu of 0.5", [](Value x) { return graph::celu(x, 0.5); }},
    {"selu", [](Value x) { return graph::selu(x); }},
    {"tanh_accurate", [](Value x) { return graph::tanh_accurate(x); }},
    {"erf_accurate", [](Value x) { return graph::erf_accurate(x); }},
    {"floor", [](Value x) { return graph::floor(x); }},
    {"ceil", [](Value x) { return graph::ceil(x); }},
    {"round", [](Value x) { return graph::round(x); }},
    {"trunc", [](Value x) { return graph::trunc(x); }},
    {"sign", [](Value x) { return graph::sign(x); }},
    {"gelu_accurate", [](Value x) { return graph::gelu_accurate(x); }},
    {"hardtanh", [](Value x) { return graph::hardtanh(x); }},
    {"relu6", [](Value x) { return graph::relu6(x); }},
    {"hardsigmoid", [](Value x) { return graph::hardsigmoid(x); }},
    {"hardswish", [](Value x) { return graph::hardswish(x); }},
    {"softsign", [](Value x) { return graph::softsign(x); }},
    {"tanhshrink", [](Value x) { return graph::tanhshrink(x); }},
    {"softshrink", [](Value x) { return graph::softshrink(x); }},
    {"hardshrink", [](Value x) { return graph::hardshrink(x); }},
    {"threshold", [](Value x) { return graph::threshold(x, 0.5, 7); }},
};
inline constexpr EdgeBinary edge_binary[] = {
    {"maximum", [](Value a, Value b) { return graph::maximum(a, b); }},
    {"minimum", [](Value a, Value b) { return graph::minimum(a, b); }},
    {"fmax", [](Value a, Value b) { return graph::fmax(a, b); }},
    {"fmin", [](Value a, Value b) { return graph::fmin(a, b); }},
    {"hypot", [](Value a, Value b) { return graph::hypot(a, b); }},
    {"atan2", [](Value a, Value b) { return graph::atan2(a, b); }},
    {"power", [](Value a, Value b) { return graph::power(a, b); }},
    {"logaddexp", [](Value a, Value b) { return graph::logaddexp(a, b); }},
    {"logaddexp2", [](Value a, Value b) { return graph::logaddexp2(a, b); }},
    {"xlogy", [](Value a, Value b) { return graph::xlogy(a, b); }},
    {"divide", [](Value a, Value b) { return a / b; }},
    {"remainder", [](Value a, Value b) { return graph::remainder(a, b); }},
    {"fmod", [](Value a, Value b) { return graph::fmod(a, b); }},
    {"copysign", [](Value a, Value b) { return graph::copysign(a, b); }},
    {"kl_divergence", [](Value a, Value b) { return nn::kl_divergence(a, b, {.reduce = nn::KlReduce::none}); }},
    {"clamp_min", [](Value a, Value b) { return graph::clamp_min(a, b); }},
    {"clamp_max", [](Value a, Value b) { return graph::clamp_max(a, b); }},
    {"mse", [](Value a, Value b) { return nn::mse(a, b, {.reduce = nn::Reduce::none}); }},
    {"l1", [](Value a, Value b) { return nn::l1(a, b, {.reduce = nn::Reduce::none}); }},
    {"huber", [](Value a, Value b) { return nn::huber(a, b, {.reduce = nn::Reduce::none}); }},
    {"smooth_l1", [](Value a, Value b) { return nn::smooth_l1(a, b, {.beta = 0.5, .reduce = nn::Reduce::none}); }},
    {"bce_with_logits", [](Value a, Value b) { return nn::bce_with_logits(a, b, {.reduce = nn::Reduce::none}); }},
    {"bce_with_logits of weighted positives",
     [](Value a, Value b) { return nn::bce_with_logits(a, b, {.pos_weight = 3.0, .reduce = nn::Reduce::none}); }},
};
inline constexpr EdgeBinary edge_of_probabilities[] = {
    {"bce", [](Value a, Value b) { return nn::bce(a, b, {.reduce = nn::Reduce::none}); }},
};

/// A function's value, its derivative and the second one.
constexpr std::array<Value, 3> with_derivatives(const EdgeUnary& f, Value x) {
  const Value y = f.function(x), first = graph::gradient(graph::sum(y), x);
  return {y, first, graph::gradient(graph::sum(first), x)};
}
/// A function's value, then its derivatives by a, b, a twice, a and b, b twice.
constexpr std::array<Value, 6> with_derivatives(const EdgeBinary& f, Value a, Value b) {
  const Value y = f.function(a, b), by_a = graph::gradient(graph::sum(y), a), by_b = graph::gradient(graph::sum(y), b);
  return {y,
          by_a,
          by_b,
          graph::gradient(graph::sum(by_a), a),
          graph::gradient(graph::sum(by_a), b),
          graph::gradient(graph::sum(by_b), b)};
}

/// Where results are meant to differ, and why. Rows: 0 the value, then derivatives in the order above.
struct EdgeException {
  std::string_view function;
  std::vector<std::size_t> rows;
  bool (*holds)(double a, double b);
  std::string_view reason;
};
[[nodiscard]] inline bool is_listed(std::span<const EdgeException> list, std::string_view function, std::size_t row,
                                    double a, double b) {
  return std::any_of(list.begin(), list.end(), [&](const EdgeException& each) {
    return each.function == function && std::find(each.rows.begin(), each.rows.end(), row) != each.rows.end() &&
           each.holds(a, b);
  });
}

/// Equal, both NaN, or finite and no further apart than a margin.
[[nodiscard]] inline bool agrees(double got, double expected, double margin) {
  return got == expected || (std::isnan(got) && std::isnan(expected)) ||
         (std::isfinite(expected) && std::fabs(got - expected) <= margin);
}

/// What the reference makes of them in float64 of operands of one shape.
template <class F, class... Points>
std::vector<std::vector<double>> edge_reference(const F& function, const Dims& shape, const Points&... points) {
  graph::Graph graph{DType::float64};
  const auto input = [&](const auto&) {
    return Value{graph, graph.add_input(DType::float64, graph::extents_of(shape))};
  };
  for (const Value& each :
       std::apply([&](const auto&... x) { return with_derivatives(function, x...); }, std::tuple{input(points)...}))
    graph.outputs.push_back(each.id());
  std::vector<std::vector<double>> results{};
  for (const Array& output : evaluate(graph, {.inputs = {{shape, points}...}}).outputs)
    results.push_back(output.elements);
  return results;
}

} // namespace twill::test
