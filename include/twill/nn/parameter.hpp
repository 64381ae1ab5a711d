#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weights as a model's `forward` names them. A handle used twice is a tied weight; the same name twice is refused. Names
// nest with `Scope`. Read next: nn/linear.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/operators.hpp>

#include <initializer_list>
#include <string_view>

namespace twill::inline v0::nn::inline TWILL_ISA {

using graph::Initialiser;
using graph::Scope;
using graph::Value;

/// Whether the optimiser may change a weight.
enum class Trainable : bool { no, yes };

/// A weight of a given element type under the current scope, such as float32 in a model of half precision.
[[nodiscard]] constexpr Value parameter(graph::Graph& graph, DType dtype, std::string_view name,
                                        const graph::Extents& shape, Initialiser initialiser,
                                        Trainable trainable = Trainable::yes, int line = __builtin_LINE()) {
  const graph::Role role = trainable == Trainable::yes ? graph::Role::weight : graph::Role::frozen_weight;
  return {graph, graph.add_parameter(name, dtype, shape, initialiser, role, line)};
}

/// A weight of the model's element type under the current scope. A weight that is not trainable need not be reached by
/// the loss.
[[nodiscard]] constexpr Value parameter(graph::Graph& graph, std::string_view name,
                                        std::initializer_list<std::int64_t> shape, Initialiser initialiser,
                                        Trainable trainable = Trainable::yes, int line = __builtin_LINE()) {
  graph::Extents extents{};
  for (std::int64_t extent : shape) extents.append({extent, 0});
  return parameter(graph, graph.element, name, extents, initialiser, trainable, line);
}

} // namespace twill::inline v0::nn::inline TWILL_ISA

namespace twill::inline v0::nn::initialise::inline TWILL_ISA {

[[nodiscard]] constexpr Initialiser constant(double value) { return {Initialiser::Kind::constant, value, 0}; }
[[nodiscard]] constexpr Initialiser zeros() { return constant(0); }
[[nodiscard]] constexpr Initialiser ones() { return constant(1); }
[[nodiscard]] constexpr Initialiser uniform(double low, double high) { return {Initialiser::Kind::uniform, low, high}; }
[[nodiscard]] constexpr Initialiser normal(double mean, double deviation) {
  return {Initialiser::Kind::normal, mean, deviation};
}

/// Uniform between -1/sqrt(fan_in) and 1/sqrt(fan_in): what PyTorch's Linear and convolutions start from.
[[nodiscard]] constexpr Initialiser fan_in_uniform(double fan_in) {
  return {Initialiser::Kind::uniform_fan_in, fan_in, 1};
}

/// Uniform with standard deviation sqrt(2 / fan_in), for layers followed by relu (He et al., 2015).
[[nodiscard]] constexpr Initialiser kaiming_uniform(double fan_in) {
  return {Initialiser::Kind::uniform_fan_in, fan_in, 2.4494897427831780982}; // sqrt(6)
}

/// Normal with standard deviation sqrt(2 / fan_in), for layers followed by relu (He et al., 2015).
[[nodiscard]] constexpr Initialiser kaiming_normal(double fan_in) {
  return {Initialiser::Kind::normal_fan_in, fan_in, 1.4142135623730950488}; // sqrt(2)
}

/// Uniform with standard deviation sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010).
[[nodiscard]] constexpr Initialiser xavier_uniform(double fan_in, double fan_out) {
  return {Initialiser::Kind::uniform_fan_in, fan_in + fan_out, 2.4494897427831780982};
}

/// Normal with standard deviation sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010).
[[nodiscard]] constexpr Initialiser xavier_normal(double fan_in, double fan_out) {
  return {Initialiser::Kind::normal_fan_in, fan_in + fan_out, 1.4142135623730950488};
}

} // namespace twill::inline v0::nn::initialise::inline TWILL_ISA
