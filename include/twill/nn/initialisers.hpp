#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Initialisers of weights, by the names and defaults of torch.nn.init, as values for `nn::parameter` and the options of
// layers: `nn::linear(x, 256, "hidden", {.weight = nn::initialise::orthogonal()})`. Fans are taken from the weight's
// shape. Read next: nn/initialise.hpp, nn/parameter.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/parameter.hpp>

#include <concepts>
#include <cstdint>

namespace twill { inline namespace v0 { namespace nn { namespace initialise { inline namespace TWILL_ISA {

using graph::Initialiser;

/// One number for all elements.
[[nodiscard]] constexpr Initialiser constant(double value) { return {Initialiser::Kind::constant, value}; }
/// Zeros.
[[nodiscard]] constexpr Initialiser zeros() { return constant(0); }
/// Ones.
[[nodiscard]] constexpr Initialiser ones() { return constant(1); }
/// Uniform draws from [low, high).
[[nodiscard]] TWILL_CONSTEXPR Initialiser uniform(double low = 0, double high = 1) {
  return {Initialiser::Kind::uniform, low, high};
}
/// Draws from a normal distribution.
[[nodiscard]] TWILL_CONSTEXPR Initialiser normal(double mean = 0, double deviation = 1) {
  return {Initialiser::Kind::normal, mean, deviation};
}

/// A normal distribution truncated to [low, high], both absolute.
[[nodiscard]] TWILL_CONSTEXPR Initialiser trunc_normal(double mean = 0, double deviation = 1, double low = -2,
                                                       double high = 2) {
  return {Initialiser::Kind::truncated_normal, mean, deviation, low, high};
}

/// Orthogonal rows, or columns if there are more rows, of length `gain` (Saxe et al., 2013). Axes after the first count
/// as one.
[[nodiscard]] constexpr Initialiser orthogonal(double gain = 1) { return {Initialiser::Kind::orthogonal, gain}; }

/// The identity matrix.
[[nodiscard]] constexpr Initialiser eye() { return {Initialiser::Kind::identity}; }

/// The identity for convolutions of weights (outputs, inputs, …), in groups.
[[nodiscard]] TWILL_CONSTEXPR Initialiser dirac(std::int64_t groups = 1) {
  return {Initialiser::Kind::dirac, static_cast<double>(groups)};
}

/// The fan that keeps its variance: that of the forward pass (in) or of the backward pass (out).
using Fan = Initialiser::Fan;

/// The function after a layer.
enum class Nonlinearity : std::uint8_t { linear, sigmoid, tanh, relu, leaky_relu, selu };

/// The factor of a standard deviation that compensates for a nonlinearity, like torch.nn.init.calculate_gain.
[[nodiscard]] TWILL_CONSTEXPR double gain_of(Nonlinearity nonlinearity, double slope = 0.01) {
  switch (nonlinearity) {
  case Nonlinearity::tanh:
    return 5.0 / 3;
  case Nonlinearity::relu:
    return 1.4142135623730950488; // sqrt(2)
  case Nonlinearity::leaky_relu: {
    const double square = 2 / (1 + slope * slope);
    double root = 1; // Newton's method: std::sqrt is not constexpr
    for (int i = 0; i < 60; ++i) root = (root + square / root) / 2;
    return root;
  }
  case Nonlinearity::selu:
    return 0.75;
  default:
    return 1;
  }
}

/// Options of He et al., 2015: they determine the deviation of the initial weights.
struct KaimingOptions {
  double slope = 0;                                     ///< of a leaky relu
  Fan fan = Fan::in;                                    ///< whether inputs or outputs are counted
  Nonlinearity nonlinearity = Nonlinearity::leaky_relu; ///< the function after the layer
};

/// Uniform with standard deviation gain / sqrt(fan) (He et al., 2015).
[[nodiscard]] TWILL_CONSTEXPR Initialiser kaiming_uniform(KaimingOptions options = {}) {
  return {Initialiser::Kind::uniform_by_fan, gain_of(options.nonlinearity, options.slope),
          static_cast<double>(options.fan)};
}

/// Normal with standard deviation gain / sqrt(fan) (He et al., 2015).
[[nodiscard]] TWILL_CONSTEXPR Initialiser kaiming_normal(KaimingOptions options = {}) {
  return {Initialiser::Kind::normal_by_fan, gain_of(options.nonlinearity, options.slope),
          static_cast<double>(options.fan)};
}

/// Uniform with standard deviation gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010).
[[nodiscard]] TWILL_CONSTEXPR Initialiser xavier_uniform(double gain = 1) {
  return {Initialiser::Kind::uniform_by_fan, gain, static_cast<double>(Fan::mean)};
}

/// Normal with standard deviation gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010).
[[nodiscard]] TWILL_CONSTEXPR Initialiser xavier_normal(double gain = 1) {
  return {Initialiser::Kind::normal_by_fan, gain, static_cast<double>(Fan::mean)};
}

/// Uniform with standard deviation gain * sqrt(2 / (fan_in + fan_out)) for fans not derivable from the shape.
[[nodiscard]] TWILL_CONSTEXPR Initialiser xavier_uniform(double fan_in, double fan_out) {
  return {Initialiser::Kind::uniform_fan_in, fan_in + fan_out, 2.4494897427831780982}; // sqrt(6)
}

/// Uniform between -1/sqrt(fan_in) and 1/sqrt(fan_in) for a fan not derivable from the shape, such as a bias's: the
/// initial values of PyTorch's Linear and convolutions.
[[nodiscard]] TWILL_CONSTEXPR Initialiser fan_in_uniform(double fan_in) {
  return {Initialiser::Kind::uniform_fan_in, fan_in, 1};
}

/// The layer's own default.
[[nodiscard]] constexpr Initialiser layers_own() { return {Initialiser::Kind::layers_own}; }

/// The initialiser of an option, or the layer's own default.
[[nodiscard]] TWILL_CONSTEXPR Initialiser chosen(const Initialiser& option, const Initialiser& own) {
  return option.kind == Initialiser::Kind::layers_own ? own : option;
}

}}}}} // namespace twill::v0::nn::initialise::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A layer's bias: `.bias = false` for none, or an initialiser, `.bias = initialise::zeros()`.
struct BiasOption {
  bool is_there = true;                                ///< whether the layer has one
  graph::Initialiser start = initialise::layers_own(); ///< its first values

  /// With the layer's own first values, or none.
  template <std::same_as<bool> B> constexpr BiasOption(B has_one) : is_there{has_one} {}
  /// With these first values.
  constexpr BiasOption(const graph::Initialiser& first_values) : start{first_values} {}
};

}}}} // namespace twill::v0::nn::TWILL_ISA
