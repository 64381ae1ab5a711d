#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Colours of images, changed by given or by random factors: brightness, contrast, saturation and hue, with the formulas
// of torchvision's functions for tensors, by torchvision's names. Not in twill.hpp. Read next: data/transforms.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/data/image.hpp>
#include <twill/optim/options.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace data { namespace detail { inline namespace TWILL_ISA {

/// The largest value of a channel.
template <PixelValue T> inline constexpr float full_value = std::same_as<T, float> ? 1.0F : 255.0F;

/// factor a + (1 - factor) b, within the range of a channel; bytes are cut off.
template <PixelValue T> [[nodiscard]] T blended(T a, float b, float factor) {
  return static_cast<T>(std::clamp(factor * static_cast<float>(a) + (1 - factor) * b, 0.0F, full_value<T>));
}

/// The brightness of a pixel of three channels, cut off for bytes.
template <PixelValue T> [[nodiscard]] float grey_of(const T* pixel) {
  const float grey = 0.2989F * static_cast<float>(pixel[0]) + 0.587F * static_cast<float>(pixel[1]) +
                     0.114F * static_cast<float>(pixel[2]);
  return static_cast<float>(static_cast<T>(grey));
}

/// throws: ValueError unless an image has 1 or 3 channels and the factor is in the range
template <PixelValue T>
void require_colours(std::string_view where, const Image<T>& image, float factor, float least, float most) {
  if (image.channels != 1 && image.channels != 3)
    throw ValueError(join_text({where, ": images have 1 or 3 channels, got ", image.channels}));
  if (!(factor >= least && factor <= most))
    throw ValueError(join_text({where, ": the factor must ", least < 0 ? "lie in [-0.5, 0.5]" : "not be negative",
                                ", got ", number_text(factor)}));
}

/// A pixel of three values in [0, 1], whose hue is turned by a part of the circle.
[[nodiscard]] inline std::array<float, 3> with_hue_turned(float red, float green, float blue, float turn) {
  // The hexagon of hues: a sixth for each pair of the largest channel and another one.
  const float most = std::max({red, green, blue}), least = std::min({red, green, blue});
  const float range = most - least;
  if (range == 0) return {red, green, blue};
  const float from_red = (most - red) / range, from_green = (most - green) / range, from_blue = (most - blue) / range;
  float hue = 4 + from_green - from_red;
  if (most == red)
    hue = from_blue - from_green;
  else if (most == green)
    hue = 2 + from_red - from_blue;
  hue = std::fmod(hue / 6 + 1, 1.0F) + turn;
  hue = 6 * (hue - std::floor(hue));
  const float saturation = range / most;
  const float sixth = std::floor(hue), rest = hue - sixth;
  const auto of = [&](float share) { return std::clamp(most * (1 - saturation * share), 0.0F, 1.0F); };
  const float p = of(1), q = of(rest), t = of(1 - rest);
  switch (static_cast<int>(sixth) % 6) {
  case 0:
    return {most, t, p};
  case 1:
    return {q, most, p};
  case 2:
    return {p, most, t};
  case 3:
    return {p, q, most};
  case 4:
    return {t, p, most};
  default:
    return {most, p, q};
  }
}

}}}}} // namespace twill::v0::data::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

/// Every value times a factor: 0 gives black, 1 the image.
/// throws: ValueError for a negative factor, or other than 1 or 3 channels
template <PixelValue T> [[nodiscard]] Image<T> adjust_brightness(Image<T> image, float factor) {
  detail::require_colours("adjust_brightness", image, factor, 0, INFINITY);
  for (T& value : image.values) value = detail::blended(value, 0, factor);
  return image;
}

/// Every value further from the mean brightness, or closer to it: 0 gives grey, 1 the image.
/// throws: ValueError for a negative factor, or other than 1 or 3 channels
template <PixelValue T> [[nodiscard]] Image<T> adjust_contrast(Image<T> image, float factor) {
  detail::require_colours("adjust_contrast", image, factor, 0, INFINITY);
  const auto channels = static_cast<std::size_t>(image.channels);
  double sum = 0;
  for (std::size_t i = 0; i < image.values.size(); i += channels)
    sum += static_cast<double>(channels == 1 ? static_cast<float>(image.values[i]) : detail::grey_of(&image.values[i]));
  const auto mean = static_cast<float>(sum / static_cast<double>(image.height * image.width));
  for (T& value : image.values) value = detail::blended(value, mean, factor);
  return image;
}

