#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Images before they become part of a batch: of any size at run time, with the channels of a pixel side by side, as
// decoders deliver them. With them, the random numbers of a sample, a pure function of seed, epoch and index, so that
// neither workers nor a restart change them. Read next: data/transforms.hpp, data/image_dataset.hpp.

#include <twill/core/config.hpp>
#include <twill/core/philox.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

/// The type of a channel of a pixel: a byte, or a float.
template <class T>
concept PixelValue = std::same_as<T, std::uint8_t> || std::same_as<T, float>;

/// Rows of pixels, the values of a pixel one after the other.
template <PixelValue T> struct Image {
  std::int64_t height = 0;   ///< rows
  std::int64_t width = 0;    ///< pixels in a row
  std::int64_t channels = 0; ///< 1 for grey, 3 for red, green and blue
  std::vector<T> values{};   ///< height * width * channels of them

  /// All values are zero.
  [[nodiscard]] static Image blank(std::int64_t height, std::int64_t width, std::int64_t channels) {
    return {height, width, channels, std::vector<T>(static_cast<std::size_t>(height * width * channels))};
  }
  /// requires: y < height, x < width, channel < channels
  [[nodiscard]] T& operator()(std::int64_t y, std::int64_t x, std::int64_t channel) {
    return values[static_cast<std::size_t>((y * width + x) * channels + channel)];
  }
  [[nodiscard]] T operator()(std::int64_t y, std::int64_t x, std::int64_t channel) const {
    return values[static_cast<std::size_t>((y * width + x) * channels + channel)];
  }
};

/// The random numbers of one sample in one epoch, one after the other. Draw i is the block of Philox 4x32-10 with
/// counter (i, index low, index high, epoch) and the seed, its high word changed, as key: other numbers than a
/// sampler's of this seed.
class SampleDraws {
public:
  /// The draws of one sample in one epoch, on any thread.
  constexpr SampleDraws(std::uint64_t seed, std::int64_t epoch, std::int64_t index)
      : seed_{seed ^ 0x7472616e00000000U}, epoch_{epoch}, index_{static_cast<std::uint64_t>(index)} {}

  /// Uniform in [0, 1), a multiple of 2^-24.
  [[nodiscard]] constexpr float uniform() { return uniform_from_bits(next()[0]); }
  /// Uniform in 0, ..., range - 1. requires: range > 0
  [[nodiscard]] constexpr std::int64_t integer(std::int64_t range) {
    const auto words = next();
    return static_cast<std::int64_t>(integer_from_words(words.data(), static_cast<std::uint64_t>(range)));
  }

private:
  [[nodiscard]] constexpr std::array<std::uint32_t, 4> next() {
    return philox4x32({count_++, static_cast<std::uint32_t>(index_), static_cast<std::uint32_t>(index_ >> 32),
                       static_cast<std::uint32_t>(epoch_)},
                      {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
  }

  std::uint64_t seed_;
  std::int64_t epoch_;
  std::uint64_t index_;
  std::uint32_t count_ = 0;
};

}}}} // namespace twill::v0::data::TWILL_ISA
