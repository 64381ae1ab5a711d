// SPDX-License-Identifier: Apache-2.0
//
// Transforms of images against numbers worked out by hand, and what makes random ones repeatable: seed, epoch and
// index, whatever the number of workers and wherever an epoch is taken up.

#include <twill/data/image_dataset.hpp>
#include <twill/data/loader.hpp>
#include <twill/data/transforms.hpp>
#include <twill/tensor/access.hpp>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

using namespace twill;
using data::Image;

namespace {

/// 0, 1, 2, ... in the order of memory.
template <class T> Image<T> counted(std::int64_t height, std::int64_t width, std::int64_t channels = 1) {
  auto image = Image<T>::blank(height, width, channels);
  std::iota(image.values.begin(), image.values.end(), T{0});
  return image;
}

template <class Transform, class T> auto applied(const Transform& transform, const Image<T>& image) {
  data::SampleDraws draws{1, 2, 3};
  return transform(image, draws).values;
}

using Bytes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

/// Forty images of three channels, 5 x 6, all bytes different in each.
data::StoredImages images() {
  Bytes bytes(40 * 3 * 5 * 6);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i % 90 + i / 90);
  std::vector<std::int64_t> labels(40);
  std::iota(labels.begin(), labels.end(), 100);
  return {std::move(bytes), Dims(40, 3, 5, 6), std::move(labels)};
}

auto training_images(std::uint64_t seed = 7) {
  // region: transforms
  return data::image_dataset<Shape<3, 4, 4>>(images(),
                                             data::compose(data::RandomCrop{.height = 4, .width = 4, .padding = 2},
                                                           data::RandomHorizontalFlip{}, data::ToFloat{},
                                                           data::Normalize{.mean = {0.1F, 0.2F, 0.3F}, .stddev = {2}}),
                                             {.seed = seed});
  // end region
}

} // namespace

TEST_CASE("images become floats and are normalised by channel", "[data][TRAIN-8]") {
  CHECK(applied(data::ToFloat{}, Image<std::uint8_t>{1, 2, 1, {0, 255}}) == Floats{0, 1});
  const Image<float> image{1, 2, 2, {1, 2, 3, 4}};
  CHECK(applied(data::Normalize{.mean = {1, 2}, .stddev = {2, 4}}, image) == Floats{0, 0, 1, 0.5F});
  CHECK(applied(data::Normalize{.mean = {1}, .stddev = {2, 4}}, image) == Floats{0, 0.25F, 1, 0.75F});
  CHECK_THROWS_WITH(applied(data::Normalize{.mean = {1, 2, 3}}, image),
                    "Normalize: the image has 2 channels, there are 3 means and 1 standard deviations");
  CHECK(applied(data::Grayscale{}, Image<std::uint8_t>{1, 3, 3, {255, 255, 255, 255, 0, 0, 10, 20, 30}}) ==
        Bytes{255, 76, 18});
  CHECK(applied(data::Grayscale{}, Image<float>{1, 1, 3, {0, 1, 0}}) == Floats{0.587F});
  CHECK_THROWS_WITH(applied(data::Grayscale{}, image), "Grayscale: images have 3 channels, or 1, got 2");
}

TEST_CASE("images are flipped and cropped", "[data][TRAIN-8]") {
  const auto image = counted<std::uint8_t>(2, 3, 2);
  CHECK(applied(data::RandomHorizontalFlip{.probability = 1}, image) == Bytes{4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7});
  CHECK(applied(data::RandomHorizontalFlip{.probability = 0}, image) == image.values);
  CHECK(applied(data::CenterCrop{.height = 1, .width = 1}, counted<float>(3, 3)) == Floats{4});
  CHECK(applied(data::CenterCrop{.height = 4, .width = 2}, Image<float>{2, 2, 1, {1, 2, 3, 4}}) ==
        Floats{0, 0, 1, 2, 3, 4, 0, 0});
  CHECK(applied(data::RandomCrop{.height = 2, .width = 3}, image) == image.values);

  // Every part of the padded image, each equally often, corners in zeros included.
  std::map<Floats, int> seen;
  for (std::int64_t index = 0; index < 9000; ++index) {
    data::SampleDraws draws{5, 0, index};
    ++seen[data::RandomCrop{.height = 2, .width = 2, .padding = 1}(Image<float>{2, 2, 1, {1, 2, 3, 4}}, draws).values];
  }
  CHECK(seen.size() == 9);
  CHECK(seen.count(Floats{0, 0, 0, 1}) == 1);
  CHECK(seen.count(Floats{4, 0, 0, 0}) == 1);
  CHECK(seen.count(Floats{1, 2, 3, 4}) == 1);
  for (const auto& [part, count] : seen)
    CHECK(std::abs(count - 1000) < 150); // five standard deviations, and a fixed seed
  CHECK_THROWS_WITH(applied(data::RandomCrop{.height = 5, .width = 3, .padding = 1}, image),
                    "RandomCrop: an image of 2 x 3 with padding 1 is smaller than 5 x 3");
}

