// SPDX-License-Identifier: Apache-2.0
//
// Colours, rotations and random parts of images: given parameters beside torchvision, random ones beside the bounds and
// moments of torchvision's distributions.

#include "tests/support/golden.hpp"

#include <twill/data/color_jitter.hpp>
#include <twill/data/random_regions.hpp>
#include <twill/data/rotation.hpp>
#include <twill/data/transforms.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace twill;
using namespace twill::test;
using data::Image;

namespace {

/// Number `index` of golden pictures, (pictures, channels, height, width) or one without the first axis.
template <class T> Image<T> picture(const std::string& name, std::int64_t index = 0, double divisor = 1) {
  const Golden values = golden("augmentation/" + name);
  const std::size_t first = values.shape.size() - 3;
  auto image = Image<T>::blank(values.shape[first + 1], values.shape[first + 2], values.shape[first]);
  const double* next = values.values.data() + index * static_cast<std::int64_t>(image.values.size());
  for (std::int64_t channel = 0; channel < image.channels; ++channel)
    for (std::int64_t y = 0; y < image.height; ++y)
      for (std::int64_t x = 0; x < image.width; ++x)
        image(y, x, channel) = static_cast<T>(static_cast<float>(*next++) / static_cast<float>(divisor));
  return image;
}

void check_equal(const Image<float>& got, const Image<float>& expected) {
  REQUIRE(got.values.size() == expected.values.size());
  for (std::size_t i = 0; i < got.values.size(); ++i)
    CHECK(got.values[i] == Approx(expected.values[i]).epsilon(1e-5).margin(2e-6));
}
void check_equal(const Image<std::uint8_t>& got, const Image<std::uint8_t>& expected) {
  CHECK(got.values == expected.values);
}

/// f(image) beside the golden pictures of its name, in bytes and in floats.
template <class F> void check(const std::string& name, std::int64_t index, const F& f) {
  INFO(name << " " << index);
  check_equal(f(picture<std::uint8_t>("picture")), picture<std::uint8_t>(name + "_bytes", index));
  check_equal(f(picture<float>("picture", 0, 255)), picture<float>(name + "_floats", index));
}

template <class T> Image<T> first_channel(const Image<T>& image) {
  auto result = Image<T>::blank(image.height, image.width, 1);
  for (std::int64_t y = 0; y < image.height; ++y)
    for (std::int64_t x = 0; x < image.width; ++x) result(y, x, 0) = image(y, x, 0);
  return result;
}

} // namespace

TEST_CASE("colours change by given factors as torchvision changes them", "[data][TRAIN-8]") {
  const auto adjust = [](const char* name, auto change, float first, float second) {
    check(name, 0, [&](auto image) { return change(std::move(image), first); });
    check(name, 1, [&](auto image) { return change(std::move(image), second); });
  };
  adjust(
      "brightness", [](auto image, float f) { return data::adjust_brightness(std::move(image), f); }, 0.6F, 1.7F);
  adjust(
      "contrast", [](auto image, float f) { return data::adjust_contrast(std::move(image), f); }, 0.5F, 1.8F);
  adjust(
      "saturation", [](auto image, float f) { return data::adjust_saturation(std::move(image), f); }, 0.2F, 1.9F);
  adjust(
      "hue", [](auto image, float f) { return data::adjust_hue(std::move(image), f); }, 0.1F, -0.37F);
  check("grey_contrast", 0, [](const auto& image) { return data::adjust_contrast(first_channel(image), 0.5F); });
  const auto grey = first_channel(picture<float>("picture", 0, 255));
  CHECK(data::adjust_hue(grey, 0.3F).values == grey.values);
  CHECK(data::adjust_saturation(grey, 0.3F).values == grey.values);
}

