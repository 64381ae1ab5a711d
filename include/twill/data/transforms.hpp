#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Transforms of images, by torchvision's names: function objects that take an image and the random numbers of its
// sample, and give the same result on every machine. `compose` makes one of several, which run from left to right in
// the loader's workers. A transform of your own is any object that is called like these. Read next:
// data/image_dataset.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/data/image.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace data {

namespace detail { inline namespace TWILL_ISA {

/// throws: ValueError unless both extents are at least 1
void require_extents(std::string_view where, std::int64_t height, std::int64_t width);

/// A part of an image with its corner at (top, left); pixels outside of the image are zero.
template <PixelValue T>
[[nodiscard]] Image<T> window_of(const Image<T>& image, std::int64_t top, std::int64_t left, std::int64_t height,
                                 std::int64_t width) {
  auto result = Image<T>::blank(height, width, image.channels);
  const std::int64_t first = std::max<std::int64_t>(0, -left);
  const std::int64_t end = std::min(width, image.width - left);
  for (std::int64_t y = std::max<std::int64_t>(0, -top); y < std::min(height, image.height - top) && first < end; ++y) {
    const auto from = image.values.begin() + ((y + top) * image.width + first + left) * image.channels;
    std::copy(from, from + (end - first) * image.channels,
              result.values.begin() + (y * width + first) * image.channels);
  }
  return result;
}

/// The two neighbours of a place along an axis, and the share of the second.
struct Neighbours {
  std::int64_t first;
  std::int64_t second;
  float share;
};
/// source = (i + 1/2) * extent / result - 1/2, within the image
[[nodiscard]] Neighbours neighbours_of(std::int64_t i, std::int64_t extent, std::int64_t result);

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

/// Takes an image of bytes to floats in [0, 1]; floats stay.
struct ToFloat {
  /// The image as it is.
  [[nodiscard]] Image<float> operator()(Image<float> image, SampleDraws& /*draws*/) const { return image; }
  [[nodiscard]] Image<float> operator()(const Image<std::uint8_t>& image, SampleDraws& /*draws*/) const;
};

/// (x - mean) / stddev for each channel; one number serves all channels. throws: ValueError where numbers and channels
/// differ
struct Normalize {
  std::vector<float> mean{0};   ///< of each channel, or of all
  std::vector<float> stddev{1}; ///< of each channel, or of all

  /// The image, each value of which is moved and scaled.
  [[nodiscard]] Image<float> operator()(Image<float> image, SampleDraws& /*draws*/) const;
};

/// The brightness alone, in one channel: 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601), rounded for bytes.
/// throws: ValueError unless there are 3 channels, or 1, which stays
struct Grayscale {
  /// The image in one channel.
  template <PixelValue T> [[nodiscard]] Image<T> operator()(Image<T> image, SampleDraws& /*draws*/) const {
    if (image.channels == 1) return image;
    if (image.channels != 3)
      throw ValueError(join_text({"Grayscale: images have 3 channels, or 1, got ", image.channels}));
    auto result = Image<T>::blank(image.height, image.width, 1);
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      const T* const pixel = image.values.data() + 3 * i;
      if constexpr (std::same_as<T, float>)
        result.values[i] = 0.299F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2];
      else // in units of 2^-16
        result.values[i] = static_cast<T>((pixel[0] * 19595U + pixel[1] * 38470U + pixel[2] * 7471U + 0x8000U) >> 16);
    }
    return result;
  }
};

/// The mirror image, or the image itself.
struct RandomHorizontalFlip {
  float probability = 0.5F; ///< of the mirror image

  /// The image, or its mirror image.
  template <PixelValue T> [[nodiscard]] Image<T> operator()(Image<T> image, SampleDraws& draws) const {
    if (draws.uniform() >= probability) return image;
    for (std::int64_t y = 0; y < image.height; ++y)
      for (std::int64_t x = 0; x < image.width / 2; ++x)
        for (std::int64_t channel = 0; channel < image.channels; ++channel)
          std::swap(image(y, x, channel), image(y, image.width - 1 - x, channel));
    return image;
  }
};

/// A part at a random place of the image and `padding` zeros on each side of it, all places being equally likely.
/// throws: ValueError where the padded image is smaller
struct RandomCrop {
  std::int64_t height = 0;  ///< of the result
  std::int64_t width = 0;   ///< of the result
  std::int64_t padding = 0; ///< zeros around the image before it is cut

  /// A part of the image at a place that the draws choose.
  template <PixelValue T> [[nodiscard]] Image<T> operator()(const Image<T>& image, SampleDraws& draws) const {
    detail::require_extents("RandomCrop", height, width);
    const std::int64_t down = image.height + 2 * padding - height;
    const std::int64_t right = image.width + 2 * padding - width;
    if (padding < 0 || down < 0 || right < 0)
      throw ValueError(join_text({"RandomCrop: an image of ", image.height, " x ", image.width, " with padding ",
                                  padding, " is smaller than ", height, " x ", width}));
    const std::int64_t top = draws.integer(down + 1);
    return detail::window_of(image, top - padding, draws.integer(right + 1) - padding, height, width);
  }
};

