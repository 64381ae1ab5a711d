// SPDX-License-Identifier: Apache-2.0
//
// .npy and .npz files: what comes back, typed and mapped, what NumPy writes and reads, and damaged files.

#include "tests/support/python.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/stored_tensors.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/io/npy.hpp>
#include <twill/io/npz.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

nn::StoredTensor counted(DType dtype, const Dims& shape) {
  auto [tensor, data] = nn::StoredTensor::make(dtype, shape);
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto write = [&](auto value) { std::memcpy(data + at * sizeof(value), &value, sizeof(value)); };
    switch (dtype) {
    case DType::boolean:
    case DType::uint8:
      write(static_cast<std::uint8_t>(i % 2));
      break;
    case DType::int32:
      write(static_cast<std::int32_t>(i));
      break;
    case DType::int64:
      write(i);
      break;
    case DType::float16:
      write(half{static_cast<float>(i)});
      break;
    case DType::bfloat16:
      write(bfloat16{static_cast<float>(i)});
      break;
    case DType::float32:
      write(static_cast<float>(i));
      break;
    case DType::float64:
      write(static_cast<double>(i));
      break;
    default:
      with_scalar(dtype, [&]<class T>() { write(static_cast<T>(i)); });
      break;
    }
  }
  return tensor;
}

template <class F> std::string refusal(const std::string& path, const std::string& bytes, F load) {
  overwrite(path, bytes);
  try {
    static_cast<void>(load(path));
    return "nothing";
  } catch (const Error& error) {
    const std::string message = error.what();
    const std::size_t at = message.find(path);
    return at == std::string::npos ? "the file is not named: " + message : message.substr(at + path.size());
  }
}

} // namespace

TEST_CASE("arrays of every type, rank and order come back from .npy and .npz files", "[io][IO-1]") {
  const TemporaryFolder folder{};
  std::mt19937_64 random{test_seed()};
  INFO("seed " << test_seed());
  nn::StateDict arrays{};
  const std::string path = folder / "x.npy";
  for (int dtype = 0; dtype < dtype_count; ++dtype)
    for (const Dims& shape : {Dims{}, Dims(0), Dims(3), Dims(2, 0, 5), Dims(7, 1, 3), Dims(1, 2, 1, 3, 1, 2, 1, 2)}) {
      const nn::StoredTensor tensor = random_tensor(static_cast<DType>(dtype), shape, random);
      arrays.add("layer " + std::to_string(dtype) + to_string(shape), tensor);
      for (const io::ElementOrder order : {io::ElementOrder::row_major, io::ElementOrder::column_major}) {
        io::save_npy(path, tensor, {.order = order});
        CHECK(same(io::load_npy(path), tensor));
      }
    }
  for (const io::NpzOptions& options :
       {io::NpzOptions{}, io::NpzOptions{.compresses = true}, io::NpzOptions{.zip64_from_bytes = 1000},
        io::NpzOptions{.compresses = true, .order = io::ElementOrder::column_major, .zip64_from_bytes = 0}}) {
    io::save_npz(folder / "x.npz", arrays, options);
    const nn::StateDict read = io::load_npz(folder / "x.npz");
    REQUIRE(read.size() == arrays.size());
    for (const auto& [name, tensor] : arrays.entries()) {
      REQUIRE(read.find(name) != nullptr);
      CHECK(same(*read.find(name), tensor));
    }
  }
}

TEST_CASE("tensors without elements come back from .npz files", "[io][IO-1]") {
  const TemporaryFolder folder{};
  for (const bool compresses : {false, true}) {
    io::NpzWriter file{folder / "empty.npz", {.compresses = compresses}};
    file.add("x", zeros<float, Shape<0, 3>>()); // of no address
    file.finish();
    const nn::StateDict read = io::load_npz(folder / "empty.npz");
    CHECK(read.find("x")->shape == Dims(0, 3));
  }
}

