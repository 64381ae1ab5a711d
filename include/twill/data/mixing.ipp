#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of data/mixing.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/data/mixing.hpp>
#include <twill/optim/options.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace twill { inline namespace v0 { namespace data { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void require_alpha(std::string_view where, double alpha) {
  if (!(alpha > 0 && std::isfinite(alpha)))
    throw ValueError(join_text({where, ": alpha must be above 0, got ", number_text(alpha)}));
}

/// In (0, 1).
[[nodiscard]] inline double open_uniform(SampleDraws& draws) { return static_cast<double>(draws.uniform()) + 0x1p-25; }

/// The logarithm of a draw from the gamma distribution of this shape.
[[nodiscard]] inline double log_gamma_draw(double shape, SampleDraws& draws) {
  if (shape < 1) { // x of shape + 1 times u^(1 / shape)
    const double larger = log_gamma_draw(shape + 1, draws);
    return larger + std::log(open_uniform(draws)) / shape;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double radius = std::sqrt(-2 * std::log(open_uniform(draws)));
    const double normal = radius * std::cos(2 * std::numbers::pi * open_uniform(draws));
    const double root = 1 + c * normal;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(open_uniform(draws)) < normal * normal / 2 + d - d * v + d * std::log(v)) return std::log(d * v);
  }
}

TWILL_BODY double beta_draw(double alpha, SampleDraws& draws) {
  const double a = log_gamma_draw(alpha, draws);
  return 1 / (1 + std::exp(log_gamma_draw(alpha, draws) - a)); // x / (x + y)
}

TWILL_BODY Region cut_region(std::int64_t height, std::int64_t width, double kept, SampleDraws& draws) {
  const std::int64_t x = draws.integer(width), y = draws.integer(height);
  const double half = 0.5 * std::sqrt(1 - kept);
  const auto half_width = static_cast<std::int64_t>(half * static_cast<double>(width));
  const auto half_height = static_cast<std::int64_t>(half * static_cast<double>(height));
  const std::int64_t left = std::max<std::int64_t>(x - half_width, 0), right = std::min(x + half_width, width);
  const std::int64_t top = std::max<std::int64_t>(y - half_height, 0), bottom = std::min(y + half_height, height);
  return {top, left, bottom - top, right - left};
}

TWILL_BODY void mix_rows(std::span<const float> from, std::span<float> to, std::int64_t rows, double share) {
  const std::size_t row = rows == 0 ? 0 : from.size() / static_cast<std::size_t>(rows);
  const auto own = static_cast<float>(share), other = static_cast<float>(1 - share);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t before = i >= row ? i - row : i + from.size() - row;
    to[i] = from[before] * other + from[i] * own;
  }
}

TWILL_BODY void cut_rows(std::span<const float> from, std::span<float> to, std::int64_t rows, std::int64_t height,
                         std::int64_t width, const Region& region) {
  const auto total = static_cast<std::int64_t>(from.size());
  const std::int64_t row = rows == 0 ? 0 : total / rows;
  for (std::int64_t plane = 0; plane < total; plane += height * width) {
    const std::int64_t before = plane >= row ? plane - row : plane + total - row;
    for (std::int64_t y = region.top; y < region.top + region.height; ++y)
      for (std::int64_t x = region.left; x < region.left + region.width; ++x)
        to[static_cast<std::size_t>(plane + y * width + x)] = from[static_cast<std::size_t>(before + y * width + x)];
  }
}

TWILL_BODY std::vector<float> one_hot_rows(std::string_view where, std::span<const std::int64_t> labels,
                                           std::int64_t rows, std::int64_t classes) {
  if (static_cast<std::int64_t>(labels.size()) != rows)
    throw ShapeError(join_text({where, ": there are ", rows, " images and ", labels.size(), " labels"}));
  std::vector<float> result(static_cast<std::size_t>(rows * classes));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t label = labels[static_cast<std::size_t>(i)];
    if (label < 0 || label >= classes)
      throw ValueError(
          join_text({where, ": label ", i, " of the batch is ", label, ", there are ", classes, " classes"}));
    result[static_cast<std::size_t>(i * classes + label)] = 1;
  }
  return result;
}

TWILL_BODY std::vector<float> one_hot_rows(std::string_view where, std::span<const float> labels, std::int64_t rows,
                                           std::int64_t classes) {
  if (static_cast<std::int64_t>(labels.size()) != rows * classes)
    throw ShapeError(join_text(
        {where, ": there are ", rows, " images of ", classes, " classes and ", labels.size(), " probabilities"}));
  return {labels.begin(), labels.end()};
}

}}}}} // namespace twill::v0::data::detail::TWILL_ISA