TEST_CASE("images are turned as torchvision turns them", "[data][TRAIN-8]") {
  const double angles[] = {30, -75.5, 161};
  for (const bool is_bilinear : {false, true})
    for (std::int64_t i = 0; i < 3; ++i)
      check(is_bilinear ? "rotated_bilinear" : "rotated_nearest", i, [&](const auto& image) {
        const bool is_float = sizeof(image.values[0]) > 1;
        const auto fill = is_float ? std::vector<float>{0.1F, 0.5F, 0.9F} : std::vector<float>{10, 20, 30};
        return data::rotate(
            image, angles[i],
            {.interpolation = is_bilinear ? data::Interpolation::bilinear : data::Interpolation::nearest,
             .fill = fill});
      });
  check_equal(data::rotate(picture<float>("picture", 0, 255), 90, {.interpolation = data::Interpolation::bilinear}),
              picture<float>("right_angle"));
  // Anticlockwise: the right column comes to the top.
  const Image<float> square{2, 2, 1, {1, 2, 3, 4}};
  CHECK(data::rotate(square, 90).values == std::vector<float>{2, 4, 1, 3});
}

TEST_CASE("parts of images are cut out and erased as by torchvision", "[data][TRAIN-8]") {
  const data::Region region{.top = 1, .left = 2, .height = 4, .width = 3};
  const auto floats = picture<float>("picture", 0, 255);
  check_equal(data::resized_crop(floats, region, 5, 7), picture<float>("resized_crop_floats"));
  const auto bytes = data::resized_crop(picture<std::uint8_t>("picture"), region, 5, 7);
  const auto of_torchvision = picture<std::uint8_t>("resized_crop_bytes");
  for (std::size_t i = 0; i < bytes.values.size(); ++i) // halves are rounded up, torchvision's to even
    CHECK((bytes.values[i] == of_torchvision.values[i] || bytes.values[i] == of_torchvision.values[i] + 1));
  const auto erased = data::erase(floats, region, {0.25F, 0.5F, 0.75F});
  for (std::int64_t y = 0; y < 7; ++y)
    for (std::int64_t x = 0; x < 6; ++x)
      for (std::int64_t channel = 0; channel < 3; ++channel) {
        const bool is_inside = y >= 1 && y < 5 && x >= 2 && x < 5;
        CHECK(erased(y, x, channel) == (is_inside ? 0.25F * static_cast<float>(channel + 1) : floats(y, x, channel)));
      }
  CHECK_THROWS_WITH(data::erase(floats, {.top = 5, .left = 0, .height = 3, .width = 1}, {0}),
                    "erase: a region of 3 x 1 at (5, 0) has no place in an image of 7 x 6");
  CHECK_THROWS_WITH(data::erase(floats, region, {0, 1}),
                    "erase: the image has 3 channels, there are 2 values; give 1, or one each");
}

TEST_CASE("random parts have torchvision's areas, proportions and places", "[data][TRAIN-8]") {
  const data::RandomResizedCrop crop{.height = 8, .width = 8, .scale = {0.2, 0.6}, .ratio = {0.5, 2}};
  const data::RandomErasing erasing{.scale = {0.1, 0.3}, .ratio = {0.5, 2}};
  constexpr std::int64_t height = 400, width = 500, count = 2000;
  double area = 0, log_ratio = 0, top = 0, erased_area = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    data::SampleDraws draws{11, 0, i};
    const data::Region part = crop.region(height, width, draws);
    const double share = static_cast<double>(part.height * part.width) / (height * width);
    const double ratio = static_cast<double>(part.width) / static_cast<double>(part.height);
    REQUIRE((share > 0.19 && share < 0.61));
    REQUIRE((ratio > 0.49 && ratio < 2.05));
    REQUIRE((part.top >= 0 && part.left >= 0 && part.top + part.height <= height && part.left + part.width <= width));
    area += share / count;
    log_ratio += std::log(ratio) / count;
    top += (static_cast<double>(part.top) + 0.5) / static_cast<double>(height - part.height + 1) / count;
    const data::Region hole = erasing.region(height, width, draws);
    REQUIRE((hole.height > 0 && hole.height < height && hole.width > 0 && hole.width < width));
    erased_area += static_cast<double>(hole.height * hole.width) / (height * width) / count;
  }
  CHECK(area == Approx(0.4).margin(0.02)); // a few wide or tall ones do not fit and are drawn again
  CHECK(log_ratio == Approx(0).margin(0.06));
  CHECK(top == Approx(0.5).margin(0.03));
  CHECK(erased_area == Approx(0.2).margin(0.01));
}