TEST_CASE("a tensor of a known type comes from a file, maps it, and refuses another type or shape", "[io][IO-1]") {
  const TemporaryFolder folder{};
  const std::string path = folder / "x.npy";
  io::save_npy(path, counted(DType::float32, Dims(4, 3)));
  using Rows = Tensor<float, Cpu, Shape<dyn, 3>>;
  const auto rows = io::load_npy<Rows>(path);
  CHECK(rows.shape() == Dims(4, 3));
  REQUIRE(rows.data()[11] == 11.0F);
  const std::string before = contents(path);
  rows.data()[11] = 5.0F; // memory of this process, not the file
  CHECK(rows.data()[11] == 5.0F);
  CHECK(contents(path) == before);
  auto view = rows[3]; // keeps the file mapped
  io::save_npy(path, rows, {.order = io::ElementOrder::column_major});
  CHECK(view.data()[2] == 5.0F);
  CHECK(io::load_npy<Tensor<float, Cpu, Shape<4, 3>>>(path).data()[3] == 3.0F);
  io::save_npy(path, rows.transpose()); // strided
  CHECK(io::load_npy<Tensor<float, Cpu, Shape<3, 4>>>(path).data()[1] == 3.0F);
  CHECK_THROWS_WITH((io::load_npy<Tensor<float, Cpu, Shape<dyn, 5>>>(path)),
                    "load_npy: '" + path + "' has shape (3, 4), the requested tensor has shape (dyn, 5)");
  CHECK_THROWS_WITH((io::load_npy<Tensor<double, Cpu, Shape<3, 4>>>(path)),
                    "load_npy: '" + path + "' holds float32, the requested tensor holds float64");
}

TEST_CASE("an array is written row by row before its length is known", "[io][IO-1]") {
  const TemporaryFolder folder{};
  const std::string path = folder / "x.npy";
  io::NpyWriter file{path, DType::int64, Dims(2)};
  for (int part = 0; part < 3; ++part) file.append(counted(DType::int64, Dims(part, 2)));
  CHECK(!std::filesystem::exists(path));
  CHECK_THROWS_WITH(file.append(counted(DType::int64, Dims(1, 3))),
                    "NpyWriter: rows of the file make (1, 2), got (1, 3)");
  CHECK_THROWS_WITH(file.append(counted(DType::int32, Dims(1, 2))),
                    "NpyWriter: the file holds int64, the rows are int32");
  file.finish();
  const nn::StoredTensor read = io::load_npy(path);
  CHECK(read.shape == Dims(3, 2));
  std::vector<std::int64_t> values(6);
  std::memcpy(values.data(), read.bytes.data(), 48);
  CHECK(values == std::vector<std::int64_t>{0, 1, 0, 1, 2, 3});
}

