// SPDX-License-Identifier: Apache-2.0

#include <twill/data/fashion_mnist.hpp>

#include <catch2/catch.hpp>

#include "tests/support/skip.hpp"

#include <array>
#include <fstream>
#include <unistd.h>

namespace data = twill::data;

static_assert(data::Dataset<data::FashionMnist>);

namespace {

struct TemporaryFolder {
  TemporaryFolder() : path{std::filesystem::temp_directory_path() / ("twill-fashion-" + std::to_string(getpid()))} {
    std::filesystem::create_directory(path);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  void write(const std::string& name, const std::vector<unsigned char>& bytes) const {
    std::ofstream(path / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::filesystem::path path;
};

std::vector<unsigned char> images(unsigned char count, unsigned char edge = 28) {
  std::vector<unsigned char> bytes{0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, edge, 0, 0, 0, edge};
  for (int i = 0; i < count * edge * edge; ++i) bytes.push_back(static_cast<unsigned char>(i % 256));
  return bytes;
}

} // namespace

TEST_CASE("Fashion-MNIST is read from Debian's package", "[data][TRAIN-8]") {
  if (!std::filesystem::exists(data::fashion_mnist_folder)) {
    twill::test::skip("the package dataset-fashion-mnist is not installed");
    return;
  }
  const auto test = data::fashion_mnist(data::Part::test);
  REQUIRE(test.size() == 10'000);
  std::array<float, 784> image{};
  std::int64_t label = -1;
  std::array<int, 10> count{};
  for (std::int64_t i = 0; i < test.size(); ++i) {
    test.read(i, image, std::span(&label, 1));
    ++count[static_cast<std::size_t>(label)];
  }
  for (const int each : count) CHECK(each == 1000);
  test.read(0, image, std::span(&label, 1));
  CHECK(data::fashion_mnist_classes[static_cast<std::size_t>(label)] == "Ankle boot");
  CHECK(*std::max_element(image.begin(), image.end()) <= 1.0F);
  CHECK(*std::max_element(image.begin(), image.end()) > 0.5F);
  CHECK(data::fashion_mnist(data::Part::train).size() == 60'000);
}

TEST_CASE("a folder of one's own may hold uncompressed files", "[data]") {
  const TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", images(2));
  folder.write("train-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 2, 3, 9});
  const auto dataset = data::fashion_mnist(data::Part::train, folder.path);
  REQUIRE(dataset.size() == 2);
  std::array<float, 784> image{};
  std::int64_t label = -1;
  dataset.read(1, image, std::span(&label, 1));
  CHECK(label == 9);
  CHECK(image[0] == Approx((784 % 256) / 255.0));
}

TEST_CASE("missing Fashion-MNIST files name the remedy", "[data]") {
  CHECK_THROWS_WITH(data::fashion_mnist(data::Part::test, "/nonexistent"),
                    Catch::Contains("/nonexistent/t10k-images-idx3-ubyte.gz is missing") &&
                        Catch::Contains("apt-get install dataset-fashion-mnist"));
}

TEST_CASE("files that are no Fashion-MNIST are refused", "[data]") {
  const TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", images(2, 27));
  folder.write("train-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 2, 3, 9});
  CHECK_THROWS_WITH(data::fashion_mnist(data::Part::train, folder.path), Catch::Contains("has shape (2, 27, 27)"));
  folder.write("train-images-idx3-ubyte", images(3));
  CHECK_THROWS_WITH(data::fashion_mnist(data::Part::train, folder.path), Catch::Contains("there are 3 images"));
  folder.write("train-images-idx3-ubyte", images(2));
  folder.write("train-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 2, 3, 10});
  CHECK_THROWS_WITH(data::fashion_mnist(data::Part::train, folder.path), Catch::Contains("holds label 10"));
}