/// Every colour further from its grey, or closer to it: 0 gives a grey image, 1 the image. One channel stays.
/// throws: ValueError for a negative factor, or other than 1 or 3 channels
template <PixelValue T> [[nodiscard]] Image<T> adjust_saturation(Image<T> image, float factor) {
  detail::require_colours("adjust_saturation", image, factor, 0, INFINITY);
  if (image.channels == 1) return image;
  for (std::size_t i = 0; i < image.values.size(); i += 3) {
    const float grey = detail::grey_of(&image.values[i]);
    for (std::size_t k = i; k < i + 3; ++k) image.values[k] = detail::blended(image.values[k], grey, factor);
  }
  return image;
}

/// Every hue turned by a part of the circle, from -0.5 to 0.5. One channel stays.
/// throws: ValueError for another part, or other than 1 or 3 channels
template <PixelValue T> [[nodiscard]] Image<T> adjust_hue(Image<T> image, float turn) {
  detail::require_colours("adjust_hue", image, turn, -0.5F, 0.5F);
  if (image.channels == 1) return image;
  for (std::size_t i = 0; i < image.values.size(); i += 3) {
    T* const pixel = &image.values[i];
    if constexpr (std::same_as<T, float>) {
      const auto turned = detail::with_hue_turned(pixel[0], pixel[1], pixel[2], turn);
      std::copy(turned.begin(), turned.end(), pixel);
    } else {
      const auto turned =
          detail::with_hue_turned(static_cast<float>(pixel[0]) / 255, static_cast<float>(pixel[1]) / 255,
                                  static_cast<float>(pixel[2]) / 255, turn);
      for (std::size_t k = 0; k < 3; ++k) pixel[k] = static_cast<T>(turned[k] * 255.999F);
    }
  }
  return image;
}

/// Brightness, contrast, saturation and hue changed by random factors, in a random order. Factors are uniform in
/// [max(0, 1 - x), 1 + x], the hue's in [-x, x]; 0 leaves out a change.
/// throws: ValueError for a negative number, a hue above 0.5, or images of other than 1 or 3 channels
struct ColorJitter {
  float brightness = 0; ///< how far its factor is from 1
  float contrast = 0;   ///< how far its factor is from 1
  float saturation = 0; ///< how far its factor is from 1
  float hue = 0;        ///< the largest part of the circle, at most 0.5

  /// The image in changed colours.
  template <PixelValue T> [[nodiscard]] Image<T> operator()(Image<T> image, SampleDraws& draws) const {
    if (!(brightness >= 0 && contrast >= 0 && saturation >= 0 && hue >= 0 && hue <= 0.5F))
      throw ValueError("ColorJitter: brightness, contrast and saturation must not be negative, and hue must lie in "
                       "[0, 0.5]");
    std::array<int, 4> order{0, 1, 2, 3};
    for (std::size_t i = 3; i > 0; --i)
      std::swap(order[i], order[static_cast<std::size_t>(draws.integer(static_cast<std::int64_t>(i) + 1))]);
    const auto between = [&](float least, float most) { return least + (most - least) * draws.uniform(); };
    const auto factor = [&](float x) { return between(std::max(0.0F, 1 - x), 1 + x); };
    const float by_brightness = factor(brightness), by_contrast = factor(contrast), by_saturation = factor(saturation);
    const float turn = between(-hue, hue);
    for (const int change : order) {
      if (change == 0 && brightness > 0) image = adjust_brightness(std::move(image), by_brightness);
      if (change == 1 && contrast > 0) image = adjust_contrast(std::move(image), by_contrast);
      if (change == 2 && saturation > 0) image = adjust_saturation(std::move(image), by_saturation);
      if (change == 3 && hue > 0) image = adjust_hue(std::move(image), turn);
    }
    return image;
  }
};

}}}} // namespace twill::v0::data::TWILL_ISA
