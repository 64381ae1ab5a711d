// SPDX-License-Identifier: Apache-2.0
//
// Safetensors files: what comes back, files of the format's own library, and damaged ones.

#include "tests/support/golden.hpp"
#include "tests/support/python.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/stored_tensors.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/io/checkpoint.hpp>
#include <twill/io/files.hpp>
#include <twill/io/sharded.hpp>
#include <twill/nn/stored_tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// A file of this test.
struct TemporaryFile {
  TemporaryFolder folder{};
  std::string path = folder / "x.safetensors";
};

/// A file with this header and so many bytes of elements.
std::string with_header(const std::string& header, std::size_t bytes) {
  const std::uint64_t length = header.size();
  std::string file(sizeof(length), '\0');
  std::memcpy(file.data(), &length, sizeof(length));
  return file + header + std::string(bytes, '\1');
}

double element(const nn::StoredTensor& tensor, std::size_t i) {
  const auto read = [&](auto value) {
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(value), sizeof(value));
    return static_cast<double>(value);
  };
  if (tensor.dtype == DType::int64) return read(std::int64_t{});
  if (tensor.dtype == DType::float16)
    return static_cast<double>(static_cast<float>(half::from_bits(static_cast<std::uint16_t>(read(std::uint16_t{})))));
  return read(float{});
}

} // namespace

TEST_CASE("tensors of every type and rank come back from a file", "[io][IO-1]") {
  const TemporaryFile file{};
  std::mt19937_64 random{test_seed()};
  INFO("seed " << test_seed());
  nn::StateDict written{};
  for (int dtype = 0; dtype < dtype_count - 1; ++dtype) // the format has no complex128, the last one
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
    CHECK(same(*other, tensor));
    CHECK(reinterpret_cast<std::uintptr_t>(other->bytes.data()) % size_of(other->dtype) == 0); // wide elements first
  }
}

TEST_CASE("the format has no complex128, and saving one says so", "[io]") {
  const TemporaryFile file{};
  std::mt19937_64 random{test_seed()};
  nn::StateDict written{};
  written.add("z", random_tensor(DType::complex128, Dims(3), random));
  CHECK_THROWS_WITH(io::save_safetensors(file.path, written),
                    "save_safetensors: 'z' is complex128, which the format does not have; convert it to complex64");
}

TEST_CASE("files of the format's own library are read", "[io][IO-1]") {
  const io::Safetensors read = io::load_safetensors(golden_path("safetensors/library.safetensors"));
  CHECK(read.metadata == io::Metadata{{"made by", "safetensors"}});
  REQUIRE(read.tensors.size() == 3);
  const nn::StoredTensor* const weight = read.tensors.find("weight");
  REQUIRE(weight != nullptr);
  CHECK(weight->shape == Dims(2, 3));
  for (std::size_t i = 0; i < 6; ++i) CHECK(element(*weight, i) == 0.5 * double(i));
  CHECK(read.tensors.find("count")->dtype == DType::int64);
  CHECK(element(*read.tensors.find("count"), 0) == 1234567890123.0);
  CHECK(read.tensors.find("halves")->dtype == DType::float16);
  CHECK(element(*read.tensors.find("halves"), 1) == -1.5);
}

