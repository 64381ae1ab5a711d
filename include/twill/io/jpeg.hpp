#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// JPEG images as pixels of three bytes, by libjpeg-turbo: baseline, progressive, grey and colour. libjpeg reports
// errors by a function that must not return, here by longjmp, so the functions that call it own no objects with
// destructors. Some of its warnings are errors here, since pixels would be made up: a file that ends too early, and
// invalid codes. Not in the umbrella, because it needs libjpeg. Read next: io/image_folder.hpp.

#include <twill/core/config.hpp>
#include <twill/data/image.hpp>
#include <twill/io/image_reading.hpp>

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>

#include <jpeglib.h> // needs size_t and FILE

#include <jerror.h>

namespace twill { inline namespace v0 { namespace io {

namespace detail { inline namespace TWILL_ISA {

/// A JPEG being read. Steps return false after an error, whose text is then in `message`.
class JpegReading {
public:
  explicit JpegReading(std::span<const std::byte> bytes) : bytes_{bytes} {}
  JpegReading(const JpegReading&) = delete;
  JpegReading& operator=(const JpegReading&) = delete;
  ~JpegReading() { jpeg_destroy_decompress(&jpeg_); } // even one that was never made

  /// Reads the header, and asks for RGB.
  [[nodiscard]] bool read_header() {
    return guarded([](JpegReading& reading) {
      jpeg_create_decompress(&reading.jpeg_);
      reading.jpeg_.client_data = &reading;
      reading.progress_.progress_monitor = &JpegReading::watch;
      reading.jpeg_.progress = &reading.progress_;
      jpeg_mem_src(&reading.jpeg_, reinterpret_cast<const unsigned char*>(reading.bytes_.data()),
                   static_cast<unsigned long>(reading.bytes_.size()));
      jpeg_read_header(&reading.jpeg_, TRUE);
      reading.jpeg_.out_color_space = JCS_RGB;
    });
  }
  /// Fills height x width x 3 bytes.
  [[nodiscard]] bool read_pixels(std::uint8_t* to) {
    to_ = to;
    return guarded([](JpegReading& reading) {
      jpeg_start_decompress(&reading.jpeg_);
      while (reading.jpeg_.output_scanline < reading.jpeg_.output_height) {
        JSAMPROW row = reading.to_ + std::size_t{3} * reading.jpeg_.output_width * reading.jpeg_.output_scanline;
        jpeg_read_scanlines(&reading.jpeg_, &row, 1);
      }
      jpeg_finish_decompress(&reading.jpeg_);
    });
  }

  [[nodiscard]] std::int64_t height() const { return jpeg_.image_height; }
  [[nodiscard]] std::int64_t width() const { return jpeg_.image_width; }
  /// A block of 64 pixels has at least one bit.
  [[nodiscard]] std::uint64_t least_bytes() const {
    return std::uint64_t{jpeg_.image_height} * jpeg_.image_width / 512;
  }
  [[nodiscard]] const char* message() const { return message_.data(); }

private:
  /// The only frame that libjpeg jumps back to.
  [[nodiscard]] bool guarded(void (*step)(JpegReading&)) {
    jpeg_.err = jpeg_std_error(&errors_);
    errors_.error_exit = &JpegReading::fail;
    errors_.emit_message = &JpegReading::judge;
    jpeg_.client_data = this;
    if (setjmp(back_) != 0) return false;
    step(*this);
    return true;
  }
  [[noreturn]] static void fail(j_common_ptr jpeg) {
    auto& reading = *static_cast<JpegReading*>(jpeg->client_data);
    std::array<char, JMSG_LENGTH_MAX> text{};
    jpeg->err->format_message(jpeg, text.data());
    std::snprintf(reading.message_.data(), reading.message_.size(), "%s", text.data());
    std::longjmp(reading.back_, 1);
  }
  static void judge(j_common_ptr jpeg, int level) {
    const int code = jpeg->err->msg_code;
    if (level < 0 &&
        (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_ARITH_BAD_CODE))
      fail(jpeg);
  }
  /// Thousands of scans over large images are an attack, not an image.
  static void watch(j_common_ptr jpeg) {
    auto& reading = *static_cast<JpegReading*>(jpeg->client_data);
    if (reading.jpeg_.input_scan_number <= 500) return;
    std::snprintf(reading.message_.data(), reading.message_.size(), "it has more than 500 scans");
    std::longjmp(reading.back_, 1);
  }

  std::span<const std::byte> bytes_;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf back_{};
  std::uint8_t* to_ = nullptr;
  std::array<char, JMSG_LENGTH_MAX> message_{};
};

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

/// True for bytes that begin as a JPEG does.
[[nodiscard]] inline bool is_jpeg(std::span<const std::byte> bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{0xFF} && bytes[1] == std::byte{0xD8} && bytes[2] == std::byte{0xFF};
}

/// The image in the bytes of a JPEG file; `where` begins each message. throws: ValueError naming the damage
[[nodiscard]] inline data::Image<std::uint8_t> parse_jpeg(std::string_view where, std::span<const std::byte> bytes,
                                                          const ImageOptions& options = {}) {
  return detail::read_image<detail::JpegReading>(where, bytes, options);
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::io
