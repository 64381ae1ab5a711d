// SPDX-License-Identifier: Apache-2.0

#include "tests/support/temporary_folder.hpp"

#include <twill/data/idx.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace data = twill::data;
using Bytes = std::vector<unsigned char>;

namespace {

class TemporaryFile {
public:
  explicit TemporaryFile(const Bytes& content) {
    twill::test::overwrite(path_, std::string(content.begin(), content.end()));
  }
  const std::string& path() const { return path_; }

private:
  twill::test::TemporaryFolder folder_{};
  std::string path_ = folder_ / "content.idx";
};

Bytes gzip(const Bytes& content) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  Bytes result(deflateBound(&stream, static_cast<uLong>(content.size())) + 64);
  stream.next_in = const_cast<unsigned char*>(content.data());
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = result.data();
  stream.avail_out = static_cast<uInt>(result.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

Bytes idx(unsigned char code, const std::vector<std::uint32_t>& extents, const Bytes& payload) {
  Bytes file{0, 0, code, static_cast<unsigned char>(extents.size())};
  for (const std::uint32_t extent : extents)
    for (int shift = 24; shift >= 0; shift -= 8) file.push_back(static_cast<unsigned char>(extent >> shift));
  file.insert(file.end(), payload.begin(), payload.end());
  return file;
}

template <class T> std::string failure(const Bytes& content, data::IdxOptions options = {}) {
  const TemporaryFile file(content);
  try {
    (void)data::read_idx<T>(file.path(), options);
  } catch (const twill::Error& error) {
    std::string text = error.what();
    const auto at = text.find(file.path());
    REQUIRE(at != std::string::npos); // every message names the file
    return text.replace(at, file.path().size(), "FILE");
  }
  return "no error";
}

} // namespace

TEST_CASE("an IDX file is read plain and compressed alike", "[data][TRAIN-8]") {
  const Bytes file = idx(0x08, {2, 3}, {1, 2, 3, 4, 5, 255});
  for (const Bytes& content : {file, gzip(file)}) {
    const TemporaryFile temporary(content);
    const auto array = data::read_idx<std::uint8_t>(temporary.path());
    CHECK(array.dims == twill::Dims(2, 3));
    CHECK(array.elements == std::vector<std::uint8_t>{1, 2, 3, 4, 5, 255});
  }
}

TEST_CASE("wider IDX elements are turned from big-endian", "[data]") {
  const TemporaryFile integers(idx(0x0C, {2}, {0, 0, 1, 2, 0xFF, 0xFF, 0xFF, 0xFE}));
  CHECK(data::read_idx<std::int32_t>(integers.path()).elements == std::vector<std::int32_t>{258, -2});
  const TemporaryFile floats(idx(0x0D, {1}, {0x3F, 0xC0, 0, 0}));
  CHECK(data::read_idx<float>(floats.path()).elements == std::vector<float>{1.5F});
  const TemporaryFile doubles(idx(0x0E, {1, 1}, {0xC0, 0x04, 0, 0, 0, 0, 0, 0}));
  CHECK(data::read_idx<double>(doubles.path()).elements == std::vector<double>{-2.5});
}

TEST_CASE("an IDX file may be empty or a scalar", "[data]") {
  const TemporaryFile empty(idx(0x08, {0, 28, 28}, {}));
  CHECK(data::read_idx<std::uint8_t>(empty.path()).dims == twill::Dims(0, 28, 28));
  const TemporaryFile scalar(idx(0x08, {}, {7}));
  CHECK(data::read_idx<std::uint8_t>(scalar.path()).elements == std::vector<std::uint8_t>{7});
}

TEST_CASE("a damaged IDX file is refused with its name and the reason", "[data]") {
  CHECK(failure<std::uint8_t>({}) == "idx: FILE is too short to hold a header");
  CHECK(failure<std::uint8_t>({0, 0, 8}) == "idx: FILE is too short to hold a header");
  CHECK(failure<std::uint8_t>({'P', 'N', 'G', 0}) ==
        "idx: FILE does not start with two zero bytes; it is not an IDX file");
  CHECK(failure<std::uint8_t>({0, 0, 8, 2, 0, 0, 0, 1, 0, 0}) == "idx: FILE ends inside its header, at extent 1");
  CHECK(failure<std::uint8_t>(idx(0x0D, {1}, {0, 0, 0, 0})) == "idx: FILE holds float32, asked for uint8");
  CHECK(failure<float>(idx(0x0B, {1}, {0, 0})) == "idx: FILE holds int16, asked for float32");
  CHECK(failure<float>(idx(0x77, {1}, {0, 0})) == "idx: FILE holds unknown type code 119, asked for float32");
  CHECK(failure<std::uint8_t>(idx(0x08, {2, 3}, {1, 2, 3, 4})) == "idx: FILE claims 6 elements, holds 4");
  CHECK(failure<float>(idx(0x0D, {2}, {1, 2, 3, 4, 5, 6})) == "idx: FILE claims 2 elements, holds 1");
  CHECK(failure<std::uint8_t>(idx(0x08, {2}, {1, 2, 3})) ==
        "idx: FILE holds more than the 2 elements its header claims");
}

TEST_CASE("a hostile IDX header allocates nothing", "[data]") {
  // Under a sanitizer or an address-space limit the claimed 4 GB would end the program.
  const std::uint32_t huge = 0xFFFFFFFF;
  CHECK(failure<std::uint8_t>(idx(0x08, {huge}, {1, 2})) == "idx: FILE claims 4294967295 elements, holds 2");
  CHECK(failure<std::uint8_t>(idx(0x08, {huge, huge, huge, huge}, {})).find("claims more than the 4294967296 bytes") !=
        std::string::npos);
  CHECK(failure<std::uint8_t>(idx(0x08, {0, huge, huge, huge}, {})).find("claims more than") != std::string::npos);
  CHECK(failure<std::uint8_t>(idx(0x08, std::vector<std::uint32_t>(255, 1), {})) ==
        "idx: FILE has rank 255, at most 8 is supported");
  CHECK(failure<double>(idx(0x0E, {3}, {}), {.max_bytes = 16}) ==
        "idx: FILE claims more than the 16 bytes allowed; raise IdxOptions::max_bytes if that is meant");
}

TEST_CASE("a truncated or corrupted gzip stream is refused at every byte", "[data]") {
  Bytes payload(1000);
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<unsigned char>(i * 37 % 251);
  const Bytes file = idx(0x08, {1000}, payload);
  const Bytes compressed = gzip(file);
  for (std::size_t length = 1; length < compressed.size(); ++length) {
    INFO("length " << length);
    CHECK(failure<std::uint8_t>(Bytes(compressed.begin(), compressed.begin() + static_cast<std::ptrdiff_t>(length))) !=
          "no error");
  }
  // Bytes 4 to 9 of a gzip header are a time stamp and hints; a change of any other byte has to be noticed.
  for (std::size_t position = 10; position < compressed.size(); ++position) {
    INFO("position " << position);
    Bytes damaged = compressed;
    damaged[position] ^= 0x10;
    CHECK(failure<std::uint8_t>(damaged) != "no error");
  }
}

TEST_CASE("a missing IDX file, a folder and a device are system errors", "[data]") {
  CHECK_THROWS_AS(data::read_idx<std::uint8_t>("/nonexistent/file.gz"), twill::SystemError);
  CHECK_THROWS_WITH(data::read_idx<std::uint8_t>("/tmp"), "idx: /tmp is a folder, not a file");
  CHECK_THROWS_WITH(data::read_idx<std::uint8_t>("/dev/zero"), "idx: /dev/zero is a pipe or a device, not a file");
}