TEST_CASE("a tensor of a foreign type leaves the others readable", "[io][IO-1]") {
  const TemporaryFile file{};
  overwrite(file.path, with_header(R"({"scale":{"dtype":"F8_E8M0","shape":[2,3],"data_offsets":[4,10]},)"
                                   R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
                                   10));
  const nn::StateDict read = io::load_safetensors(file.path).tensors;
  REQUIRE(read.size() == 1);
  CHECK(read.find("a")->shape == Dims(4));
  REQUIRE(read.foreign().size() == 1);
  const auto& [name, tensor] = read.foreign()[0];
  CHECK((name == "scale" && tensor.type == "F8_E8M0" && tensor.shape == Dims(2, 3) && tensor.bytes.size() == 6));
  CHECK(tensor.bytes[5] == std::byte{1});
  CHECK_THROWS_WITH(read.find("scale"),
                    "state_dict: 'scale' has type F8_E8M0, which twill does not have; foreign() has its bytes");
  CHECK_THROWS_WITH(io::save_safetensors(file.path, read),
                    "save_safetensors: 'scale' has type F8_E8M0, which twill does not have");
  CHECK(nn::with_prefix(read, "m.").foreign()[0].first == "m.scale");
  CHECK(nn::part(nn::with_prefix(read, "m."), "m.").foreign()[0].first == "scale");
  CHECK(nn::part(read, "m.").foreign().empty());
  CHECK(nn::joined({nn::with_prefix(read, "x."), nn::with_prefix(read, "y.")}).foreign().size() == 2);
  CHECK_THROWS_WITH(nn::joined({read, read}), "state_dict: 'a' is there twice");
  nn::StateDict more = read;
  CHECK_THROWS_WITH(more.add("scale", *read.find("a")), "state_dict: 'scale' is there twice");
  io::Checkpoint checkpoint{};
  CHECK_THROWS_WITH(checkpoint.add("model", read), "checkpoint: 'scale' has type F8_E8M0, which twill does not have");
  const std::string index = file.folder / "x.safetensors.index.json";
  overwrite(index, R"({"metadata":{"total_size":10},"weight_map":{"a":"x.safetensors","scale":"x.safetensors"}})");
  CHECK(io::load_sharded(index).foreign().size() == 1);
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
  CHECK(refusal(with_header("[]", 0)) == "' is damaged: byte 0 of its JSON: '{' is expected, there is something else");
  CHECK(refusal(with_header("{\"a\"", 0)) == "' is damaged: byte 4 of its JSON: ':' is expected, the text ends");
  CHECK(refusal(with_header("{\"a\xff\":1}", 0)) == "' is damaged: byte 4 of its JSON: a string is not UTF-8");
  CHECK(refusal(with_header("{\"\\ud800\":1}", 0)).find("an escape is half of a surrogate pair") != std::string::npos);
  CHECK(refusal(with_header("{}x", 0)) == "' is damaged: byte 2 of its JSON: there is text after the end");
  CHECK(refusal(with_header("{\"a\":" + std::string(100000, '['), 0)) ==
        "' is damaged: byte 5 of its JSON: '{' is expected, there is something else");
  const auto tensor = [](const std::string& type, const std::string& shape, const std::string& place) {
    return "{\"a\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + place + "}}";
  };
  CHECK(refusal(with_header(tensor("F32", "[2]", "[0,8]"), 8)) == "nothing");
  CHECK(refusal(with_header(tensor("F32", "[2]", "[0,9]"), 9)) ==
        "' is damaged: 'a' has 8 bytes by its shape, but data_offsets [0, 9]");
  CHECK(refusal(with_header(tensor("F32", "[2]", "[8,0]"), 8)) ==
        "' is damaged: 'a' has 8 bytes by its shape, but data_offsets [8, 0]");
  CHECK(refusal(with_header(tensor("F32", "[2]", "[4,12]"), 12)) ==
        "' is damaged: 'a' begins at 4, the tensor before it ends at 0");
  CHECK(refusal(with_header(tensor("F32", "[4294967296,4294967296]", "[0,0]"), 0)) ==
        "': 'a' is damaged: shape (4294967296, 4294967296) of float32 has more bytes than there are addresses");
  CHECK(refusal(with_header(tensor("F32", "[-2]", "[0,8]"), 8)) ==
        "' is damaged: byte 29 of its JSON: a number that is not negative is expected");
  CHECK(refusal(with_header(tensor("F32", "[1.5]", "[0,8]"), 8)) ==
        "' is damaged: byte 30 of its JSON: a number that is not negative is expected");
  CHECK(refusal(with_header(tensor("F32", "[99999999999999999999]", "[0,8]"), 8))
            .find("a number is too large for a count") != std::string::npos);
  CHECK(refusal(with_header(tensor("F32", "[2]", "[0,8,8]"), 8)) == "' is damaged: 'a' has more than two data_offsets");
  CHECK(refusal(with_header(tensor("BOOL", "[2]", "[0,2]"), 2)) == "nothing");
  std::string no_truth = with_header(tensor("BOOL", "[2]", "[0,2]"), 2);
  no_truth.back() = '\3';
  CHECK(refusal(no_truth) == "': 'a' is damaged: element 1 of type bool is 3");
  CHECK(refusal(with_header(tensor("F8_E8M0", "[2]", "[0,2]"), 2)) == "nothing"); // kept as bytes
  CHECK(refusal(with_header(tensor("F8_E8M0", "[2]", "[2,0]"), 2)) == "' is damaged: 'a' has data_offsets [2, 0]");
  CHECK(refusal(with_header(tensor("F8_E8M0", "[2]", "[0,1]"), 2)) ==
        "' is damaged: tensors take 1 bytes, the file has 2");
  CHECK(refusal(with_header(tensor("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4)) ==
        "': 'a' has more dimensions than 8, the most a tensor can have");
  CHECK(refusal(with_header("{\"a\":{\"dtype\":\"F32\"}}", 0)) ==
        "' is damaged: 'a' lacks its dtype, shape or data_offsets");
  CHECK(refusal(with_header("{\"__metadata__\":{\"x\":1}}", 0)) ==
        "' is damaged: byte 21 of its JSON: '\"' is expected, there is something else");
  CHECK(refusal(with_header("{\"__metadata__\":{\"x\":\"\",\"\\u0078\":\"\"}}", 0)) ==
        "' is damaged: the metadata 'x' is there twice");
  const std::string one = "\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
  CHECK(refusal(with_header("{" + one + "," + one + "}", 0)) == "' is damaged: 'a' is there twice");
  const std::string escaped = "\"\\u0061\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
  CHECK(refusal(with_header("{" + one + "," + escaped + "}", 0)) == "' is damaged: 'a' is there twice");
  const std::string two = "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
                          "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}";
  CHECK(refusal(with_header(two, 6)) == "' is damaged: 'b' begins at 2, the tensor before it ends at 4");
  CHECK(refusal(with_header("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 0)) ==
        "' is damaged: 'a' has 'dtype' twice, or it is not expected");
  CHECK_THROWS_WITH(io::load_safetensors("/no/such/file"), "open: '/no/such/file': No such file or directory");
  CHECK_THROWS_WITH(io::load_safetensors("/tmp"), "open: '/tmp': Is a directory");
}

TEST_CASE("no change of a file's header crashes the reader", "[io][IO-4]") {
  const TemporaryFile file{};
  std::mt19937_64 random{test_seed()};
  INFO("seed " << test_seed());
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

TEST_CASE("a file is written tensor by tensor, in pieces and in any order", "[io][IO-1]") {
  const TemporaryFile file{};
  std::mt19937_64 random{test_seed()};
  const nn::StoredTensor small = random_tensor(DType::uint8, Dims(3), random);
  const nn::StoredTensor wide = random_tensor(DType::float64, Dims(5, 2), random);
  io::SafetensorsWriter writer{file.path, {{"small", small.dtype, small.shape}, {"wide", wide.dtype, wide.shape}}};
  writer.write("wide", wide.bytes.first(16));
  writer.write("small", small.bytes);
  CHECK_THROWS_WITH(writer.write("small", small.bytes), "save_safetensors: 'small' has 3 bytes, got 6");
  CHECK_THROWS_WITH(writer.write("other", small.bytes), "save_safetensors: 'other' was not planned");
  CHECK_THROWS_WITH(writer.finish(), "save_safetensors: 'wide' has 80 bytes, got 16");
  CHECK(!std::filesystem::exists(file.path));
  writer.write("wide", wide.bytes.subspan(16));
  writer.finish();
  const io::Safetensors read = io::load_safetensors(file.path);
  REQUIRE(read.tensors.size() == 2);
  CHECK(read.tensors.entries()[0].first == "wide");
  CHECK(same(*read.tensors.find("small"), small));
  CHECK(same(*read.tensors.find("wide"), wide));
  CHECK_THROWS_WITH((io::SafetensorsWriter{file.path, {{"a", DType::uint8, Dims(1)}, {"a", DType::uint8, Dims(1)}}}),
                    "save_safetensors: 'a' is there twice");
  // What could never be read again.
  CHECK_THROWS_AS((io::SafetensorsWriter{file.path, {{"a", DType::uint8, Dims(1)}}, {{"note", "\xff"}}}), ValueError);
}

TEST_CASE("a state is written in files of limited size, and an index that disagrees with them is refused",
          "[io][IO-1][IO-4]") {
  const TemporaryFolder folder{};
  std::mt19937_64 random{test_seed()};
  nn::StateDict state{};
  for (int i = 0; i < 5; ++i)
    state.add("layer" + std::to_string(i), random_tensor(DType::float32, Dims(i == 2 ? 40 : 10), random));
  io::save_sharded(folder.path, state, {.shard_bytes = 100});
  const std::string path = folder / "model.safetensors.index.json";
  const nn::StateDict read = io::load_sharded(path);
  REQUIRE(read.size() == 5);
  for (const auto& [name, tensor] : state) CHECK(same(*read.find(name), tensor));
  CHECK(io::load_safetensors(folder / "model-00001-of-00003.safetensors").tensors.size() == 2);
  CHECK(io::load_safetensors(folder / "model-00002-of-00003.safetensors").tensors.size() == 1); // larger than the limit
  const std::string whole = contents(path);
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string changed = whole;
    changed.replace(changed.find(from), from.size(), to);
    overwrite(path, changed);
    try {
      static_cast<void>(io::load_sharded(path));
      return std::string{"nothing"};
    } catch (const Error& error) {
      return std::string{error.what()};
    }
  };
  const std::string where = "load_sharded: '" + path + "'";
  CHECK(refusal("\"total_size\": 320", "\"total_size\": 321") ==
        where + " says that all tensors have 321 bytes, they have 320");
  CHECK(refusal("layer4", "layer5") ==
        where + ": 'model-00003-of-00003.safetensors' holds 'layer4', which the index does not name");
  CHECK(refusal("\"layer1\": \"model-00001", "\"layer1\": \"model-00002") ==
        where + ": 'model-00001-of-00003.safetensors' holds 'layer1', which the index says is in "
                "'model-00002-of-00003.safetensors'");
  CHECK(refusal("{\n    \"layer0\"", "{\"more\": \"model-00001-of-00003.safetensors\", \"layer0\"") ==
        where + ": 'model-00001-of-00003.safetensors' lacks 'more', which the index says is there");
  CHECK(refusal("model-00001", "../model-00001").find("which is not a safetensors file of this folder") !=
        std::string::npos);
  CHECK(refusal("layer1", "layer0").find("'layer0' is there twice") != std::string::npos);
  CHECK(refusal("model-00002", "model-00004").find("No such file or directory") != std::string::npos);
}

TEST_CASE("a save in several files removes none of another name", "[io][IO-4]") {
  const TemporaryFolder folder{};
  nn::StateDict state{};
  state.add("weight", nn::StoredTensor::make(DType::float32, Dims(4)).first);
  io::save_sharded(folder.path, state, {.name = "other"});
  const std::string others = folder / "other-00001-of-00001.safetensors";
  overwrite(folder / "model.safetensors.index.json",
            R"({"weight_map": {"weight": "other-00001-of-00001.safetensors"}})");
  io::save_sharded(folder.path, state);
  CHECK(io::load_safetensors(others).tensors.size() == 1);
  CHECK(io::load_sharded(folder / "model.safetensors.index.json").size() == 1);
}

TEST_CASE("a process that dies at any call of a save in several files leaves the old set or the new one",
          "[io][IO-4]") {
  static long calls_left = 0;
  const auto state_of = [](float value) {
    nn::StateDict state{};
    for (int i = 0; i < 3; ++i) {
      auto [tensor, data] = nn::StoredTensor::make(DType::float32, Dims(25));
      for (std::size_t at = 0; at < 25; ++at) std::memcpy(data + 4 * at, &value, 4);
      state.add("layer" + std::to_string(i), tensor);
    }
    return state;
  };
  int died = 0;
  int are_new = 0;
  for (long call = 0;; ++call) {
    const TemporaryFolder folder{};
    const std::string path = folder / "model.safetensors.index.json";
    io::save_sharded(folder.path, state_of(4), {.name = "model-save1"}); // the name of a later set of "model"
    overwrite(folder / "models-00001-of-00001.safetensors", "of another name");
    overwrite(folder / "models-00001-of-00001.safetensors.writing-1-0", "of another name");
    io::save_sharded(folder.path, state_of(1), {.shard_bytes = 100});
    const pid_t child = ::fork();
    if (child == 0) {
      calls_left = call;
      io::detail::file_fault.exchange([](std::string_view, std::string_view) {
        if (calls_left-- == 0) ::_exit(7);
        return 0;
      });
      io::save_sharded(folder.path, state_of(2), {.shard_bytes = 100});
      ::_exit(0);
    }
    REQUIRE(child > 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    const bool was_killed = WIFEXITED(status) && WEXITSTATUS(status) == 7;
    const nn::StateDict found = io::load_sharded(path);
    REQUIRE(found.size() == 3);
    const bool is_new = same(*found.find("layer0"), *state_of(2).find("layer0"));
    const nn::StateDict expected = state_of(is_new ? 2.0F : 1.0F);
    for (const auto& [name, tensor] : expected.entries()) CHECK(same(*found.find(name), tensor));
    io::save_sharded(folder.path, state_of(3), {.shard_bytes = 100}); // the next one is right
    const nn::StateDict last = io::load_sharded(path);
    CHECK(same(*last.find("layer2"), *state_of(3).find("layer2")));
    // What the dead process left is gone, the files of other names are there.
    CHECK(std::distance(std::filesystem::directory_iterator{folder.path}, {}) == 4 + 4);
    CHECK(io::load_sharded(folder / "model-save1.safetensors.index.json").size() == 3);
    if (!was_killed) {
      CHECK(is_new);
      break;
    }
    ++died;
    are_new += is_new ? 1 : 0;
  }
  CHECK(died >= 20);
  CHECK(are_new >= 2); // between the new index and the end of the old files
}

TEST_CASE("the format's library and PyTorch read what is written, and what they write is read", "[io][IO-1]") {
  const auto python = python_with("safetensors.numpy, numpy");
  if (!python) return skip("no Python with safetensors and numpy; set TWILL_TEST_PYTHON to one");
  const TemporaryFolder folder{};
  std::mt19937_64 random{test_seed()};
  nn::StateDict state{};
  for (int dtype = 0; dtype < 8; ++dtype)
    if (static_cast<DType>(dtype) != DType::bfloat16)
      state.add(std::string{name(static_cast<DType>(dtype))},
                random_tensor(static_cast<DType>(dtype), Dims(3, 5), random));
  io::save_safetensors(folder / "ours.safetensors", state, {{"quoted \"name\"", "zw\xc3\xb6lf\n"}});
  io::save_sharded(folder.path, state, {.shard_bytes = 100});
  CHECK(run_python(*python, folder, R"(
import json
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
state = load_file('ours.safetensors')
with safe_open('ours.safetensors', 'np') as file:
    assert file.metadata() == {'quoted "name"': 'zwölf\n'}, file.metadata()
    metadata = file.metadata()
index = json.load(open('model.safetensors.index.json'))
assert sorted(index['weight_map']) == sorted(state)
for name, array in state.items():
    assert str(array.dtype) == name and array.shape == (3, 5)
    assert load_file(index['weight_map'][name])[name].tobytes() == array.tobytes()
save_file(state, 'theirs.safetensors', metadata=metadata)
try:
    import torch, safetensors.torch
    state = safetensors.torch.load_file('ours.safetensors')
    state['bfloat16'] = torch.arange(4).to(torch.bfloat16)
    safetensors.torch.save_file(state, 'torch.safetensors')
except ImportError:
    pass
)") == "ok");
  const io::Safetensors theirs = io::load_safetensors(folder / "theirs.safetensors");
  CHECK(theirs.metadata == io::Metadata{{"quoted \"name\"", "zw\xc3\xb6lf\n"}});
  for (const auto& [name, tensor] : state.entries()) {
    REQUIRE(theirs.tensors.find(name) != nullptr);
    CHECK(same(*theirs.tensors.find(name), tensor));
  }
  if (!std::filesystem::exists(folder / "torch.safetensors")) return;
  const io::Safetensors torch = io::load_safetensors(folder / "torch.safetensors");
  CHECK(same(*torch.tensors.find("float16"), *state.find("float16")));
  REQUIRE(torch.tensors.find("bfloat16") != nullptr);
  CHECK(torch.tensors.find("bfloat16")->dtype == DType::bfloat16);
}

TEST_CASE("a file that is not finished leaves the old one, and nothing else", "[io][IO-4]") {
  const TemporaryFile file{};
  overwrite(file.path, "old");
  {
    io::AtomicFile fresh{file.path};
    fresh.write("new");
    CHECK(contents(file.path) == "old");
  }
  CHECK(contents(file.path) == "old");
  CHECK(std::distance(std::filesystem::directory_iterator{file.folder.path}, {}) == 1);
  {
    io::AtomicFile fresh{file.path};
    fresh.write("new");
    fresh.finish();
  }
  CHECK(contents(file.path) == "new");
  CHECK_THROWS_AS(io::AtomicFile{"/no/such/folder/file"}, SystemError);
}