TEST_CASE("images are resized between the centres of pixels", "[data][TRAIN-8]") {
  // Values of torch.nn.functional.interpolate(mode="bilinear", align_corners=False).
  CHECK(applied(data::Resize{.height = 1, .width = 4}, Image<float>{1, 2, 1, {0, 1}}) == Floats{0, 0.25F, 0.75F, 1});
  CHECK(applied(data::Resize{.height = 1, .width = 2}, counted<float>(1, 4)) == Floats{0.5F, 2.5F});
  CHECK(applied(data::Resize{.height = 4, .width = 2}, Image<float>{2, 2, 1, {0, 4, 8, 12}}) ==
        Floats{0, 4, 2, 6, 6, 10, 8, 12});
  CHECK(applied(data::Resize{.height = 1, .width = 4}, Image<std::uint8_t>{1, 2, 1, {0, 255}}) ==
        Bytes{0, 64, 191, 255});
  data::SampleDraws draws{0, 0, 0};
  const auto tall = data::Resize{.shorter_side = 2}(counted<float>(9, 4, 3), draws);
  CHECK((tall.height == 4 && tall.width == 2 && tall.channels == 3));
  CHECK_THROWS_WITH(applied(data::Resize{.height = 2}, counted<float>(3, 3)),
                    "Resize: height and width are at least 1, got 2 and 0");
  // An image that is long and thin is not worth gigabytes.
  CHECK_THROWS_WITH(applied(data::Resize{.shorter_side = 256}, Image<std::uint8_t>::blank(1, 1'000'000, 3)),
                    "Resize: an image of 1 x 1000000 would become 256 x 256000000, more than 134217728 pixels");
  CHECK_THROWS_WITH(applied(data::Resize{.shorter_side = std::int64_t{1} << 62}, counted<float>(2, 4)),
                    Catch::Contains("an image of 2 x 4 would become 4611686018427387904 x"));
  CHECK_THROWS_WITH(applied(data::Resize{.height = 1 << 20, .width = 1 << 20}, counted<float>(1, 1)),
                    Catch::Contains("1 x 1 would become 1048576 x 1048576"));
}

TEST_CASE("random transforms depend on seed, epoch and sample, not on workers", "[data][TRAIN-8][IO-5]") {
  const auto pass = [](auto&& epoch) {
    Floats seen;
    for (auto [image, label] : epoch)
      for (const float value : to_vector(image)) seen.push_back(value);
    return seen;
  };
  const auto loader_with = [](int workers, std::uint64_t seed = 7) {
    return data::DataLoader(training_images(seed), data::ShuffledSampler{.seed = 3}, Cpu{},
                            {.batch_size = 7, .workers = workers});
  };
  const auto loader = loader_with(0);
  const Floats expected = pass(loader.epoch(5));
  REQUIRE(expected.size() == 40 * 3 * 4 * 4);
  for (const int workers : {1, 3}) CHECK(pass(loader_with(workers).epoch(5)) == expected);

  // Each sample is what its own numbers make of it.
  const auto order = data::ShuffledSampler{.seed = 3}.order(40, 5);
  Floats sample(3 * 4 * 4);
  std::int64_t label = 0;
  training_images().read_in_epoch(5, order[11], sample, std::span(&label, 1));
  CHECK(Floats(expected.begin() + 11 * 48, expected.begin() + 12 * 48) == sample);
  CHECK(label == 100 + order[11]);

  // Taken up in the middle of an epoch.
  CHECK(pass(loader_with(2).epoch(5, 3)) == Floats(expected.begin() + 3 * 7 * 48, expected.end()));

  // Other epochs and seeds draw otherwise, for the same sample too.
  const auto of = [](std::uint64_t seed, std::int64_t epoch) {
    Floats values;
    for (std::int64_t index = 0; index < 40; ++index) {
      Floats one(48);
      std::int64_t ignored = 0;
      training_images(seed).read_in_epoch(epoch, index, one, std::span(&ignored, 1));
      values.insert(values.end(), one.begin(), one.end());
    }
    return values;
  };
  CHECK(of(7, 5) == of(7, 5));
  CHECK(of(7, 5) != of(7, 6));
  CHECK(of(7, 5) != of(8, 5));
}

TEST_CASE("images that do not fit the rows of a batch are refused", "[data][TRAIN-8]") {
  const auto bare = data::image_dataset<Shape<3, 5, 6>>(images(), data::compose());
  static_assert(data::Dataset<std::remove_const_t<decltype(bare)>>);
  std::vector<std::uint8_t> bytes(90);
  std::int64_t label = 0;
  bare.read(2, bytes, std::span(&label, 1));
  for (std::size_t i = 0; i < bytes.size(); ++i) REQUIRE(bytes[i] == i + 2); // channels, then rows: as they were stored
  CHECK(label == 102);
  CHECK_THROWS_WITH(
      (data::image_dataset<Shape<3, 6, 5>>(images(), data::compose()).read(2, bytes, std::span(&label, 1))),
      "image_dataset: image 2 has shape (3, 5, 6) after its transforms, rows have (3, 6, 5)");
  CHECK_THROWS_WITH((data::StoredImages{Bytes(9), Dims(2, 2, 2), {0, 1}}),
                    "StoredImages: 9 bytes and 2 labels do not make images of shape (2, 2, 2)");
  const auto grey = data::image_dataset<Shape<2, 2>>(data::StoredImages{Bytes{1, 2, 3, 4}, Dims(1, 2, 2), {9}},
                                                     data::Resize{.height = 2, .width = 2});
  Bytes four(4);
  grey.read(0, four, std::span(&label, 1));
  CHECK(four == Bytes{1, 2, 3, 4});
}
