#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Rotation of images about their middle, by torchvision's formula for tensors: each pixel of the result is looked up at
// its place before the rotation. Not in twill.hpp. Read next: data/transforms.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/data/image.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

/// The value between pixels.
enum class Interpolation : bool {
  nearest,  ///< of the closest pixel
  bilinear, ///< of the four around it, by distance
};

/// Options of a rotation.
struct RotationOptions {
  Interpolation interpolation = Interpolation::nearest; ///< between pixels
  std::vector<float> fill{0};                           ///< outside of the image, for all channels or for each
};

/// The image turned anticlockwise about its middle, in its own size; corners are cut off. At the edge a bilinear value
/// is blended with `fill` by the share of pixels that are in the image, as torchvision does; bytes are rounded.
/// throws: ValueError where numbers of values and channels differ
template <PixelValue T>
[[nodiscard]] Image<T> rotate(const Image<T>& image, double degrees, const RotationOptions& options = {}) {
  const std::vector<float>& fill = options.fill;
  if (fill.size() != 1 && static_cast<std::int64_t>(fill.size()) != image.channels)
    throw ValueError(join_text({"rotate: the image has ", image.channels, " channels, there are ", fill.size(),
                                " values; give 1, or one each"}));
  const double angle = degrees * std::numbers::pi / 180;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double middle_y = static_cast<double>(image.height - 1) / 2;
  const double middle_x = static_cast<double>(image.width - 1) / 2;
  const auto is_inside = [&](std::int64_t y, std::int64_t x) {
    return y >= 0 && y < image.height && x >= 0 && x < image.width;
  };
  const auto stored = [](float value) {
    if constexpr (std::same_as<T, float>)
      return value;
    else
      return static_cast<T>(std::nearbyint(value));
  };
  auto result = Image<T>::blank(image.height, image.width, image.channels);
  for (std::int64_t y = 0; y < image.height; ++y)
    for (std::int64_t x = 0; x < image.width; ++x) {
      const double down = static_cast<double>(y) - middle_y, right = static_cast<double>(x) - middle_x;
      const double from_x = cosine * right - sine * down + middle_x;
      const double from_y = sine * right + cosine * down + middle_y;
      const bool is_bilinear = options.interpolation == Interpolation::bilinear;
      const auto top = static_cast<std::int64_t>(is_bilinear ? std::floor(from_y) : std::nearbyint(from_y));
      const auto left = static_cast<std::int64_t>(is_bilinear ? std::floor(from_x) : std::nearbyint(from_x));
      const auto below = static_cast<float>(from_y - static_cast<double>(top));
      const auto beside = static_cast<float>(from_x - static_cast<double>(left));
      for (std::int64_t channel = 0; channel < image.channels; ++channel) {
        const float outside = fill[fill.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
        if (!is_bilinear) {
          result(y, x, channel) = is_inside(top, left) ? image(top, left, channel) : stored(outside);
          continue;
        }
        float sum = 0, share = 0; // of the four pixels that are in the image
        for (int corner = 0; corner < 4; ++corner) {
          const std::int64_t row = top + corner / 2, column = left + corner % 2;
          if (!is_inside(row, column)) continue;
          const float weight = (corner / 2 == 1 ? below : 1 - below) * (corner % 2 == 1 ? beside : 1 - beside);
          sum += weight * static_cast<float>(image(row, column, channel));
          share += weight;
        }
        result(y, x, channel) = stored(sum * share + (1 - share) * outside);
      }
    }
  return result;
}

/// The image turned by a random angle, uniform in [-degrees, degrees].
/// throws: ValueError for a negative angle, or where numbers of values and channels differ
struct RandomRotation {
  double degrees = 0;        ///< the largest angle, either way
  RotationOptions options{}; ///< of the rotation

  /// The image, turned.
  template <PixelValue T> [[nodiscard]] Image<T> operator()(const Image<T>& image, SampleDraws& draws) const {
    if (!(degrees >= 0)) throw ValueError("RandomRotation: degrees must not be negative");
    return rotate(image, degrees * (2 * static_cast<double>(draws.uniform()) - 1), options);
  }
};

}}}} // namespace twill::v0::data::TWILL_ISA
