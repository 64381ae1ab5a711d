#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random draws by rejection: gamma, Poisson and truncated normal numbers of one element, in float64. An element takes
// as many uniform numbers as it needs from blocks of its own, so it is a pure function of seed, number of the draw and
// place, on hosts and GPUs, up to the rounding of their logarithms. Read next: expr/distributions.hpp.

#include <twill/core/philox.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel {

/// Uniform numbers of one element of a draw, one after the other.
class ElementDraws {
public:
  constexpr ElementDraws(std::uint64_t seed, std::uint32_t step, std::uint64_t index)
      : seed_{seed}, index_{index}, step_{step} {}

  /// A number in [0, 1) with 53 random bits.
  [[nodiscard]] constexpr double uniform() {
    if (has_second_) {
      has_second_ = false;
      return second_;
    }
    const auto words =
        philox4x32({static_cast<std::uint32_t>(index_), static_cast<std::uint32_t>(index_ >> 32), node_++, step_},
                   {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
    second_ = fraction(words[2], words[3]);
    has_second_ = true;
    return fraction(words[0], words[1]);
  }
  /// A number in (0, 1].
  [[nodiscard]] constexpr double positive() { return 1 - uniform(); }

  /// A standard normal number by the polar method (Marsaglia and Bray 1964). A cosine would call a function on GPUs.
  [[nodiscard]] constexpr double normal() {
    for (;;) {
      const double x = 2 * uniform() - 1, y = 2 * uniform() - 1, square = x * x + y * y;
      if (square > 0 && square < 1) return x * std::sqrt(-2 * std::log(square) / square);
    }
  }

private:
  static constexpr double fraction(std::uint32_t upper, std::uint32_t lower) {
    return static_cast<double>((std::uint64_t{upper} << 32 | lower) >> 11) * 0x1p-53;
  }

  std::uint64_t seed_;
  std::uint64_t index_;
  double second_ = 0;
  std::uint32_t step_;
  std::uint32_t node_ = 0;
  bool has_second_ = false;
};

/// The logarithm of a gamma number with a positive shape and scale 1, which small shapes make too small for a float64
/// (Marsaglia and Tsang, "A simple method for generating gamma variables", 2000). NaN for other shapes.
[[nodiscard]] constexpr double draw_log_gamma(ElementDraws& draws, double shape) {
  if (!(shape > 0)) return std::numeric_limits<double>::quiet_NaN();
  double log_factor = 0;
  if (shape < 1) {
    log_factor = std::log(draws.positive()) / shape;
    shape += 1;
  }
  const double centre = shape - 1.0 / 3;
  const double slope = 1 / std::sqrt(9 * centre);
  for (;;) {
    const double x = draws.normal();
    const double root = 1 + slope * x;
    if (root <= 0) continue;
    const double log_cube = 3 * std::log(root);
    if (std::log(draws.positive()) < x * x / 2 + centre - centre * root * root * root + centre * log_cube)
      return log_factor + std::log(centre) + log_cube;
  }
}

/// The logarithm of k!, for k >= 0: exact products, then Stirling's series, below 1e-12 of the value.
[[nodiscard]] constexpr double log_factorial(double k) {
  constexpr double exact_below = 10;
  if (k < exact_below) {
    double product = 1;
    for (int factor = 2; factor <= k; ++factor) product *= factor;
    return std::log(product);
  }
  const double n = k + 1, inverse = 1 / n, square = inverse * inverse;
  constexpr double half_log_two_pi = 0.91893853320467274178;
  return (n - 0.5) * std::log(n) - n + half_log_two_pi +
         inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square / 1188))));
}

/// A Poisson number, whole, with a rate of at least 0; NaN for other rates. Below 10 by the sum of probabilities, above
/// by rejection (Hormann, "The transformed rejection method for generating Poisson random variables", 1993, PTRS).
[[nodiscard]] constexpr double draw_poisson(ElementDraws& draws, double rate) {
  if (!(rate >= 0) || rate == std::numeric_limits<double>::infinity()) return std::numeric_limits<double>::quiet_NaN();
  constexpr double rejection_from = 10;
  if (rate < rejection_from) {
    double left = draws.uniform(), probability = std::exp(-rate), k = 0;
    while (left >= probability && probability > 0) {
      left -= probability;
      probability *= rate / ++k;
    }
    return k;
  }
  const double width = 0.931 + 2.53 * std::sqrt(rate);
  const double tail = -0.059 + 0.02483 * width;
  const double height = 1.1239 + 1.1328 / (width - 3.4);
  const double inner = 0.9277 - 3.6224 / (width - 2);
  const double log_rate = std::log(rate);
  for (;;) {
    const double u = draws.uniform() - 0.5;
    const double v = draws.positive();
    const double side = 0.5 - std::abs(u);
    if (side <= 0) continue;
    const double k = std::floor((2 * tail / side + width) * u + rate + 0.43);
    if (side >= 0.07 && v <= inner) return k;
    if (k < 0 || (side < 0.013 && v > side)) continue;
    if (std::log(v * height / (tail / (side * side) + width)) <= k * log_rate - rate - log_factorial(k)) return k;
  }
}

/// A standard normal number between two bounds, the lower below the upper (Robert, "Simulation of truncated normal
/// variables", 1995): from the whole distribution where the bounds hold most of it, else from an exponential or a
/// uniform one.
[[nodiscard]] constexpr double draw_truncated_normal(ElementDraws& draws, double low, double high) {
  if (!(low < high)) return low == high ? low : std::numeric_limits<double>::quiet_NaN();
  const double sign =
      high <= 0 ? -1 : 1; // bounds below 0 are mirrored; GPUs would pay for a function that calls itself
  const double least = sign < 0 ? -high : low, most = sign < 0 ? -low : high;
  constexpr double wide = 2.5; // sqrt(2 pi): above, the whole distribution is refused less often than a uniform one
  if (least <= 0 && most - least > wide) {
    for (;;)
      if (const double x = draws.normal(); x >= least && x <= most) return sign * x;
  }
  const double rate = (least + std::sqrt(least * least + 4)) / 2; // of the exponential that fits the tail best
  if (least > 0 && (most - least) * rate > 1) {
    for (;;) {
      const double x = least - std::log(draws.positive()) / rate;
      if (x <= most && std::log(draws.positive()) <= -(x - rate) * (x - rate) / 2) return sign * x;
    }
  }
  const double nearest = least > 0 ? least : 0; // where the density is greatest
  for (;;) {
    const double x = least + (most - least) * draws.uniform();
    if (std::log(draws.positive()) <= (nearest * nearest - x * x) / 2) return sign * x;
  }
}

}}} // namespace twill::v0::kernel
