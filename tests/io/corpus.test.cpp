// SPDX-License-Identifier: Apache-2.0
//
// The fuzzers' corpus through every reader, and hostile files of some megabytes: an error, and never more memory taken
// on the way than the file has bytes, plus one MiB.

#include "tests/fuzz/targets.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tests_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <malloc.h>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// What this thread holds, and the most it has held since somebody asked to count.
thread_local std::int64_t held_bytes = 0;
thread_local std::int64_t most_bytes = 0;

void* counted(void* memory) {
  held_bytes += static_cast<std::int64_t>(::malloc_usable_size(memory));
  most_bytes = std::max(most_bytes, held_bytes);
  return memory;
}

/// The memory that `f` takes beyond what was held before.
template <class F> std::int64_t memory_of(F&& f) {
  const std::int64_t before = held_bytes;
  most_bytes = held_bytes;
  f();
  return most_bytes - before;
}

} // namespace

// All forms, because sanitizers bring forms of their own; not inlined, because g++ takes the visible malloc for a
// mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return counted(memory);
  throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(bytes > 0 ? bytes : 1);
  return memory != nullptr ? counted(memory) : nullptr;
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return operator new(bytes); }
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory != nullptr) held_bytes -= static_cast<std::int64_t>(::malloc_usable_size(memory));
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { operator delete(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }

namespace {

constexpr std::int64_t mib = 1 << 20;

std::string number(std::uint64_t value, std::size_t size) {
  std::string text(size, '\0');
  std::memcpy(text.data(), &value, std::min(size, sizeof(value)));
  return text;
}

std::string with_header(const std::string& header) { return number(header.size(), 8) + header; }

std::string npy(const std::string& dictionary, const std::string& elements = {}) {
  return std::string{"\x93NUMPY\x01\x00", 8} + number(dictionary.size(), 2) + dictionary + elements;
}

/// Many times `piece(i)`, until there are so many bytes.
template <class F> std::string repeated(std::size_t bytes, F&& piece) {
  std::string text{};
  for (std::size_t i = 0; text.size() < bytes; ++i) text += piece(i);
  return text;
}

/// Hostile files for the target, with a sentence each.
std::vector<std::pair<std::string, std::string>> hostile(std::string_view target) {
  const std::size_t large = 3 << 20;
  const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
  const auto entry = [&](const std::string& name, std::uint64_t begin, std::uint64_t end) {
    return quoted(name) + ":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(end - begin) + "],\"data_offsets\":[" +
           std::to_string(begin) + "," + std::to_string(end) + "]},";
  };
  const auto marked = [&](const std::string& metadata) { // a checkpoint's start
    return with_header("{\"__metadata__\":{\"twill.checksum\":\"0000000000000000\"" + metadata + "}}");
  };
  if (target == "npy")
    return {
        {"a header of 4 GiB", std::string{"\x93NUMPY\x03\x00\xf0\xff\xff\xff", 12} + std::string(large, ' ')},
        {"2^62 elements", npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2147483648, 2147483647)}")},
        {"a terabyte of another order",
         npy("{'descr': '>f8', 'fortran_order': True, 'shape': (1048576, 131072)}", "x")},
        {"a long extent", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::string(60000, '9') + ")}")},
        {"many brackets", npy("{'descr': " + std::string(60000, '['))}};
  if (target == "npz") {
    const std::string name = "x.npy";
    const auto local = [&](std::uint64_t packed, std::uint64_t bytes) {
      return number(0x04034b50, 4) + number(20, 2) + number(0, 2) + number(8, 2) + number(0, 8) + number(packed, 4) +
             number(bytes, 4) + number(name.size(), 2) + number(0, 2) + name;
    };
    const auto central = [&](std::uint64_t packed, std::uint64_t bytes) {
      return number(0x02014b50, 4) + number(20, 2) + number(20, 2) + number(0, 2) + number(8, 2) + number(0, 8) +
             number(packed, 4) + number(bytes, 4) + number(name.size(), 2) + number(0, 12) + number(0, 4) + name;
    };
    const auto archive = [&](const std::string& members, const std::string& directory, std::uint64_t count) {
      return members + directory + number(0x06054b50, 4) + number(0, 4) + number(count, 2) + number(count, 2) +
             number(directory.size(), 4) + number(members.size(), 4) + number(0, 2);
    };
    const std::string nothing{"\x03\x00", 2}; // deflated
    const std::string some = local(large, 5) + std::string(large, 'x');
    return {{"4 GB in two bytes", archive(local(2, 0xfffffff0) + nothing, central(2, 0xfffffff0), 1)},
            {"one member many times",
             archive(some, repeated(65535 * (46 + 5), [&](std::size_t) { return central(large, 5); }), 65535)},
            {"a directory without members", archive("", "", 65535)},
            {"noise", repeated(large, [](std::size_t i) { return std::to_string(i * i); })}};
  }
  if (target == "safetensors")
    return {
        {"a header of 2^64 - 1 bytes", std::string(large, '\xff')},
        {"a header of all the file and more", number(large + 1, 8) + std::string(large, ' ')},
        {"brackets", with_header("{\"a\":" + std::string(large, '['))},
        {"a long name", with_header("{\"" + std::string(large, 'a') + "\":1}")},
        {"a long name in escapes", with_header("{\"" + repeated(large, [](auto) { return "\\u0041"; }) + "\":1}")},
        {"tensors in one place",
         with_header("{" + repeated(large, [&](auto i) { return entry(std::to_string(i), 0, 0); }) + entry("x", 1, 1))},
        {"tensors with gaps",
         with_header("{" + repeated(large, [&](auto i) { return entry(std::to_string(i), 2 * i, 2 * i + 1); }) +
                     "\"__metadata__\":{}}")},
        {"one name twice at last",
         with_header("{" + repeated(large, [&](auto i) { return entry(std::to_string(i), 0, 0); }) +
                     "\"7\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}")},
        {"names in escapes, one twice",
         with_header("{" + repeated(large, [&](auto i) { return entry("\\u0041" + std::to_string(i), 0, 0); }) +
                     "\"A7\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}")},
        {"much metadata",
         with_header("{\"__metadata__\":{" +
                     repeated(large, [&](auto i) { return quoted(std::to_string(i)) + ":\"\","; }) + "\"x\":\"\"}}")},
        {"a tensor of 2^62 bytes",
         with_header(
             "{\"a\":{\"dtype\":\"U8\",\"shape\":[4611686018427387904],\"data_offsets\":[0,4611686018427387904]}}")}};
  if (target == "shard_index")
    return {{"brackets", "{\"weight_map\":" + std::string(large, '{')},
            {"many names and no end",
             "{\"weight_map\":{" +
                 repeated(large, [&](auto i) { return quoted(std::to_string(i)) + ":\"a.safetensors\","; })},
            {"one name twice",
             "{\"weight_map\":{" +
                 repeated(large, [&](auto i) { return quoted(std::to_string(i)) + ":\"a.safetensors\","; }) +
                 "\"3\":\"b.safetensors\"}}"},
            {"a way out of the folder", "{\"weight_map\":{\"a\":\"../x.safetensors\"}}"},
            {"much metadata",
             "{\"metadata\":{" + repeated(large, [&](auto i) { return quoted(std::to_string(i)) + ":1,"; })}};
  if (target == "checkpoint")
    return {
        {"many sections", marked(",\"twill.sections\":\"" + std::string(large, '/') + "\"")},
        {"many values", marked(repeated(large, [&](auto i) { return ",\"value." + std::to_string(i) + "\":\"i1\""; }))},
        {"no end", "12345678{\"__metadata__\":{\"twill.checksum\":\"" + std::string(large, '0')}};
  if (target == "csv")
    return {{"many rows, the last too short", repeated(large, [](auto) { return "1,2\n"; }) + "3\n"},
            {"many columns and one row without", repeated(large, [](auto) { return "1,"; }) + "1\n2\n"},
            {"quotes without an end", "x\n\"" + repeated(large, [](auto) { return "\"\"\n"; })},
            {"many empty lines, and text", "1\n" + std::string(large, '\n') + "x"},
            {"a long number", "1\n" + std::string(large, '9') + "\n-" + std::string(large, '9') + "x"},
            {"a long header", "\"" + repeated(large, [](auto) { return "\"\""; }) + "\"\nx\ny"}};
  if (target == "tokens")
    return {{"one token outside at last", std::string{"\x03\x03\x04\x06", 4} + std::string(large, '\1') + '\xff'},
            {"windows of no length", std::string{"\x00\x00\x02\x02", 4} + std::string(large, '\1')}};
  return {{"an extent of 2^32 - 1", std::string{"\0\0\x08\x01\xff\xff\xff\xff", 8}},
          {"rank 255", std::string{"\0\0\x08\xff", 4}}};
}