TEST_CASE("a part that never fits is the largest in the middle, or nothing is erased", "[data][TRAIN-8]") {
  data::SampleDraws draws{1, 0, 0};
  const data::RandomResizedCrop wide{.height = 1, .width = 1, .scale = {1, 1}, .ratio = {4, 4}};
  const data::Region part = wide.region(10, 20, draws);
  CHECK((part.top == 2 && part.left == 0 && part.height == 5 && part.width == 20));
  const data::RandomResizedCrop tall{.height = 1, .width = 1, .scale = {1, 1}, .ratio = {0.25, 0.25}};
  const data::Region other = tall.region(10, 20, draws);
  CHECK((other.top == 0 && other.left == 9 && other.height == 10 && other.width == 2)); // 2.5 is rounded to even
  CHECK(data::RandomErasing{.scale = {1, 1}}.region(10, 20, draws).height == 0);
  CHECK_THROWS_WITH((data::RandomErasing{.scale = {0.5, 0.1}}.region(10, 20, draws)),
                    Catch::Contains("RandomErasing: scale must be two numbers from 0 on"));
}

TEST_CASE("random changes of images follow from seed, epoch and index", "[data][TRAIN-8]") {
  // region: augmentation
  const auto transform =
      data::compose(data::RandomResizedCrop{.height = 6, .width = 6}, data::RandomHorizontalFlip{},
                    data::RandomRotation{.degrees = 15, .options = {.interpolation = data::Interpolation::bilinear}},
                    data::ColorJitter{.brightness = 0.4F, .contrast = 0.4F, .saturation = 0.4F, .hue = 0.1F},
                    data::ToFloat{}, data::RandomErasing{.value = {0.5F}});
  // end region
  const auto run = [&](std::int64_t index) {
    data::SampleDraws draws{5, 1, index};
    return transform(picture<std::uint8_t>("picture"), draws).values;
  };
  CHECK(run(3) == run(3));
  CHECK(run(3) != run(4));
  CHECK(run(3).size() == 3 * 6 * 6);
}

TEST_CASE("random factors of colours and angles stay within their bounds", "[data][TRAIN-8]") {
  const Image<float> half{1, 1, 3, {0.5F, 0.5F, 0.5F}};
  double sum = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    data::SampleDraws draws{3, 0, i};
    const float value = data::ColorJitter{.brightness = 0.4F}(half, draws).values[0];
    REQUIRE((value >= 0.3F - 1e-6F && value <= 0.7F + 1e-6F));
    sum += static_cast<double>(value) / 1000;
  }
  CHECK(sum == Approx(0.5).margin(0.015));
  const auto image = picture<float>("picture", 0, 255);
  data::SampleDraws draws{1, 0, 0};
  CHECK(data::ColorJitter{}(image, draws).values == image.values);
  CHECK(data::RandomRotation{}(image, draws).values == image.values);
  CHECK(data::RandomErasing{.probability = 0}(image, draws).values == image.values);
  CHECK_THROWS_WITH((data::ColorJitter{.hue = 0.6F}(image, draws)), Catch::Contains("hue must lie in [0, 0.5]"));
  CHECK_THROWS_WITH(data::adjust_hue(image, 0.6F),
                    "adjust_hue: the factor must lie in [-0.5, 0.5], got 0.6000000238418579");
  CHECK_THROWS_WITH(data::adjust_contrast(image, -1), "adjust_contrast: the factor must not be negative, got -1");
  CHECK_THROWS_WITH(data::adjust_contrast(Image<float>::blank(1, 1, 2), 1),
                    "adjust_contrast: images have 1 or 3 channels, got 2");
}
