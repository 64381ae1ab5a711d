// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/data.md: tools/reference/lines.py says how they are found. They are compiled, not run.

#include <twill/data.hpp>
#include <twill/data/color_jitter.hpp>
#include <twill/data/fashion_mnist.hpp>
#include <twill/data/mixing.hpp>
#include <twill/data/random_regions.hpp>
#include <twill/data/rotation.hpp>
#include <twill/io.hpp>
#include <twill/io/npz.hpp>
#include <twill/twill.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

using namespace twill;

// clang-format off

using Matrix = Tensor<float, Cpu, Shape<dyn, 8>>;
using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 8> x) { return nn::linear(x, 3, "output"); }
};
using Network = nn::Network<Classifier, Cpu>;
using Step = decltype(train_step(std::declval<Network&>(), nn::cross_entropy, optim::Sgd{{}}));
using Samples = decltype(data::fashion_mnist(data::Part::train));

// Data sets: a size, and a function that writes one sample into a row of the batch.
void data_sets(const Matrix& x, const Labels& label, std::vector<std::uint8_t> bytes, std::vector<std::int64_t> labels, const data::StoredImages& pictures) {
  // PyTorch: `TensorDataset(x, label)`.
  { const data::TensorDataset pairs{x, label}; }
  { const auto inputs = data::column(x); }
  { const auto numbers = data::generated_dataset(1000, [](std::int64_t i) { return std::tuple{0.01F * static_cast<float>(i), i % 2}; }); }
  { const auto images = data::fashion_mnist(data::Part::train); }
  { const auto array = data::read_idx<std::uint8_t>("train-images-idx3-ubyte"); }
  { const data::StoredImages pictures{bytes, Dims(100, 28, 28), labels}; }
  { const auto samples = data::image_dataset<Shape<28, 28>>(pictures, data::ToFloat{}, {.seed = 5}); }
  { const std::string name{data::fashion_mnist_classes[3]}; }
  { const std::string folder{data::fashion_mnist_folder}; }
}

// Loaders and samplers: a sampler is the order of an epoch, a function of its seed and the epoch.
void loaders(const Samples& samples) {
  // PyTorch: `DataLoader(samples, batch_size=64, shuffle=True, num_workers=2)`; the order is that of the sampler.
  { data::DataLoader loader{samples, data::ShuffledSampler{.seed = 1}, Cpu{0}, {.batch_size = 64, .workers = 2}}; }
  { const data::SequentialSampler order{}; }
  { const data::ShuffledSampler order{.seed = 1}; }
  { const data::LimitedSampler order{data::ShuffledSampler{.seed = 1}, 1000}; }
  { const data::ShardedSampler<data::ShuffledSampler> order{{.seed = 1}, 0, 4}; }
  { const std::string waits = data::to_string(data::WaitReport{}); }
}

// Transforms of images: steps of `data::compose`, run by the loader's workers; functions do what random ones do, with given numbers.
void transforms(const data::Image<float>& image) {
  { const auto transform = data::compose(data::RandomCrop{.height = 28, .width = 28, .padding = 2}, data::ToFloat{}); }
  { const data::RandomCrop crop{.height = 28, .width = 28, .padding = 2}; }
  { const data::CenterCrop crop{.height = 224, .width = 224}; }
  { const data::RandomHorizontalFlip flip{}; }
  { const data::Resize resize{.height = 224, .width = 224}; }
  { const data::Grayscale grey{}; }
  { const data::ToFloat scaled{}; }
  { const data::Normalize normal{.mean = {0.2F}, .stddev = {0.2F}}; }
  { const data::ColorJitter jitter{.brightness = 0.4F, .contrast = 0.4F, .saturation = 0.4F, .hue = 0.1F}; }
  { const data::RandomRotation turn{.degrees = 15, .options = {.interpolation = data::Interpolation::bilinear}}; }
  // PyTorch: `RandomResizedCrop(antialias=False)`, where antialiasing is the default.
  { const data::RandomResizedCrop crop{.height = 224, .width = 224, .scale = {0.2, 1}}; }
  { const data::RandomErasing erasing{.probability = 0.25F, .value = {0.5F}}; }
  { const auto darker = data::adjust_brightness(image, 0.5F); }
  { const auto flatter = data::adjust_contrast(image, 0.5F); }
  { const auto paler = data::adjust_saturation(image, 0.5F); }
  { const auto turned = data::adjust_hue(image, 0.25F); }
  { const auto turned = data::rotate(image, 30, {.fill = {0.5F}}); }
  { const data::Region region{.top = 4, .left = 4, .height = 20, .width = 20}; const auto part = data::resized_crop(image, region, 32, 32); }
  { const data::Between scale{0.2, 1}; }
  { const auto erased = data::erase(image, {.top = 4, .left = 4, .height = 8, .width = 8}, {0.5F}); }
}

