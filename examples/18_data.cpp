// SPDX-License-Identifier: Apache-2.0
//
// From a file to a trained model: pictures in a CSV file, one in each row, are cut anew at random in every epoch by the
// workers of a loader while the model trains, and the loader tells who waited for whom. A training loop that waits wants more
// workers, or cheaper samples. `18_data FILE` reads another file with a column `kind` before 144 columns of pixels.
//
// prints: 900 pictures, 18 batches in an epoch
// prints: waiting: 18 batches of 0.5 MB
// prints: most unseen pictures are told apart: yes

#include <twill/data/image_dataset.hpp>
#include <twill/data/loader.hpp>
#include <twill/data/sampler.hpp>
#include <twill/data/transforms.hpp>
#include <twill/io/csv.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/network.hpp>
#include <twill/optim/adam.hpp>
#include <twill/tensor/random.hpp>
#include <twill/training/train_step.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <unistd.h>
#include <utility>

using namespace twill;

constexpr std::int64_t side = 12;

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, side, side> picture) {
    return nn::linear(relu(nn::linear(flatten(picture), 48, "hidden")), 3, "output");
  }
};

/// Horizontal bars, vertical bars and crosses at random places, on noise.
void draw_pictures(const std::string& path, int count, unsigned seed) {
  std::mt19937 random{seed};
  const auto below = [&](unsigned range) { return static_cast<std::int64_t>(random() % range); };
  std::ofstream file{path};
  file << "kind";
  for (std::int64_t pixel = 0; pixel < side * side; ++pixel) file << ",p" << pixel;
  for (int picture = 0; picture < count; ++picture) {
    const std::int64_t kind = picture % 3, row = 3 + below(6), column = 3 + below(6);
    file << '\n' << kind;
    for (std::int64_t y = 0; y < side; ++y)
      for (std::int64_t x = 0; x < side; ++x) {
        const bool is_lit = (kind != 1 && y == row && std::abs(x - column) <= 3) ||
                            (kind != 0 && x == column && std::abs(y - row) <= 3);
        file << ',' << (is_lit ? 180 : 0) + below(70);
      }
  }
  file << '\n';
}

// region: samples
data::StoredImages read_pictures(const std::string& path) {
  auto kinds = io::read_csv<std::int64_t>(path, {"kind"});
  auto pixels = io::read_csv<std::uint8_t>(path, io::CsvColumns::range(1, 1 + side * side));
  return {std::move(pixels.elements), Dims(pixels.rows, side, side), std::move(kinds.elements)};
}

/// Cut at a random place, in every epoch at another one.
auto training_samples(const std::string& path) {
  const auto transform = data::compose(data::RandomCrop{.height = side, .width = side, .padding = 1}, data::ToFloat{},
                                       data::Normalize{.mean = {0.2F}, .stddev = {0.2F}});
  return data::image_dataset<Shape<side, side>>(read_pictures(path), transform, {.seed = 5});
}
// end region

auto test_samples(const std::string& path) {
  const auto transform = data::compose(data::ToFloat{}, data::Normalize{.mean = {0.2F}, .stddev = {0.2F}});
  return data::image_dataset<Shape<side, side>>(read_pictures(path), transform);
}

int main(int count, char** arguments) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("twill-data-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string drawn = (folder / "train.csv").string();
  const std::string unseen = (folder / "test.csv").string();
  draw_pictures(drawn, 900, 1);
  draw_pictures(unseen, 300, 2);

  manual_seed(Cpu{0}, 1);
  nn::Network<Classifier> model{};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.003}});

  // region: loader
  data::DataLoader loader{training_samples(count > 1 ? arguments[1] : drawn),
                          data::ShuffledSampler{.seed = 5},
                          Cpu{0},
                          {.batch_size = 50, .workers = 2}};
  std::cout << loader.samples() << " pictures, " << loader.batches() << " batches in an epoch\n";
  for (int epoch = 0; epoch < 15; ++epoch)
    for (auto [picture, kind] : loader) step(picture, kind);
  std::cout << "waiting: " << to_string(loader.report()) << '\n';
  // end region

  data::DataLoader tests{test_samples(unseen), data::SequentialSampler{}, Cpu{0}, {.batch_size = 100}};
  std::int64_t right = 0;
  for (auto [picture, kind] : tests) {
    const Tensor scores = model.infer(picture);
    for (std::int64_t i = 0; i < kind.size(0); ++i) {
      const float* row = scores.data() + 3 * i;
      right += std::max_element(row, row + 3) - row == kind.data()[i] ? 1 : 0;
    }
  }
  std::cout << right << " of " << tests.samples() << " unseen pictures are named right\n";
  std::cout << "most unseen pictures are told apart: " << (10 * right >= 8 * tests.samples() ? "yes" : "no") << '\n';
  std::filesystem::remove_all(folder);
}
