// SPDX-License-Identifier: Apache-2.0
//
// Token files: windows and what follows them, through a loader, with every size of token, and what is refused.

#include "tests/support/temporary_folder.hpp"

#include <twill/data/loader.hpp>
#include <twill/io/tokens.hpp>
#include <twill/tensor/access.hpp>

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

template <class T> std::string as_bytes(const std::vector<T>& tokens) {
  std::string text(tokens.size() * sizeof(T), '\0');
  std::memcpy(text.data(), tokens.data(), text.size());
  return text;
}

template <class Stored, std::int64_t Length = dyn>
std::string refusal(const std::string& content, const io::TokenOptions& options) {
  try {
    const io::TokenDataset<Stored, Length> tokens("tokens", std::as_bytes(std::span{content}), nullptr, options);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "nothing";
}

using Tokens = std::vector<std::int64_t>;

} // namespace

TEST_CASE("windows of a token file come with what follows each token", "[io][TRAIN-8]") {
  const TemporaryFolder folder;
  overwrite(folder / "train.bin", as_bytes<std::uint16_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 50256}));
  const io::TokenDataset<std::uint16_t, 4> text(folder / "train.bin", {.vocabulary = 50257});
  static_assert(data::Dataset<io::TokenDataset<std::uint16_t, 4>>);
  CHECK(text.size() == 2); // the second ends at 8, of which 50256 is the next
  CHECK(text.tokens() == 10);
  data::DataLoader loader(text, data::ShuffledSampler{.seed = 1}, Cpu{}, {.batch_size = 2, .workers = 2});
  const auto order = data::ShuffledSampler{.seed = 1}.order(2, 0);
  for (auto [window, next] : loader) {
    static_assert(std::same_as<decltype(window), Tensor<std::int64_t, Cpu, Shape<dyn, 4>>>);
    const Tokens expected = order[0] == 0 ? Tokens{0, 1, 2, 3, 4, 5, 6, 7} : Tokens{4, 5, 6, 7, 0, 1, 2, 3};
    CHECK(to_vector(window) == expected);
    CHECK(to_vector(next) == (order[0] == 0 ? Tokens{1, 2, 3, 4, 5, 6, 7, 8} : Tokens{5, 6, 7, 8, 1, 2, 3, 4}));
  }

  const io::TokenDataset<std::uint16_t> overlapping(folder / "train.bin",
                                                    {.stride = 1, .length = 3, .header_bytes = 2});
  CHECK(overlapping.size() == 6);
  CHECK(overlapping.row_dims()[1] == Dims(3));
  Tokens window(3);
  Tokens next(3);
  overlapping.read(5, window, next);
  CHECK(window == Tokens{6, 7, 8});
  CHECK(next == Tokens{7, 8, 50256});
}

TEST_CASE("texts are tokens of one byte, and tokens have up to four", "[io][TRAIN-8]") {
  const TemporaryFolder folder;
  overwrite(folder / "text", "hello\xFF");
  Tokens window(5);
  Tokens next(5);
  io::TokenDataset<std::uint8_t, 5>(folder / "text").read(0, window, next);
  CHECK(window == Tokens{'h', 'e', 'l', 'l', 'o'});
  CHECK(next == Tokens{'e', 'l', 'l', 'o', 255});
  overwrite(folder / "wide", as_bytes<std::uint32_t>({4294967295, 0, 70000}));
  window.resize(2);
  next.resize(2);
  io::TokenDataset<std::uint32_t, 2>(folder / "wide").read(0, window, next);
  CHECK(window == Tokens{4294967295, 0});
  CHECK(next == Tokens{0, 70000});
}

TEST_CASE("tokens outside of the vocabulary are refused by value and place", "[io][TRAIN-8]") {
  const std::string content = as_bytes<std::uint16_t>({1, 2, 3, 9, 4, 5, 6, 7});
  const io::TokenDataset<std::uint16_t, 2> tokens("tokens", std::as_bytes(std::span{content}), nullptr,
                                                  {.vocabulary = 9});
  Tokens window(2);
  Tokens next(2);
  tokens.read(0, window, next);
  CHECK_THROWS_WITH(tokens.read(1, window, next), "tokens: token 9 at position 3 is outside of a vocabulary of 9");
  data::DataLoader loader(tokens, data::SequentialSampler{}, Cpu{}, {.batch_size = 1, .workers = 1});
  int batches = 0;
  CHECK_THROWS_AS(
      [&] {
        for (auto [x, y] : loader) ++batches;
      }(),
      IndexError);
  CHECK(batches == 1);
}

TEST_CASE("token files that hold no window are refused", "[io][IO-4]") {
  CHECK(refusal<std::uint16_t, 2>("abcde", {}) ==
        "tokens has 5 bytes, 0 of them before the first token; the rest is not a multiple of 2");
  CHECK(refusal<std::uint16_t, 2>("abcd", {}) == "tokens has 2 tokens, a window of 2 and its next token need one more");
  CHECK(refusal<std::uint8_t, 2>("abc", {}) == "nothing");
  CHECK(refusal<std::uint8_t, 2>("abc", {.header_bytes = 4}) ==
        "tokens has 3 bytes, 4 of them before the first token; the rest is not a multiple of 1");
  CHECK(refusal<std::uint8_t>("abc", {}).find("length, stride and vocabulary are at least 1, got 0") !=
        std::string::npos);
  CHECK(refusal<std::uint8_t, 2>("abc", {.length = 3}) ==
        "tokens: the type's windows have 2 tokens, the option says 3");
}
