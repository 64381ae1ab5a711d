// SPDX-License-Identifier: Apache-2.0
//
// Mixed batches: given shares and rectangles beside torchvision, random ones beside the moments of their distributions,
// and the probabilities of classes in a training step.

#include "tests/support/golden.hpp"

#include <twill/data/mixing.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/network.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

auto images() {
  const std::vector<double> values = golden("augmentation/images").values;
  return from_values<Shape<dyn, 2, 5, 6>>(std::vector<float>(values.begin(), values.end()), Dims(4, 2, 5, 6));
}
auto labels() {
  const std::vector<double> values = golden("augmentation/labels").values;
  return from_values(std::vector<std::int64_t>(values.begin(), values.end()), Dims(4));
}

template <class X> void check(const X& got, const std::string& name) {
  INFO(name);
  const Golden expected = golden("augmentation/" + name);
  const auto values = to_vector(got);
  REQUIRE(values.size() == expected.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(expected.values[i]).epsilon(1e-6));
}

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 60> x) { return nn::linear(x, 4, "output"); }
};

} // namespace

TEST_CASE("batches are mixed by given shares and rectangles as torchvision mixes them", "[data][TRAIN-8]") {
  data::MixUp<4> up{};
  const auto blended = up.mix(images(), labels(), 0.3);
  check(blended.images, "mixup_images");
  check(blended.labels, "mixup_labels");
  data::CutMix<4> cut{};
  const auto pasted = cut.mix(images(), labels(), {.top = 0, .left = 1, .height = 3, .width = 4});
  check(pasted.images, "cutmix_images");
  check(pasted.labels, "cutmix_labels");
  const auto again = cut.mix(images(), pasted.labels, {}); // probabilities, and a rectangle of nothing
  CHECK(to_vector(again.images) == to_vector(images()));
  CHECK(to_vector(again.labels) == to_vector(pasted.labels));
}

TEST_CASE("mixing draws from Beta(alpha, alpha), anew for each batch and the same for a seed", "[data][TRAIN-8]") {
  for (const double alpha : {0.2, 1.0, 4.0}) {
    INFO("alpha " << alpha);
    data::MixUp<4> mix{{.alpha = alpha, .seed = 3}};
    const auto zero_and_one = from_values<Shape<dyn, 1>>(std::vector<float>{0, 1}, Dims(2, 1));
    const auto two = from_values(std::vector<std::int64_t>{0, 1}, Dims(2));
    constexpr int count = 4000;
    double sum = 0, squares = 0;
    for (int i = 0; i < count; ++i) {
      const auto mixed = mix(zero_and_one, two);
      const double share = to_vector(mixed.images)[1]; // of the one
      REQUIRE((share >= 0 && share <= 1));
      CHECK(to_vector(mixed.labels)[5] == Approx(share));
      sum += share / count;
      squares += (share - 0.5) * (share - 0.5) / count;
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    CHECK(sum == Approx(0.5).margin(4 * std::sqrt(variance / count)));
    CHECK(squares == Approx(variance).epsilon(0.08));
    CHECK(mix.batches == count);
  }
  data::CutMix<4> first{{.seed = 7}}, second{{.seed = 7}};
  const auto one = to_vector(first(images(), labels()).images);
  CHECK(to_vector(second(images(), labels()).images) == one);
  CHECK(to_vector(second(images(), labels()).images) != one);
  second.batches = 0; // resumed
  CHECK(to_vector(second(images(), labels()).images) == one);
}

TEST_CASE("the label of a mixed image is the share of its pixels", "[data][TRAIN-8]") {
  std::vector<float> values(4 * 6 * 8);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i / 48);
  const auto plain = from_values<Shape<dyn, 6, 8>>(values, Dims(4, 6, 8)); // image i is i everywhere
  const auto each = from_values(std::vector<std::int64_t>{0, 1, 2, 3}, Dims(4));
  data::CutMix<4> mix{{.seed = 1}};
  bool was_cut = false;
  for (int i = 0; i < 50; ++i) {
    const auto mixed = mix(plain, each);
    const auto pixels = to_vector(mixed.images);
    const auto probabilities = to_vector(mixed.labels);
    int own = 0;
    for (std::size_t k = 0; k < 48; ++k) own += pixels[48 + k] == 1 ? 1 : 0;
    was_cut = was_cut || own < 48;
    CHECK(probabilities[5] == Approx(own / 48.0).margin(1e-6));
    CHECK(probabilities[4] == Approx(1 - own / 48.0).margin(1e-6));
  }
  CHECK(was_cut);
}

TEST_CASE("a step takes mixed images and their labels", "[data][TRAIN-8]") {
  nn::Network<Classifier> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0}});
  const auto x = from_values<Shape<dyn, 60>>(to_vector(images()), Dims(4, 60));
  const auto label = labels();
  // region: mixing
  data::MixUp<4> mixup{{.alpha = 0.2, .seed = 1}}; // of four classes
  const auto [mixed, probabilities] = mixup(x, label);
  const float loss = step(mixed, probabilities); // nn::cross_entropy
  // end region
  const auto logits = to_vector(model.infer(mixed));
  const auto target = to_vector(probabilities);
  double expected = 0;
  for (std::size_t row = 0; row < 4; ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k) sum += std::exp(static_cast<double>(logits[4 * row + k]));
    for (std::size_t k = 0; k < 4; ++k)
      expected -=
          static_cast<double>(target[4 * row + k]) * (static_cast<double>(logits[4 * row + k]) - std::log(sum)) / 4;
  }
  CHECK(loss == Approx(expected).epsilon(1e-5));
}

TEST_CASE("mixing refuses labels that are no classes", "[data][TRAIN-8]") {
  data::MixUp<3> mix{};
  CHECK_THROWS_WITH(mix(images(), labels()), "MixUp: label 2 of the batch is 3, there are 3 classes");
  CHECK(mix.batches == 0);
  const auto few = from_values(std::vector<std::int64_t>{0, 1}, Dims(2));
  CHECK_THROWS_WITH(data::CutMix<4>{}(images(), few), "CutMix: there are 4 images and 2 labels");
  CHECK_THROWS_WITH(data::MixUp<4>({.alpha = 0}), "MixUp: alpha must be above 0, got 0");
  CHECK_THROWS_WITH(data::CutMix<4>{}.mix(images(), labels(), {.top = 3, .left = 0, .height = 3, .width = 1}),
                    "CutMix: a region of 3 x 1 at (3, 0) has no place in an image of 5 x 6");
}
