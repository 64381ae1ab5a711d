#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A file of tokens, little-endian unsigned integers of one, two or four bytes, as samples for a language model: windows
// of tokens, and the same windows one token later. A text file has tokens of one byte. The file is mapped, so windows
// are paged in as they are asked for, and files may be larger than memory. Read next: data/loader.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/data/dataset.hpp>
#include <twill/io/files.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

static_assert(std::endian::native == std::endian::little, "twill: tokens: files are read little-endian");

namespace twill { inline namespace v0 { namespace io {

/// The type of a token in a file.
template <class T>
concept TokenStorage =
    std::same_as<T, std::uint8_t> || std::same_as<T, std::uint16_t> || std::same_as<T, std::uint32_t>;

/// How a file of tokens is cut into samples.
struct TokenOptions {
  std::int64_t vocabulary = 0; ///< Tokens are below it; 0: all that the file can hold.
  std::int64_t stride = 0;     ///< From the start of a window to that of the next; 0: the length, so that none overlap.
  std::int64_t length = 0;     ///< Tokens in a window, where the type leaves it `dyn`.
  std::int64_t header_bytes = 0; ///< Bytes before the first token.
};

inline namespace TWILL_ISA {

/// Windows of a file's tokens: `TokenDataset<std::uint16_t, 128> text("train.bin", {.vocabulary = 50257})`. A sample is
/// a window, and for each of its tokens the next one.
template <TokenStorage Stored, std::int64_t Length = dyn> class TokenDataset {
public:
  /// A sample: tokens, and the next one of each.
  using Fields = data::Fields<data::Field<std::int64_t, Shape<Length>>, data::Field<std::int64_t, Shape<Length>>>;

  /// throws: SystemError when the file cannot be read, ValueError when it does not hold one window
  explicit TokenDataset(const std::string& path, const TokenOptions& options = {})
      : TokenDataset{join_text({"TokenDataset: '", path, "'"}), std::make_shared<const MappedFile>(path), options} {}

  /// Windows of bytes that `owner` keeps; `where` begins each message.
  TokenDataset(std::string where, std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
               const TokenOptions& options)
      : where_{std::move(where)}, owner_{std::move(owner)} {
    constexpr std::int64_t stored_values = std::int64_t{std::numeric_limits<Stored>::max()} + 1;
    length_ = Length == dyn ? options.length : Length;
    stride_ = options.stride == 0 ? length_ : options.stride;
    vocabulary_ = options.vocabulary == 0 ? stored_values : options.vocabulary;
    if (length_ < 1 || stride_ < 1 || vocabulary_ < 1 || options.header_bytes < 0)
      throw ValueError(
          join_text({where_, ": length, stride and vocabulary are at least 1, got ", length_, ", ", stride_, " and ",
                     vocabulary_, ", header_bytes at least 0, got ", options.header_bytes}));
    if (Length != dyn && options.length != 0 && options.length != Length)
      throw ValueError(
          join_text({where_, ": the type's windows have ", Length, " tokens, the option says ", options.length}));
    const auto size = static_cast<std::int64_t>(bytes.size());
    if (size < options.header_bytes || (size - options.header_bytes) % std::int64_t{sizeof(Stored)} != 0)
      throw ValueError(join_text({where_, " has ", size, " bytes, ", options.header_bytes,
                                  " of them before the first token; the rest is not a multiple of ", sizeof(Stored)}));
    tokens_ = bytes.data() + options.header_bytes;
    count_ = (size - options.header_bytes) / std::int64_t{sizeof(Stored)};
    if (count_ - 1 < length_)
      throw ValueError(
          join_text({where_, " has ", count_, " tokens, a window of ", length_, " and its next token need one more"}));
  }

  /// How many windows there are.
  [[nodiscard]] std::int64_t size() const { return (count_ - 1 - length_) / stride_ + 1; }
  /// How many tokens the file has.
  [[nodiscard]] std::int64_t tokens() const { return count_; }
  /// The extents of both parts of a sample.
  [[nodiscard]] std::array<Dims, 2> row_dims() const { return {Dims(length_), Dims(length_)}; }

  /// throws: IndexError naming a token outside of the vocabulary, and its place
  void read(std::int64_t index, std::span<std::int64_t> window, std::span<std::int64_t> next) const {
    const std::int64_t begin = index * stride_;
    for (std::int64_t i = 0; i < length_; ++i) window[static_cast<std::size_t>(i)] = token(begin + i);
    for (std::int64_t i = 0; i < length_; ++i)
      next[static_cast<std::size_t>(i)] =
          i + 1 < length_ ? window[static_cast<std::size_t>(i) + 1] : token(begin + length_);
  }

private:
  TokenDataset(std::string where, std::shared_ptr<const MappedFile> file, const TokenOptions& options)
      : TokenDataset{std::move(where), file->bytes(), file, options} {}

  [[nodiscard]] std::int64_t token(std::int64_t position) const {
    Stored value{};
    std::memcpy(&value, tokens_ + static_cast<std::size_t>(position) * sizeof(Stored), sizeof(Stored));
    if (std::int64_t{value} >= vocabulary_)
      throw IndexError(join_text(
          {where_, ": token ", value, " at position ", position, " is outside of a vocabulary of ", vocabulary_}));
    return value;
  }

  std::string where_;
  std::shared_ptr<const void> owner_;
  const std::byte* tokens_ = nullptr;
  std::int64_t count_ = 0;
  std::int64_t length_ = 0;
  std::int64_t stride_ = 0;
  std::int64_t vocabulary_ = 0;
};

} // namespace TWILL_ISA

}}} // namespace twill::v0::io
