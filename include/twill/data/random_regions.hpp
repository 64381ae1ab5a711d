#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random parts of images: cut out and resized (Szegedy et al., 2015), or erased (Zhong et al., 2020). The distributions
// of areas, proportions and places are torchvision's. Not in twill.hpp. Read next: data/transforms.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/data/image.hpp>
#include <twill/data/transforms.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

/// A rectangle of an image, in pixels.
struct Region {
  std::int64_t top = 0;    ///< the first row
  std::int64_t left = 0;   ///< the first column
  std::int64_t height = 0; ///< rows
  std::int64_t width = 0;  ///< columns
};

/// Bounds of a uniform draw.
struct Between {
  double least = 0; ///< the smallest
  double most = 1;  ///< the largest
};

/// A part of an image, resized as by `Resize`.
/// throws: ValueError where the part reaches outside of the image, or the result has no pixels
template <PixelValue T>
[[nodiscard]] Image<T> resized_crop(const Image<T>& image, const Region& region, std::int64_t height,
                                    std::int64_t width);

/// The image with a rectangle filled by one value, or by one for each channel.
/// throws: ValueError where the rectangle reaches outside of the image, or values and channels differ in number
template <PixelValue T> [[nodiscard]] Image<T> erase(Image<T> image, const Region& region, const std::vector<T>& value);

/// A part of random area and proportion at a random place, resized. Where ten draws do not fit, the largest part in the
/// middle with a proportion that is allowed.
/// throws: ValueError for bounds that are not positive or not in order, or a result without pixels
struct RandomResizedCrop {
  std::int64_t height = 0;         ///< of the result
  std::int64_t width = 0;          ///< of the result
  Between scale{0.08, 1};          ///< the part's area, as a share of the image's
  Between ratio{3.0 / 4, 4.0 / 3}; ///< width by height of the part; its logarithm is uniform

  /// The part that these draws choose.
  [[nodiscard]] Region region(std::int64_t image_height, std::int64_t image_width, SampleDraws& draws) const;
  /// The part that these draws choose, resized.
  template <PixelValue T> [[nodiscard]] Image<T> operator()(const Image<T>& image, SampleDraws& draws) const {
    return resized_crop(image, region(image.height, image.width, draws), height, width);
  }
};

/// The image, with a rectangle of random area and proportion erased or, also where ten draws do not fit, as it is.
/// throws: ValueError for bounds that are not positive or not in order, or values and channels that differ in number
struct RandomErasing {
  float probability = 0.5F;    ///< of an erased rectangle
  Between scale{0.02, 0.33};   ///< its area, as a share of the image's
  Between ratio{0.3, 3.3};     ///< height by width; its logarithm is uniform
  std::vector<float> value{0}; ///< of its pixels, or one for each channel

  /// The rectangle that these draws choose; of no height where none fits.
  [[nodiscard]] Region region(std::int64_t image_height, std::int64_t image_width, SampleDraws& draws) const;
  /// The image, or with a rectangle erased.
  template <PixelValue T> [[nodiscard]] Image<T> operator()(Image<T> image, SampleDraws& draws) const {
    if (draws.uniform() >= probability) return image;
    const Region erased = region(image.height, image.width, draws);
    return erased.height == 0 ? image : erase(std::move(image), erased, std::vector<T>(value.begin(), value.end()));
  }
};

}}}} // namespace twill::v0::data::TWILL_ISA

namespace twill { inline namespace v0 { namespace data { namespace detail { inline namespace TWILL_ISA {

/// throws: ValueError unless a region has pixels, all of them in the image
void require_region(std::string_view where, const Region& region, std::int64_t height, std::int64_t width);

}}}}} // namespace twill::v0::data::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

template <PixelValue T>
Image<T> resized_crop(const Image<T>& image, const Region& region, std::int64_t height, std::int64_t width) {
  detail::require_region("resized_crop", region, image.height, image.width);
  SampleDraws none{0, 0, 0};
  return Resize{.height = height,
                .width = width}(detail::window_of(image, region.top, region.left, region.height, region.width), none);
}

template <PixelValue T> Image<T> erase(Image<T> image, const Region& region, const std::vector<T>& value) {
  detail::require_region("erase", region, image.height, image.width);
  if (value.size() != 1 && static_cast<std::int64_t>(value.size()) != image.channels)
    throw ValueError(join_text({"erase: the image has ", image.channels, " channels, there are ", value.size(),
                                " values; give 1, or one each"}));
  for (std::int64_t y = region.top; y < region.top + region.height; ++y)
    for (std::int64_t x = region.left; x < region.left + region.width; ++x)
      for (std::int64_t channel = 0; channel < image.channels; ++channel)
        image(y, x, channel) = value[value.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
  return image;
}

}}}} // namespace twill::v0::data::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/data/random_regions.ipp>
#endif
