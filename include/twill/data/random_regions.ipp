#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of data/random_regions.hpp.

#include <twill/data/random_regions.hpp>

#include <algorithm>
#include <cmath>

namespace twill { inline namespace v0 { namespace data { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void require_region(std::string_view where, const Region& region, std::int64_t height, std::int64_t width) {
  const bool fits = region.height > 0 && region.width > 0 && region.top >= 0 && region.left >= 0 &&
                    region.height <= height - region.top && region.width <= width - region.left;
  if (!fits)
    throw ValueError(join_text({where, ": a region of ", region.height, " x ", region.width, " at (", region.top, ", ",
                                region.left, ") has no place in an image of ", height, " x ", width}));
}

/// Two extents whose product is of random area, and whose proportion, the first by the second, is random; neither is
/// rounded to more than the nearest integer.
struct Extents {
  std::int64_t first;
  std::int64_t second;
};
[[nodiscard]] inline Extents random_extents(double area, const Between& scale, const Between& ratio,
                                            SampleDraws& draws) {
  const double share = scale.least + (scale.most - scale.least) * static_cast<double>(draws.uniform());
  const double from = std::log(ratio.least), to = std::log(ratio.most);
  const double proportion = std::exp(from + (to - from) * static_cast<double>(draws.uniform()));
  return {static_cast<std::int64_t>(std::nearbyint(std::sqrt(area * share * proportion))),
          static_cast<std::int64_t>(std::nearbyint(std::sqrt(area * share / proportion)))};
}

inline void require_bounds(std::string_view where, const Between& scale, const Between& ratio) {
  if (!(scale.least >= 0 && scale.least <= scale.most && ratio.least > 0 && ratio.least <= ratio.most))
    throw ValueError(join_text({where, ": scale must be two numbers from 0 on, and ratio two above 0, each in order"}));
}

}}}}} // namespace twill::v0::data::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

TWILL_BODY Region RandomResizedCrop::region(std::int64_t image_height, std::int64_t image_width,
                                            SampleDraws& draws) const {
  detail::require_bounds("RandomResizedCrop", scale, ratio);
  detail::require_extents("RandomResizedCrop: the image's", image_height, image_width);
  const auto rows = static_cast<double>(image_height), columns = static_cast<double>(image_width);
  for (int i = 0; i < 10; ++i) {
    const auto [part_width, part_height] = detail::random_extents(rows * columns, scale, ratio, draws);
    if (part_width < 1 || part_width > image_width || part_height < 1 || part_height > image_height) continue;
    const std::int64_t top = draws.integer(image_height - part_height + 1);
    return {top, draws.integer(image_width - part_width + 1), part_height, part_width};
  }
  Region middle{.height = image_height, .width = image_width};
  if (columns / rows < ratio.least) // too narrow
    middle.height = static_cast<std::int64_t>(std::nearbyint(columns / ratio.least));
  else if (columns / rows > ratio.most)
    middle.width = static_cast<std::int64_t>(std::nearbyint(rows * ratio.most));
  middle.height = std::max<std::int64_t>(middle.height, 1);
  middle.width = std::max<std::int64_t>(middle.width, 1);
  middle.top = (image_height - middle.height) / 2;
  middle.left = (image_width - middle.width) / 2;
  return middle;
}

TWILL_BODY Region RandomErasing::region(std::int64_t image_height, std::int64_t image_width, SampleDraws& draws) const {
  detail::require_bounds("RandomErasing", scale, ratio);
  const double area = static_cast<double>(image_height) * static_cast<double>(image_width);
  for (int i = 0; i < 10; ++i) {
    const auto [height, width] = detail::random_extents(area, scale, ratio, draws);
    if (height >= image_height || width >= image_width) continue;
    if (height < 1 || width < 1) break;
    const std::int64_t top = draws.integer(image_height - height + 1);
    return {top, draws.integer(image_width - width + 1), height, width};
  }
  return {};
}

}}}} // namespace twill::v0::data::TWILL_ISA
