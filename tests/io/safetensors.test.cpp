// SPDX-License-Identifier: Apache-2.0
//
// Safetensors files: what comes back, files of the format's own library, and damaged ones.

#include "tests/support/golden.hpp"
#include "tests/train/models.hpp"

#include <twill/io/safetensors.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// A file of this process that goes with it.
struct TemporaryFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("twill-" + std::to_string(::getpid()) + ".st")).string();
  ~TemporaryFile() { std::remove(path.c_str()); }
};

std::string contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}
void overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream{path, std::ios::binary}.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A file with this header and so many bytes of elements.
std::string with_header(const std::string& header, std::size_t bytes) {
  const std::uint64_t length = header.size();
  std::string file(sizeof(length), '\0');
  std::memcpy(file.data(), &length, sizeof(length));
  return file + header + std::string(bytes, '\1');
}

nn::StoredTensor random_tensor(DType dtype, const Dims& shape, std::mt19937_64& random) {
  auto [tensor, data] = nn::StoredTensor::make(dtype, shape);
  for (std::size_t i = 0; i < tensor.bytes.size(); ++i) data[i] = static_cast<std::byte>(random());
  return tensor;
}

} // namespace

TEST_CASE("tensors of every type and rank come back from a file", "[io][IO-1]") {
  const TemporaryFile file{};
  std::mt19937_64 random{fresh_seed()};
  INFO("seed " << fresh_seed());
  nn::StateDict written{};
  for (int dtype = 0; dtype < 8; ++dtype)
    for (const Dims& shape : {Dims{}, Dims(0), Dims(3), Dims(2, 0, 5), Dims(7, 1, 3), Dims(1, 2, 1, 2, 1, 2, 1, 2)})
      written.add("layer" + std::to_string(dtype) + "." + to_string(shape),
                  random_tensor(static_cast<DType>(dtype), shape, random));
  io::save_safetensors(file.path, written, {{"format", "pt"}, {"quoted \"name\"", "zwölf\n"}});
  const io::Safetensors read = io::load_safetensors(file.path);
  REQUIRE(read.tensors.size() == written.size());
  CHECK(read.metadata == io::Metadata{{"format", "pt"}, {"quoted \"name\"", "zwölf\n"}});
  for (const auto& [name, tensor] : written.entries()) {
    const nn::StoredTensor* other = read.tensors.find(name);
    REQUIRE(other != nullptr);
    CHECK(other->dtype == tensor.dtype);
    CHECK(other->shape == tensor.shape);
    REQUIRE(other->bytes.size() == tensor.bytes.size());
    CHECK(std::equal(tensor.bytes.begin(), tensor.bytes.end(), other->bytes.begin()));
  }
}

TEST_CASE("a network's weights go through a file, also to another type and device", "[io][IO-1][IO-2]") {
  const TemporaryFile file{};
  manual_seed_all(1);
  nn::Network<Classifier, Cpu> first{Cpu{0}};
  manual_seed_all(2);
  nn::Network<Classifier, Cpu> second{Cpu{1}};
  nn::Network<Classifier, Cpu, double> wide{};
  io::save_safetensors(file.path, nn::state_dict(first));
  const nn::StateDict state = io::load_safetensors(file.path).tensors;
  nn::load_state_dict(second, state);
  CHECK(weights_of(second) == weights_of(first));
  CHECK_THROWS_WITH(nn::load_state_dict(wide, state),
                    "load_state_dict: 'first.weight' is float64 in the network, float32 in "
                    "the state dictionary; allow it with converts_types");
  nn::load_state_dict(wide, state, {.converts_types = true});
  const std::vector<float> narrow = weights_of(first);
  CHECK(weights_of(wide) == std::vector<double>(narrow.begin(), narrow.end()));
}