// Mixed batches: on a host device, before a step whose loss is `nn::cross_entropy`.
void mixed(const Tensor<float, Cpu, Shape<dyn, 3, 32, 32>>& x, const Labels& label) {
  // PyTorch: `torchvision.transforms.v2.MixUp(alpha=0.2, num_classes=10)`.
  { data::MixUp<10> mix{{.alpha = 0.2, .seed = 1}}; const auto [images, labels] = mix(x, label); }
  // PyTorch: `torchvision.transforms.v2.CutMix(num_classes=10)`.
  { data::CutMix<10> mix{{.seed = 1}}; const auto [images, labels] = mix(x, label); }
}

// Tables: columns by their headers or by their numbers.
void tables(const std::string& text) {
  { const auto table = io::parse_csv<float>("table", text, {"width", "length"}); }
  { const auto table = io::read_csv<float>("flowers.csv", {"width", "length"}); }
  { const auto kinds = io::parse_csv_labels("table", text, "species"); }
  { const auto kinds = io::read_csv_labels("flowers.csv", "species"); }
  { const auto sizes = io::load_csv<Tensor<float, Cpu, Shape<dyn, 2>>>("flowers.csv", {"width", "length"}); }
  { const auto flowers = io::csv_dataset<data::Field<float, Shape<2>>, data::Field<std::int64_t>>("flowers.csv", {"width", "length"}, {"kind"}); }
  { static_assert(io::missing_label < 0); }
  { const io::CsvColumn column{"width"}; }
  { const io::CsvColumns columns = io::CsvColumns::range(1, 5); }
}

// Images and tokens: images need libpng and libjpeg.
void tokens() {
  { const io::TokenDataset<std::uint16_t, 128> text{"train.bin", {.vocabulary = 50257}}; }
}

// Arrays: NumPy's files, mapped when they are read.
void arrays(std::span<const std::byte> bytes, const Matrix& x, const nn::StateDict& several) {
  { const auto array = io::parse_npy("array", bytes, nullptr); }
  { const auto x = io::load_npy<Matrix>("x.npy"); }
  { io::save_npy("x.npy", x); }
  { const nn::StateDict arrays = io::parse_npz("arrays", bytes, nullptr); }
  { const nn::StateDict arrays = io::load_npz("arrays.npz"); }
  { io::save_npz("arrays.npz", several); }
  { io::NpyWriter rows{"x.npy", DType::float32, Dims(8)}; }
  { io::NpzWriter arrays{"arrays.npz"}; }
}

// Weights and checkpoints: a checkpoint is everything that training needs to go on with the same bits.
void checkpoints(std::span<const std::byte> bytes, Network& model, Step& step, io::Checkpoint& checkpoint, optim::Plateau& plateau, const data::Position& position) {
  { const io::Safetensors file = io::parse_safetensors("weights", bytes, nullptr); }
  { nn::load_state_dict(model, io::load_safetensors("model.safetensors").tensors); }
  { io::save_safetensors("model.safetensors", nn::state_dict(model)); }
  { const auto weight = io::tensor_of<Tensor<float, Cpu, Shape<dyn, dyn>>>("weights", *nn::state_dict(model).find("output.weight")); }
  { nn::StateDict own{}; own.add("points", io::stored(zeros<float, Shape<3>>())); }
  { io::save_sharded("model", nn::state_dict(model), {.shard_bytes = 1 << 30}); }
  { const nn::StateDict state = io::load_sharded("model/model.safetensors.index.json"); }
  { const io::Checkpoint checkpoint = io::checkpoint_of(model, step); }
  { io::save_checkpoint("step.ckpt", checkpoint); }
  { const io::Checkpoint found = io::parse_checkpoint("checkpoint", bytes, nullptr); }
  { const io::Checkpoint found = io::load_checkpoint("step.ckpt"); }
  { io::restore(checkpoint, model, step); }
  { io::set_draw(checkpoint, "augmentation", RandomDraw{.seed = 1, .step = 7}); }
  { const RandomDraw draw = io::draw_of(checkpoint, "augmentation"); }
  { io::set_plateau(checkpoint, "plateau", plateau); }
  { io::restore_plateau(checkpoint, "plateau", plateau); }
  { io::set_position(checkpoint, "loader", position); }
  { const data::Position position = io::position_of(checkpoint, "loader"); }
  { io::CheckpointFolder folder{"checkpoints", {.keep_last = 2}}; }
  { io::SafetensorsWriter writer{"model.safetensors", {}}; }
}

// Files: mapped, or written whole or not at all.
void files() {
  { const io::MappedFile file{"train.bin"}; }
  { io::AtomicFile file{"result.txt"}; }
}