fuzz::Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

} // namespace

TEST_CASE("the fuzzers' corpus passes every reader", "[io][IO-4]") {
  const std::string folder = tests_folder();
  for (const fuzz::Target& target : fuzz::targets) {
    INFO(target.name);
    int files = 0;
    int accepted = 0;
    for (const auto& file : std::filesystem::directory_iterator{folder + "fuzz/corpus/" + std::string{target.name}}) {
      INFO(file.path().string());
      const std::string content = contents(file.path().string());
      accepted += target.run(bytes_of(content));
      for (const fuzz::Target& other : fuzz::targets) static_cast<void>(other.run(bytes_of(content)));
      ++files;
    }
    CHECK(files >= 3);
    CHECK(accepted >= 1);
    CHECK(accepted < files);
  }
}

TEST_CASE("hostile files are refused and take no more memory than they have bytes, plus one MiB", "[io][IO-4]") {
  for (const fuzz::Target& target : fuzz::targets)
    for (const auto& [what, file] : hostile(target.name)) {
      INFO(target.name << ": " << what << ", a file of " << file.size() << " bytes");
      bool accepted = true;
      const std::int64_t memory = memory_of([&] { accepted = target.run(bytes_of(file)); });
      CHECK(!accepted);
      // the target of checkpoints itself makes a copy, with the checksum put right
      const std::int64_t copy = target.name == "checkpoint" ? static_cast<std::int64_t>(file.size()) : 0;
      CHECK(memory - copy <= static_cast<std::int64_t>(file.size()) + mib);
    }
}