TEST_CASE("what does not fit a network is named, and nothing is written", "[io][IO-1][IO-3]") {
  nn::Network<Classifier, Cpu> model{};
  const std::vector<float> before = weights_of(model);
  const nn::StateDict whole = nn::state_dict(model);
  nn::StateDict other{}; // one missing, one too many, and later a wrong shape
  for (const auto& [name, tensor] : whole.entries())
    if (name != "second.bias") other.add(name, nn::StoredTensor::make(tensor.dtype, tensor.shape).first);
  other.add("third.bias", nn::StoredTensor::make(DType::float32, Dims(3)).first);
  CHECK_THROWS_WITH(nn::load_state_dict(model, other), "load_state_dict: missing: second.bias; unexpected: third.bias");
  CHECK(weights_of(model) == before);
  nn::StateDict partial{};
  partial.add("second.bias", nn::StoredTensor::make(DType::float32, Dims(6)).first);
  const nn::LoadReport report = nn::load_state_dict(model, partial, {.is_strict = false});
  CHECK(report.missing.size() == 5);
  CHECK(report.unexpected.empty());
  nn::StateDict wrong{};
  wrong.add("first.weight", nn::StoredTensor::make(DType::float32, Dims(5, 7)).first);
  CHECK_THROWS_WITH(nn::load_state_dict(model, wrong, {.is_strict = false}),
                    "load_state_dict: 'first.weight' has shape (7, 5) in the network, (5, 7) in the state dictionary");
  nn::StateDict prefixed{};
  for (const auto& [name, tensor] : whole.entries()) prefixed.add("module." + name, tensor);
  CHECK_THROWS_AS(nn::load_state_dict(model, prefixed), ValueError);
  nn::load_state_dict(model, prefixed, {.prefix = "module."});
  CHECK(weights_of(model) == before);
  CHECK_THROWS_WITH(prefixed.add("module.first.bias", {}), "state_dict: 'module.first.bias' is there twice");
}

TEST_CASE("files of the format's own library are read", "[io][IO-1]") {
  const io::Safetensors read = io::load_safetensors(golden_path("safetensors/library.safetensors"));
  CHECK(read.metadata == io::Metadata{{"made by", "safetensors"}});
  REQUIRE(read.tensors.size() == 3);
  const nn::StoredTensor* const weight = read.tensors.find("weight");
  REQUIRE(weight != nullptr);
  CHECK(weight->shape == Dims(2, 3));
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(nn::detail::element_of(weight->dtype, weight->bytes.data(), i) == 0.5 * double(i));
  CHECK(read.tensors.find("count")->dtype == DType::int64);
  CHECK(nn::detail::element_of(DType::int64, read.tensors.find("count")->bytes.data(), 0) == 1234567890123.0);
  CHECK(read.tensors.find("halves")->dtype == DType::float16);
  CHECK(nn::detail::element_of(DType::float16, read.tensors.find("halves")->bytes.data(), 1) == -1.5);
}

