#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of data/transforms.hpp.

#include <twill/data/transforms.hpp>

namespace twill { inline namespace v0 { namespace data {

namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void require_extents(std::string_view where, std::int64_t height, std::int64_t width) {
  if (height < 1 || width < 1)
    throw ValueError(join_text({where, ": height and width are at least 1, got ", height, " and ", width}));
}

TWILL_BODY Neighbours neighbours_of(std::int64_t i, std::int64_t extent, std::int64_t result) {
  const double place = (static_cast<double>(i) + 0.5) * static_cast<double>(extent) / static_cast<double>(result) - 0.5;
  const double inside = std::clamp(place, 0.0, static_cast<double>(extent - 1));
  const auto first = static_cast<std::int64_t>(inside);
  return {first, std::min(first + 1, extent - 1), static_cast<float>(inside - static_cast<double>(first))};
}

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

TWILL_BODY Image<float> ToFloat::operator()(const Image<std::uint8_t>& image, SampleDraws& /*draws*/) const {
  auto result = Image<float>::blank(image.height, image.width, image.channels);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    result.values[i] = static_cast<float>(image.values[i]) / 255; // a division, as torchvision's
  return result;
}

TWILL_BODY Image<float> Normalize::operator()(Image<float> image, SampleDraws& /*draws*/) const {
  const auto fits = [&](const std::vector<float>& numbers) {
    return numbers.size() == 1 || static_cast<std::int64_t>(numbers.size()) == image.channels;
  };
  if (!fits(mean) || !fits(stddev))
    throw ValueError(join_text({"Normalize: the image has ", image.channels, " channels, there are ", mean.size(),
                                " means and ", stddev.size(), " standard deviations"}));
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    const std::size_t channel = i % channels;
    image.values[i] =
        (image.values[i] - mean[mean.size() == 1 ? 0 : channel]) / stddev[stddev.size() == 1 ? 0 : channel];
  }
  return image;
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::data
