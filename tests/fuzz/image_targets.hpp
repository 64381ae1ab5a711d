#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The readers of images as fuzzers run them: what they accept has all its pixels. The committed corpus runs in
// tests/io/images.test.cpp.

#include "tests/fuzz/target.hpp"

#include <twill/io/jpeg.hpp>
#include <twill/io/png.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <zlib.h>

namespace twill::fuzz {

inline constexpr io::ImageOptions small_images{.max_pixels = 1 << 14};

/// Reads every pixel, and compares their number with the size.
inline void look_at(const data::Image<std::uint8_t>& image) {
  require(image.height > 0 && image.width > 0 && image.channels == 3, "an image without pixels");
  require(image.height * image.width <= small_images.max_pixels, "an image that is too large");
  require(image.values.size() == static_cast<std::size_t>(image.height * image.width * 3), "pixels and size");
  unsigned sum = 0;
  for (const std::uint8_t value : image.values) sum += value;
  require(sum <= 255 * image.values.size(), "a pixel");
}

/// A copy in which the checksum of every chunk is right.
inline std::string with_checksums(Bytes bytes) {
  constexpr std::size_t signature = 8;
  constexpr std::size_t around = 12; // length and type before a chunk's bytes, checksum behind them
  std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(text[at])}; };
  for (std::size_t at = signature; at + around <= text.size();) {
    const std::size_t length = byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
    if (length > text.size() - at - around) break;
    const auto checksum =
        ::crc32(0, reinterpret_cast<const Bytef*>(text.data()) + at + 4, static_cast<uInt>(length + 4));
    for (std::size_t i = 0; i < 4; ++i) text[at + 8 + length + i] = static_cast<char>(checksum >> (24 - 8 * i) & 0xFF);
    at += length + around;
  }
  return text;
}

/// As it is, and with the checksums put right, without which nothing behind them would be reached.
inline bool png(Bytes bytes) {
  const auto read = [](Bytes whole) { look_at(io::parse_png("png", whole, small_images)); };
  if (accepts([&] { read(bytes); })) return true;
  const std::string text = with_checksums(bytes);
  return accepts([&] { read(std::as_bytes(std::span{text})); });
}
inline bool jpeg(Bytes bytes) {
  return accepts([&] { look_at(io::parse_jpeg("jpeg", bytes, small_images)); });
}

inline constexpr std::array<Target, 2> image_targets{{{"png", &png}, {"jpeg", &jpeg}}};

} // namespace twill::fuzz
