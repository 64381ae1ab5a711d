#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What fuzzers run: each reader of files on arbitrary bytes. A reader may refuse them by twill's own errors and by nothing
// else; what it accepts has to be consistent and readable to its last byte. The committed corpus runs in every test build
// (tests/io/corpus.test.cpp), the fuzzers of CMakeLists.txt look for more.

#include "tests/fuzz/target.hpp"

#include <twill/data/idx.hpp>
#include <twill/io/checkpoint.hpp>
#include <twill/io/csv.hpp>
#include <twill/io/npy.hpp>
#include <twill/io/npz.hpp>
#include <twill/io/sharded.hpp>
#include <twill/io/tokens.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace twill::fuzz {

/// Reads every byte of a tensor, and compares their number with its shape.
inline void look_at(const nn::StoredTensor& tensor) {
  require(tensor.bytes.size() == static_cast<std::size_t>(tensor.shape.elements()) * size_of(tensor.dtype),
          "bytes and shape");
  unsigned sum = 0;
  for (const std::byte byte : tensor.bytes) sum += std::to_integer<unsigned>(byte);
  require(tensor.dtype != DType::boolean || sum <= tensor.bytes.size(), "a bool is neither 0 nor 1");
}
inline void look_at(const nn::StateDict& state) {
  for (const auto& entry : state.entries()) look_at(entry.second);
}

inline bool npy(Bytes bytes) {
  return accepts([&] { look_at(io::parse_npy("npy", bytes, nullptr)); });
}
inline bool npz(Bytes bytes) {
  return accepts([&] { look_at(io::parse_npz("npz", bytes, nullptr)); });
}
inline bool safetensors(Bytes bytes) {
  return accepts([&] { look_at(io::parse_safetensors("safetensors", bytes, nullptr).tensors); });
}
inline bool shard_index(Bytes bytes) {
  return accepts([&] {
    const io::ShardIndex index{"index", {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
    for (const auto& entry : index.entries())
      require(index.file_of(index.name_of(entry)) == index.file_of(entry), "a name is not found");
  });
}

/// As it is, and with the checksum put right, without which nothing behind it would be reached.
inline bool checkpoint(Bytes bytes) {
  const auto read = [](Bytes whole) {
    const io::Checkpoint result = io::parse_checkpoint("checkpoint", whole, nullptr);
    for (const auto& entry : result.tensors()) look_at(entry.second);
    for (const std::string& section : result.sections()) look_at(result.state(section));
  };
  if (accepts([&] { read(bytes); })) return true;
  std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const std::size_t mark = text.find(io::detail::checksum_mark);
  const std::size_t at = mark + io::detail::checksum_mark.size();
  if (mark == std::string::npos || at + io::detail::no_checksum.size() > text.size()) return false;
  text.replace(at, io::detail::no_checksum.size(), io::detail::no_checksum);
  text.replace(at, io::detail::no_checksum.size(), io::detail::checksum_of({std::as_bytes(std::span{text})}));
  return accepts([&] { read(std::as_bytes(std::span{text})); });
}

/// Its reader wants a path: that of a file in memory.
inline bool idx(Bytes bytes) {
  static const int file = ::memfd_create("idx", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  require(::ftruncate(file, 0) == 0, "ftruncate");
  require(::pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()), "pwrite");
  const data::IdxOptions options{.max_bytes = 1 << 20};
  bool accepted = accepts([&] {
    const auto array = data::read_idx<std::uint8_t>(path, options);
    require(static_cast<std::size_t>(array.dims.elements()) == array.elements.size(), "elements and extents");
  });
  accepted |= accepts([&] { static_cast<void>(data::read_idx<float>(path, options)); });
  return accepted;
}

/// As numbers with and without a header, with gaps and without.
inline bool csv(Bytes bytes) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const auto look = [](const auto& table) {
    require(table.elements.size() == static_cast<std::size_t>(table.rows * table.columns), "rows and columns");
    require(table.names.empty() || table.names.size() == static_cast<std::size_t>(table.columns), "names");
  };
  bool accepted = accepts([&] { look(io::parse_csv<float>("csv", text, {}, {.missing = io::MissingValues::as_nan})); });
  accepted |= accepts([&] { look(io::parse_csv<std::int64_t>("csv", text, {-1, 0}, {.has_header = false})); });
  accepted |= accepts([&] {
    const io::CsvOptions options{.separator = ';', .quote = '\'', .comment = '#', .skip_lines = 1};
    look(io::parse_csv<double>("csv", text, {"x", 1}, options));
  });
  return accepted;
}

/// As labels of classes, which nearly any text is: a target of fuzz.cpp alone, with the corpus of csv.
inline bool csv_labels(Bytes bytes) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const auto look = [](const io::CsvLabels& read) {
    const auto classes = static_cast<std::int64_t>(read.classes.size());
    for (const std::int64_t label : read.labels) require(label >= io::missing_label && label < classes, "labels");
  };
  bool accepted =
      accepts([&] { look(io::parse_csv_labels("csv", text, 0, {}, {.missing = io::MissingValues::as_nan})); });
  accepted |= accepts([&] { look(io::parse_csv_labels("csv", text, -1, {"1", "NA", "x"})); });
  return accepted;
}

/// The first bytes say how windows lie; every window is read.
inline bool tokens(Bytes bytes) {
  const auto number = [&](std::size_t at) {
    return at < bytes.size() ? std::to_integer<std::int64_t>(bytes[at]) - 2 : 0;
  };
  const io::TokenOptions options{
      .vocabulary = 64 * number(0), .stride = number(1), .length = number(2), .header_bytes = number(3)};
  const auto read = [&]<class Stored>(Stored) {
    return accepts([&] {
      const io::TokenDataset<Stored> windows("tokens", bytes, nullptr, options);
      const auto length = static_cast<std::size_t>(windows.row_dims()[0][0]);
      std::vector<std::int64_t> window(length);
      std::vector<std::int64_t> next(length);
      for (std::int64_t i = 0; i < windows.size(); ++i) {
        windows.read(i, window, next);
        for (std::size_t at = 1; at < length; ++at) require(next[at - 1] == window[at], "what follows");
      }
    });
  };
  bool accepted = read(std::uint8_t{});
  accepted |= read(std::uint16_t{});
  accepted |= read(std::uint32_t{});
  return accepted;
}

inline constexpr std::array<Target, 8> targets{{{"npy", &npy},
                                                {"npz", &npz},
                                                {"safetensors", &safetensors},
                                                {"shard_index", &shard_index},
                                                {"checkpoint", &checkpoint},
                                                {"idx", &idx},
                                                {"csv", &csv},
                                                {"tokens", &tokens}}};

} // namespace twill::fuzz