TEST_CASE("NumPy reads what is written, and what NumPy writes is read", "[io][IO-1]") {
  const auto python = python_with("numpy");
  if (!python) return skip("no Python with numpy");
  const TemporaryFolder folder{};
  nn::StateDict arrays{};
  for (const DType dtype :
       {DType::boolean, DType::uint8, DType::int32, DType::int64, DType::float16, DType::float32, DType::float64,
        DType::int8, DType::int16, DType::uint16, DType::uint32, DType::uint64, DType::complex64, DType::complex128})
    arrays.add(std::string{name(dtype)}, counted(dtype, Dims(2, 3, 4)));
  for (const auto& [name, tensor] : arrays.entries()) {
    io::save_npy(folder / (name + ".npy"), tensor);
    io::save_npy(folder / (name + "-turned.npy"), tensor, {.order = io::ElementOrder::column_major});
  }
  io::save_npy(folder / "bfloat16.npy", counted(DType::bfloat16, Dims(5)));
  io::save_npy(folder / "scalar.npy", counted(DType::int64, Dims{}));
  io::save_npz(folder / "stored.npz", arrays);
  io::save_npz(folder / "packed.npz", arrays, {.compresses = true});
  io::save_npz(folder / "large.npz", arrays, {.zip64_from_bytes = 0});
  io::save_npz(folder / "packed-large.npz", arrays, {.compresses = true, .zip64_from_bytes = 0});
  io::NpyWriter rows{folder / "rows.npy", DType::float32, Dims(3)};
  rows.append(counted(DType::float32, Dims(2, 3)));
  rows.finish();
  CHECK(run_python(*python, folder, R"(
import numpy as np
from numpy.lib import format
types = ['bool', 'uint8', 'int32', 'int64', 'float16', 'float32', 'float64', 'int8', 'int16', 'uint16', 'uint32', 'uint64',
         'complex64', 'complex128']
def wanted(name):
    count = np.arange(24).reshape(2, 3, 4)
    return (count % 2 if name in ('bool', 'uint8') else count).astype(name)
files = {n: np.load(n + '.npz') for n in ('stored', 'packed', 'large', 'packed-large')}
for name in types:
    for array in [np.load(name + '.npy'), np.load(name + '-turned.npy')] + [f[name] for f in files.values()]:
        assert array.dtype == np.dtype(name) and np.array_equal(array, wanted(name)), name
    assert np.load(name + '-turned.npy').flags.f_contiguous
    mapped = np.load(name + '.npy', mmap_mode='r')
    assert np.array_equal(mapped, wanted(name))
assert sorted(files['packed'].files) == sorted(types)
halves = np.load('bfloat16.npy')
assert halves.dtype == np.dtype('V2') and (halves.view(np.uint16).astype(np.uint32) << 16).view(np.float32).tolist() == [0, 1, 2, 3, 4]
assert np.load('scalar.npy').shape == () and np.array_equal(np.load('rows.npy'), np.arange(6.0).reshape(2, 3))
for name in types:
    array = wanted(name)
    for version in [(1, 0), (2, 0), (3, 0)]:
        for order in 'CF':
            for ends in '<>':
                with open(f'their-{name}-{version[0]}{order}{"big" if ends == ">" else "little"}.npy', 'wb') as file:
                    format.write_array(file, np.asarray(array.astype(array.dtype.newbyteorder(ends)), order=order), version=version)
np.savez('their-stored.npz', **{name: wanted(name) for name in types})
np.savez_compressed('their-packed.npz', **{name: wanted(name) for name in types})
np.save('words.npy', np.array(['a']))
np.save('wide.npy', np.zeros(3, np.longdouble))
np.save('records.npy', np.zeros(3, [('x', 'f4'), ('y', 'f4')]))
)") == "ok");
  const nn::StateDict stored = io::load_npz(folder / "their-stored.npz");
  const nn::StateDict packed = io::load_npz(folder / "their-packed.npz");
  for (const auto& [name, tensor] : arrays.entries()) {
    INFO(name);
    for (const char* kind : {"1Clittle", "1Fbig", "2Flittle", "2Cbig", "3Cbig", "3Flittle", "1Cbig", "1Flittle"})
      CHECK(same(io::load_npy(folder / ("their-" + name + "-" + kind + ".npy")), tensor));
    REQUIRE((stored.find(name) != nullptr && packed.find(name) != nullptr));
    CHECK(same(*stored.find(name), tensor));
    CHECK(same(*packed.find(name), tensor));
  }
  CHECK_THROWS_WITH(io::load_npy(folder / "words.npy"),
                    "load_npy: '" + (folder / "words.npy") +
                        "' holds elements of type '<U1', which twill does not have");
  CHECK_THROWS_WITH(io::load_npy(folder / "wide.npy"),
                    "load_npy: '" + (folder / "wide.npy") +
                        "' holds elements of type '<f16', which twill does not have");
  CHECK_THROWS_WITH(io::load_npy(folder / "records.npy"),
                    "load_npy: '" + (folder / "records.npy") +
                        "' holds records of several fields; twill reads arrays of one element type");
}

TEST_CASE("damaged .npy files are refused with what is wrong", "[io][IO-4]") {
  const TemporaryFolder folder{};
  const auto npy = [&](const std::string& dictionary, std::size_t bytes) {
    const std::string text{"\x93NUMPY\x01\x00", 8};
    return text + static_cast<char>(dictionary.size()) + '\0' + dictionary + std::string(bytes, '\2');
  };
  const auto why = [&](const std::string& bytes) {
    return refusal(folder / "x.npy", bytes, [](const std::string& path) { return io::load_npy(path); });
  };
  const auto array = [&](const std::string& type, const std::string& shape, std::size_t bytes) {
    return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + "}", bytes);
  };
  CHECK(why("") == "' is not a .npy file: it does not begin with \\x93NUMPY");
  CHECK(why("PK\3\4") == "' is not a .npy file: it does not begin with \\x93NUMPY");
  CHECK(why("\x93NUMPY\x01") == "' is damaged: it ends inside its header, after 7 bytes");
  CHECK(why(std::string{"\x93NUMPY\x04\x00\x00\x00", 10}) ==
        "' has version 4.0; versions 1.0, 2.0 and 3.0 are supported");
  CHECK(why(std::string{"\x93NUMPY\x02\x00\xff\xff\xff\xff", 12}) ==
        "' is damaged: a header of 4294967295 bytes in a file of 12");
  CHECK(why(array("<f4", "(2,)", 8)) == "nothing");
  CHECK(why(array("<f4", "(2,)", 9)) == "' is damaged: shape (2,) of float32 has 8 bytes, the file has 9");
  CHECK(why(array("<f4", "(3,)", 8)) == "' is damaged: shape (3,) of float32 has 12 bytes, the file has 8");
  CHECK(why(array("|b1", "(2,)", 2)) == "' is damaged: element 0 of type bool is 2");
  CHECK(why(array("<f4", "(-2,)", 8)) == "' is damaged: an extent is not a number from 0 on");
  CHECK(why(array("<f4", "(99999999999999999999,)", 8)) == "' is damaged: an extent is larger than 2^63");
  CHECK(why(array("<f4", "(4294967296, 4294967296)", 8)) ==
        "' is damaged: shape (4294967296, 4294967296) of float32 has more bytes than there are addresses");
  CHECK(why(array("<f4", "(0, 4294967296, 4294967296)", 0)) ==
        "' is damaged: shape (0, 4294967296, 4294967296) of float32 has more bytes than there are addresses");
  CHECK(why(array("<f4", "(1,1,1,1,1,1,1,1,1)", 4)) == "' has more dimensions than 8, the most a tensor can have");
  CHECK(why(array("<f16", "(1,)", 16)) == "' holds elements of type '<f16', which twill does not have");
  CHECK(why(npy("{'descr': '<f4'}", 0)) == "' is damaged: the header lacks 'descr', 'fortran_order' or 'shape'");
  CHECK(why(npy("{'descr': '<f4', 'descr': '<f4'}", 0)) ==
        "' is damaged: the header has 'descr' twice, or it is not expected");
  CHECK(why(npy("{'fortran_order': 1}", 0)) == "' is damaged: 'fortran_order' is neither True nor False");
  CHECK(why(npy("{'descr", 0)) == "' is damaged: the header ends inside a string");
  CHECK(why(npy("((((", 0)) == "' is damaged: the header has '(' instead of '{'");
}

