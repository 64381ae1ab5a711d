// SPDX-License-Identifier: Apache-2.0
//
// Batches and tensors from files: columns of a CSV file as the fields of a sample, tokens of a language model as windows, and
// .npy files, which NumPy reads and writes. What is in no file comes from a struct with `size` and `read`.
//
// prints: widths and lengths of shape (2, 2), kinds [0 1]
// prints: line 4, column 3 ('kind'): 'lily' is not a number of type int64
// prints: the first window: [ 3 14 15 92], then [14 15 92 65]
// prints: mean width 3, the same from the .npy file: yes
// prints: 250 batches of points

#include <twill/data/loader.hpp>
#include <twill/data/sampler.hpp>
#include <twill/expr.hpp>
#include <twill/io/csv.hpp>
#include <twill/io/npy.hpp>
#include <twill/io/tokens.hpp>
#include <twill/tensor.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <unistd.h>

using namespace twill;

// region: own
/// Points of a wave, computed when they are asked for.
struct Wave {
  using Fields = data::Fields<data::Field<float, Shape<1>>, data::Field<float>>; // what a sample consists of

  [[nodiscard]] std::int64_t size() const { return 1000; }
  void read(std::int64_t index, std::span<float> x, std::span<float> y) const { // straight into a row of the batch
    x[0] = 0.01F * static_cast<float>(index);
    y[0] = std::sin(x[0]);
  }
};
// end region

void write_flowers(const std::string& path, const std::string& last_kind) {
  std::ofstream{path} << "width,length,kind\n2,5,0\n3,7,1\n4,9," << last_kind << '\n';
}

void write_tokens(const std::string& path) {
  std::ofstream file{path, std::ios::binary};
  for (const int token : {3, 14, 15, 92, 65, 35, 89, 79, 32})
    file << static_cast<char>(token) << '\0'; // two bytes, the lower one first
}

int main() {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("twill-files-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string table = folder / "flowers.csv";
  write_flowers(table, "2");
  write_tokens(folder / "train.bin");

  // region: csv
  const auto flowers = io::csv_dataset<data::Field<float, Shape<2>>, data::Field<std::int64_t>>(
      table, {"width", "length"}, {"kind"}); // the columns of each field
  data::DataLoader loader{flowers, data::SequentialSampler{}, Cpu{0}, {.batch_size = 2}};
  for (auto [sizes, kinds] : loader)
    std::cout << "widths and lengths of shape " << to_string(sizes.shape()) << ", kinds " << kinds << '\n';
  // end region

  write_flowers(folder / "wrong.csv", "lily");
  try {
    static_cast<void>(io::load_csv<Tensor<std::int64_t, Cpu, Shape<dyn>>>(folder / "wrong.csv", {"kind"}));
  } catch (const ValueError& error) {
    std::cout << error.what() << '\n';
  }

  // region: tokens
  const io::TokenDataset<std::uint16_t, 4> text{folder / "train.bin", {.vocabulary = 50257}}; // windows of 4 tokens
  data::DataLoader windows{text, data::SequentialSampler{}, Cpu{0}, {.batch_size = 8}};
  for (auto [window, next] : windows) std::cout << "the first window: " << window[0] << ", then " << next[0] << '\n';
  // end region

  // region: tensors
  const auto sizes = io::load_csv<Tensor<float, Cpu, Shape<dyn, 2>>>(table, {"width", "length"});
  io::save_npy(folder / "sizes.npy", sizes);
  const auto mapped = io::load_npy<Tensor<float, Cpu, Shape<dyn, 2>>>(folder / "sizes.npy");
  const Tensor widths = mean(mapped(all, 0));
  // end region
  std::cout << "mean width " << widths.item()
            << ", the same from the .npy file: " << (max(abs(mapped - sizes)).item() == 0 ? "yes" : "no") << '\n';

  data::DataLoader points{Wave{}, data::ShuffledSampler{.seed = 1}, Cpu{0}, {.batch_size = 4, .workers = 2}};
  std::int64_t count = 0;
  for (auto [x, y] : points) count += x.size(0) == 4 && y.size(0) == 4 ? 1 : 0;
  std::cout << count << " batches of points\n";
  std::filesystem::remove_all(folder);
  return count == points.batches() ? 0 : 1;
}