TEST_CASE("a column of hostile texts takes no more memory than its file has bytes, plus one MiB", "[io][IO-4]") {
  const std::size_t large = 3 << 20;
  const auto memory_for = [](const std::string& file, std::string& refused, io::CsvLabels& read,
                             const std::vector<std::string>& classes = {}) {
    return memory_of([&] {
      try {
        read = io::parse_csv_labels("csv", file, 0, classes);
      } catch (const ValueError& error) {
        refused = error.what();
      }
    });
  };
  const std::string distinct = repeated(large, [](auto i) { return std::to_string(i) + "\n"; });
  const std::string longer =
      repeated(large, [](auto i) { return "a text that is kept apart " + std::to_string(i) + "\n"; });
  const std::string doubled = "\"a \"\" " + std::string(large, 'a') + "\"";
  const std::vector<std::pair<std::string, std::string>> refusals{
      {"x\n" + distinct, "raise CsvOptions::max_labels"},
      {"x\n" + longer, "raise CsvOptions::max_labels"},
      {"x\n" + distinct + "y,z\n", "raise CsvOptions::max_labels"},
      {doubled + "\n" + distinct, "('a \" aaa"},
      {"x\n" + repeated(large, [](auto i) { return std::string(4000, 'a') + std::to_string(i) + "\n"; }) + "y,z\n",
       "ends after 2 columns"},
      {"x\n" + doubled + "\nNA\n", "'NA' is a missing value"}};
  for (const auto& [file, words] : refusals) {
    std::string refused{};
    io::CsvLabels read{};
    const std::int64_t memory = memory_for(file, refused, read);
    INFO(refused << ", a file of " << file.size() << " bytes");
    CHECK(refused.find(words) != std::string::npos);
    CHECK(memory <= static_cast<std::int64_t>(file.size()) + mib);
  }
  std::string refused{};
  io::CsvLabels read{};
  CHECK(memory_for("x\n" + doubled, refused, read, {"b"}) <= static_cast<std::int64_t>(doubled.size()) + mib);
  CHECK(refused.find("none of the 1 classes given") != std::string::npos);

  // Long texts that are read are held once. Labels come on top, of eight bytes each.
  const std::string apart =
      "x\n" + repeated(large, [](auto i) { return std::to_string(i) + " \"\" " + std::string(4000, 'a') + "\n"; });
  const std::int64_t memory = memory_for(apart, refused, read);
  CHECK(memory <= static_cast<std::int64_t>(apart.size() + 8 * read.labels.size()) + mib);
  CHECK(read.classes.size() == read.labels.size());
  CHECK(read.classes[700] == "700 \"\" " + std::string(4000, 'a')); // whose quotes began no cell
  const std::string repeating = "x\n" + repeated(large, [](auto i) { return std::to_string(i % 1000) + "\n"; });
  const std::int64_t most = memory_for(repeating, refused, read);
  CHECK(most <= static_cast<std::int64_t>(repeating.size() + 8 * read.labels.size()) + mib);
  CHECK(read.classes.size() == 1000);
  CHECK(read.labels[1234] == 234);
}
