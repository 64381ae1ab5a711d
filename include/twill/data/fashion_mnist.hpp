#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fashion-MNIST (Xiao, Rasul and Vollgraf, 2017): 60,000 images of clothes to train on and 10,000 to test with, 28 x 28
// bytes each, of ten classes. It is read from the four IDX files of Debian's package, or from any folder that has them,
// compressed by gzip or not. Not in the umbrella, because it needs zlib. Read next: data/loader.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/data/idx.hpp>
#include <twill/data/tensor_dataset.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace data {

inline namespace TWILL_ISA {

/// The names of the labels 0 to 9.
inline constexpr std::array<std::string_view, 10> fashion_mnist_classes{
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};

/// The folder of Debian's package.
inline constexpr std::string_view fashion_mnist_folder = "/usr/share/datasets/fashion-mnist";

/// The 60,000 images to train on, or the 10,000 to test with.
enum class Part { train, test };

/// A grey value as the model sees it: 0 to 1.
struct PixelToFloat {
  /// pixel / 255.
  [[nodiscard]] constexpr float operator()(std::uint8_t pixel) const {
    return static_cast<float>(pixel) * (1.0F / 255);
  }
};
/// A label as losses take it: int64.
struct LabelToIndex {
  /// The label, wider.
  [[nodiscard]] constexpr std::int64_t operator()(std::uint8_t label) const { return label; }
};

/// Images as rows of 784 floats in [0, 1], labels as int64.
using FashionMnist =
    TensorDataset<Column<std::uint8_t, Shape<784>, PixelToFloat>, Column<std::uint8_t, Shape<>, LabelToIndex>>;

} // namespace TWILL_ISA

namespace detail { inline namespace TWILL_ISA {

[[nodiscard]] inline std::filesystem::path fashion_mnist_file(const std::filesystem::path& folder,
                                                              const std::string& name) {
  for (const char* ending : {".gz", ""}) {
    auto path = folder / (name + ending);
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  const bool is_default = folder == std::filesystem::path(fashion_mnist_folder);
  throw SystemError("fashion_mnist: " + (folder / (name + ".gz")).string() + " is missing; " +
                    (is_default
                         ? "install it with `apt-get install dataset-fashion-mnist`, or name a folder that has it"
                         : "give a folder with the four IDX files, or leave it out to use those of "
                           "`apt-get install dataset-fashion-mnist`"));
}

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

/// Reads one part of the data set. throws: SystemError with the remedy if a file is missing, ValueError if one is
/// damaged
[[nodiscard]] inline FashionMnist fashion_mnist(Part part, const std::filesystem::path& folder = fashion_mnist_folder) {
  const std::string prefix = part == Part::train ? "train" : "t10k";
  const auto image_path = detail::fashion_mnist_file(folder, prefix + "-images-idx3-ubyte");
  const auto label_path = detail::fashion_mnist_file(folder, prefix + "-labels-idx1-ubyte");
  auto images = read_idx<std::uint8_t>(image_path);
  auto labels = read_idx<std::uint8_t>(label_path);
  if (images.dims.rank != 3 || images.dims[1] != 28 || images.dims[2] != 28)
    throw ValueError("fashion_mnist: " + image_path.string() + " has shape " + to_string(images.dims) +
                     ", images are (n, 28, 28)");
  if (labels.dims.rank != 1 || labels.dims[0] != images.dims[0])
    throw ValueError("fashion_mnist: " + label_path.string() + " has shape " + to_string(labels.dims) + ", there are " +
                     std::to_string(images.dims[0]) + " images");
  for (const std::uint8_t label : labels.elements)
    if (label >= fashion_mnist_classes.size())
      throw ValueError("fashion_mnist: " + label_path.string() + " holds label " + std::to_string(label) +
                       ", labels are 0 to 9");
  return FashionMnist(column<Shape<784>>(std::move(images.elements), PixelToFloat{}),
                      column<Shape<>>(std::move(labels.elements), LabelToIndex{}));
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::data