TEST_CASE("damaged files are refused with what is wrong", "[io][IO-4]") {
  const TemporaryFile file{};
  const auto refusal = [&](const std::string& bytes) {
    overwrite(file.path, bytes);
    try {
      static_cast<void>(io::load_safetensors(file.path));
      return std::string{"nothing"};
    } catch (const Error& error) {
      const std::string message = error.what();
      const std::size_t end = message.find(file.path) + file.path.size();
      return message.substr(end);
    }
  };
  CHECK(refusal("") == "' is damaged: a header of 0 bytes in a file of 0");
  CHECK(refusal(std::string(8, '\377')) == "' is damaged: a header of 18446744073709551615 bytes in a file of 8");
  CHECK(refusal(with_header("{}", 3)) == "' is damaged: tensors take 0 bytes, the file has 3");
  CHECK(refusal(with_header("[]", 0)) == "' is damaged: the header is no object");
  CHECK(refusal(with_header("{\"a\"", 0)).find("' is damaged: the header is no JSON: ") == 0);
  const auto tensor = [](const std::string& type, const std::string& shape, const std::string& place) {
    return "{\"a\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + place + "}}";
  };
  CHECK(refusal(with_header(tensor("F32", "[2]", "[0,8]"), 8)) == "nothing");
  CHECK(refusal(with_header(tensor("F32", "[2]", "[0,9]"), 9)) ==
        "' is damaged: 'a' has 8 bytes by its shape, its place is 0 to 9");
  CHECK(refusal(with_header(tensor("F32", "[2]", "[8,0]"), 8)) ==
        "' is damaged: 'a' has 8 bytes by its shape, its place is 8 to 0");
  CHECK(refusal(with_header(tensor("F32", "[2]", "[4,12]"), 12)) ==
        "' is damaged: 'a' begins at 4, the tensor before it ends at 0");
  CHECK(refusal(with_header(tensor("F32", "[4294967296,4294967296]", "[0,0]"), 0)) ==
        "' is damaged: 'a' has more bytes than there are addresses");
  CHECK(refusal(with_header(tensor("F32", "[-2]", "[0,8]"), 8)) ==
        "' is damaged: 'a' has an extent or a place that is no count");
  CHECK(refusal(with_header(tensor("F32", "[1.5]", "[0,8]"), 8)) ==
        "' is damaged: 'a' has an extent or a place that is no count");
  CHECK(refusal(with_header(tensor("F8_E4M3", "[2]", "[0,2]"), 2)) ==
        "': 'a' has type F8_E4M3, which twill does not have");
  CHECK(refusal(with_header(tensor("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4)) ==
        "': 'a' has 9 dimensions, tensors have at most 8");
  CHECK(refusal(with_header("{\"a\":{\"dtype\":\"F32\"}}", 0)) ==
        "' is damaged: 'a' lacks its dtype, shape or data_offsets");
  CHECK(refusal(with_header("{\"__metadata__\":{\"x\":1}}", 0)) == "' is damaged: the metadata 'x' is no text");
  const std::string one = "\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
  CHECK(refusal(with_header("{" + one + "," + one + "}", 0)) == "' is damaged: 'a' is there twice");
  CHECK_THROWS_WITH(io::load_safetensors("/no/such/file"), "open: '/no/such/file': No such file or directory");
  CHECK_THROWS_WITH(io::load_safetensors("/tmp"), "open: '/tmp': Is a directory");
}

TEST_CASE("no change of a file's header crashes the reader", "[io][IO-4]") {
  const TemporaryFile file{};
  std::mt19937_64 random{fresh_seed()};
  INFO("seed " << fresh_seed());
  nn::StateDict written{};
  written.add("first", random_tensor(DType::float32, Dims(2, 3), random));
  written.add("second", random_tensor(DType::bfloat16, Dims(4), random));
  io::save_safetensors(file.path, written, {{"format", "pt"}});
  const std::string whole = contents(file.path);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    if (round < 200)
      damaged.resize(random() % whole.size());
    else
      for (int changes = 0; changes < 1 + round % 3; ++changes)
        damaged[random() % (whole.size() - 32)] = static_cast<char>(random());
    overwrite(file.path, damaged);
    try {
      const io::Safetensors read = io::load_safetensors(file.path);
      for (const auto& entry : read.tensors.entries())
        CHECK(entry.second.bytes.size() ==
              static_cast<std::size_t>(entry.second.shape.elements()) * size_of(entry.second.dtype));
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("a file that is not finished leaves the old one, and nothing else", "[io][IO-4]") {
  const TemporaryFile file{};
  overwrite(file.path, "old");
  {
    io::AtomicFile fresh{file.path};
    fresh.write(std::as_bytes(std::span{std::string_view{"new"}}));
    CHECK(contents(file.path) == "old");
  }
  CHECK(contents(file.path) == "old");
  CHECK(!std::filesystem::exists(file.path + ".writing-" + std::to_string(::getpid())));
  {
    io::AtomicFile fresh{file.path};
    fresh.write(std::as_bytes(std::span{std::string_view{"new"}}));
    fresh.finish();
  }
  CHECK(contents(file.path) == "new");
  CHECK_THROWS_AS(io::AtomicFile{"/no/such/folder/file"}, SystemError);
}