TEST_CASE("damaged .npz files are refused, whatever byte is wrong", "[io][IO-4]") {
  const TemporaryFolder folder{};
  std::mt19937_64 random{test_seed()};
  INFO("seed " << test_seed());
  const std::string path = folder / "x.npz";
  const auto load = [](const std::string& file) { return io::load_npz(file); };
  nn::StateDict arrays{};
  arrays.add("a", random_tensor(DType::float32, Dims(3, 5), random));
  arrays.add("b", random_tensor(DType::uint8, Dims(9), random));
  for (const bool compresses : {false, true}) {
    io::save_npz(path, arrays, {.compresses = compresses});
    const std::string whole = contents(path);
    for (std::size_t size = 0; size < whole.size(); size += 7)
      CHECK(refusal(path, whole.substr(0, size), load) != "nothing");
    for (int round = 0; round < 1000; ++round) {
      std::string damaged = whole;
      damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
      overwrite(path, damaged);
      try {
        const nn::StateDict read = io::load_npz(path);
        for (const auto& [name, tensor] : read.entries())
          if (const nn::StoredTensor* const known = arrays.find(name)) CHECK(same(tensor, *known));
      } catch (const Error&) {
      }
    }
  }
  io::save_npz(path, arrays);
  std::string whole = contents(path);
  const std::size_t element = whole.find("NUMPY") + 127;
  whole[element] ^= 1;
  CHECK(refusal(path, whole, load).find("' is damaged: 'a.npy' has checksum ") == 0);
  CHECK(refusal(path, "short", load) == "' is damaged: an archive has at least 22 bytes, it has 5");
  CHECK(refusal(path, std::string(100, 'x'), load) == "' is damaged: it has no end-of-archive record");
}
