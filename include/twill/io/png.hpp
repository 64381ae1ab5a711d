#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// PNG images as pixels of three bytes, by libpng: palettes, grey, 16 bits and interlacing become plain RGB,
// transparency is dropped as Pillow's convert("RGB") drops it. libpng reports errors by longjmp, so the functions that
// call it own no objects with destructors. Not in the umbrella, because it needs libpng. Read next:
// io/image_folder.hpp.

#include <twill/core/config.hpp>
#include <twill/data/image.hpp>
#include <twill/io/image_reading.hpp>

#include <png.h>

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

namespace twill { inline namespace v0 { namespace io {

namespace detail { inline namespace TWILL_ISA {

/// A PNG being read. Steps return false after an error, whose text is then in `message`.
class PngReading {
public:
  explicit PngReading(std::span<const std::byte> bytes) : bytes_{bytes} {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &PngReading::fail, &PngReading::ignore);
    if (png_ == nullptr) return;
    png_set_chunk_cache_max(png_, 1);          // texts are skipped: inflated, they take a thousand times the file
    png_set_chunk_malloc_max(png_, 8'000'000); // for other chunks, a colour profile for example
    info_ = png_create_info_struct(png_);
  }
  PngReading(const PngReading&) = delete;
  PngReading& operator=(const PngReading&) = delete;
  ~PngReading() { png_destroy_read_struct(&png_, &info_, nullptr); }

  /// Reads the header, and asks for RGB.
  [[nodiscard]] bool read_header() {
    return info_ != nullptr && guarded([](PngReading& reading) {
             png_set_read_fn(reading.png_, &reading, &PngReading::give);
             png_read_info(reading.png_, reading.info_);
             reading.height_ = png_get_image_height(reading.png_, reading.info_);
             reading.width_ = png_get_image_width(reading.png_, reading.info_);
             reading.row_bytes_ = png_get_rowbytes(reading.png_, reading.info_);
             png_set_expand(reading.png_);
             png_set_scale_16(reading.png_);
             png_set_strip_alpha(reading.png_);
             png_set_gray_to_rgb(reading.png_);
             reading.passes_ = png_set_interlace_handling(reading.png_);
             png_read_update_info(reading.png_, reading.info_);
             if (png_get_rowbytes(reading.png_, reading.info_) != std::size_t{3} * reading.width_)
               png_error(reading.png_, "its pixels cannot be converted to RGB");
           });
  }
  /// Fills height x width x 3 bytes.
  [[nodiscard]] bool read_pixels(std::uint8_t* to) {
    to_ = to;
    return guarded([](PngReading& reading) {
      for (int pass = 0; pass < reading.passes_; ++pass)
        for (std::uint32_t y = 0; y < reading.height_; ++y)
          png_read_row(reading.png_, reading.to_ + std::size_t{3} * reading.width_ * y, nullptr);
      png_read_end(reading.png_, nullptr);
    });
  }

  [[nodiscard]] std::int64_t height() const { return height_; }
  [[nodiscard]] std::int64_t width() const { return width_; }
  /// A stream of zlib's unfolds to at most 1032 times its size, here to the rows as the file has them.
  [[nodiscard]] std::uint64_t least_bytes() const { return std::uint64_t{row_bytes_} * height_ / 1032; }
  [[nodiscard]] const char* message() const { return message_.data(); }

private:
  /// The only frame that libpng jumps back to.
  [[nodiscard]] bool guarded(void (*step)(PngReading&)) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    step(*this);
    return true;
  }
  [[noreturn]] static void fail(png_structp png, png_const_charp text) {
    auto& reading = *static_cast<PngReading*>(png_get_error_ptr(png));
    std::snprintf(reading.message_.data(), reading.message_.size(), "%s", text);
    png_longjmp(png, 1);
  }
  static void ignore(png_structp /*png*/, png_const_charp /*text*/) {}
  static void give(png_structp png, png_bytep to, std::size_t count) {
    auto& reading = *static_cast<PngReading*>(png_get_io_ptr(png));
    if (count > reading.bytes_.size() - reading.at_) png_error(png, "it ends too early");
    std::memcpy(to, reading.bytes_.data() + reading.at_, count);
    reading.at_ += count;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::uint32_t height_ = 0;
  std::uint32_t width_ = 0;
  std::size_t row_bytes_ = 0;
  int passes_ = 1;
  std::uint8_t* to_ = nullptr;
  std::array<char, 160> message_{"libpng has no memory"};
};

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

/// True for bytes that begin as a PNG does.
[[nodiscard]] inline bool is_png(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, 8) == 0;
}

/// The image in the bytes of a PNG file; `where` begins each message. throws: ValueError naming the damage
[[nodiscard]] inline data::Image<std::uint8_t> parse_png(std::string_view where, std::span<const std::byte> bytes,
                                                         const ImageOptions& options = {}) {
  return detail::read_image<detail::PngReading>(where, bytes, options);
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::io