/// The part in the middle; smaller images are padded with zeros.
struct CenterCrop {
  std::int64_t height = 0; ///< of the result
  std::int64_t width = 0;  ///< of the result

  /// The middle of the image.
  template <PixelValue T> [[nodiscard]] Image<T> operator()(const Image<T>& image, SampleDraws& /*draws*/) const {
    detail::require_extents("CenterCrop", height, width);
    const auto start = [](std::int64_t extent, std::int64_t part) { // the smaller half first
      return extent >= part ? (extent - part) / 2 : -((part - extent) / 2);
    };
    return detail::window_of(image, start(image.height, height), start(image.width, width), height, width);
  }
};

/// Another size, bilinear between the centres of pixels. Not antialiased: a much smaller image keeps only some pixels,
/// as torchvision's with antialias=False. Bytes are rounded. With `shorter_side` in place of both, the shape of the
/// image stays.
/// throws: ValueError where the result has no pixels, or more than 2^27
struct Resize {
  std::int64_t height = 0;       ///< of the result, where no shorter side is given
  std::int64_t width = 0;        ///< of the result, where no shorter side is given
  std::int64_t shorter_side = 0; ///< of the result, whose other side keeps the proportion; 0: height and width count

  /// The image, interpolated between pixels.
  template <PixelValue T> [[nodiscard]] Image<T> operator()(Image<T> image, SampleDraws& /*draws*/) const {
    constexpr std::int64_t most_pixels = std::int64_t{1} << 27; // as many as ImageOptions::max_pixels
    detail::require_extents("Resize: the image's", image.height, image.width);
    std::int64_t rows = height;
    std::int64_t columns = width;
    if (shorter_side > most_pixels) {
      rows = columns = shorter_side;
    } else if (shorter_side > 0) {
      const bool is_wide = image.width > image.height;
      rows = is_wide ? shorter_side : shorter_side * image.height / image.width;
      columns = is_wide ? shorter_side * image.width / image.height : shorter_side;
    }
    detail::require_extents("Resize", rows, columns);
    if (rows == image.height && columns == image.width) return image;
    if (rows > most_pixels / columns)
      throw ValueError(join_text({"Resize: an image of ", image.height, " x ", image.width, " would become ", rows,
                                  " x ", columns, ", more than ", most_pixels, " pixels"}));
    auto result = Image<T>::blank(rows, columns, image.channels);
    for (std::int64_t y = 0; y < rows; ++y) {
      const auto vertical = detail::neighbours_of(y, image.height, rows);
      for (std::int64_t x = 0; x < columns; ++x) {
        const auto horizontal = detail::neighbours_of(x, image.width, columns);
        for (std::int64_t channel = 0; channel < image.channels; ++channel) {
          const auto along = [&](std::int64_t row) { // a + (b - a) * share, within the row
            const auto a = static_cast<float>(image(row, horizontal.first, channel));
            return a + (static_cast<float>(image(row, horizontal.second, channel)) - a) * horizontal.share;
          };
          const float above = along(vertical.first);
          const float value = above + (along(vertical.second) - above) * vertical.share;
          if constexpr (std::same_as<T, float>)
            result(y, x, channel) = value;
          else
            result(y, x, channel) = static_cast<T>(value + 0.5F);
        }
      }
    }
    return result;
  }
};

/// Transforms one after the other. Read next: compose
template <class... Transforms> class Compose {
public:
  /// Applies these one after the other.
  explicit Compose(Transforms... transforms) : transforms_{std::move(transforms)...} {}

  /// The result of the last transform.
  template <class I> [[nodiscard]] auto operator()(I image, SampleDraws& draws) const {
    return apply_from<0>(std::move(image), draws);
  }

private:
  template <std::size_t First, class I> [[nodiscard]] auto apply_from(I image, SampleDraws& draws) const {
    if constexpr (First == sizeof...(Transforms))
      return image;
    else
      return apply_from<First + 1>(std::get<First>(transforms_)(std::move(image), draws), draws);
  }

  std::tuple<Transforms...> transforms_;
};

/// Makes one transform of several:
/// compose(RandomCrop{.height = 32, .width = 32, .padding = 4}, RandomHorizontalFlip{}, ToFloat{}).
template <class... Transforms> [[nodiscard]] Compose<Transforms...> compose(Transforms... transforms) {
  return Compose<Transforms...>{std::move(transforms)...};
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::data

#if TWILL_HEADER_ONLY
#include <twill/data/transforms.ipp>
#endif
