#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The reading of an image file, which may be hostile, in the order that all formats share: the header, then a size that
// is allowed and that the bytes can hold, and only then is memory taken and filled. A small file can claim, and hold,
// an image of gigabytes, so there is a limit. A format brings its reading in two steps. Read next: io/png.hpp,
// io/jpeg.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/data/image.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace twill { inline namespace v0 { namespace io {

/// How large images of files may be.
struct ImageOptions {
  std::int64_t max_pixels = std::int64_t{1} << 27; ///< Larger images are refused before memory is taken for them.
};

namespace detail { inline namespace TWILL_ISA {

/// An image being read from bytes that stay where they are. Steps return false after an error, whose text is then in
/// `message`; height, width and the least number of bytes that can unfold to the pixels are known after the first.
template <class R>
concept ImageReading = std::constructible_from<R, std::span<const std::byte>> &&
    requires(R& reading, const R& known, std::uint8_t* to) {
  { reading.read_header() } -> std::same_as<bool>;
  { reading.read_pixels(to) } -> std::same_as<bool>; // fills height x width x 3 bytes
  { known.height() } -> std::same_as<std::int64_t>;
  { known.width() } -> std::same_as<std::int64_t>;
  { known.least_bytes() } -> std::same_as<std::uint64_t>;
  { known.message() } -> std::convertible_to<std::string_view>;
};

/// The image in the bytes of a file; `where` begins each message. throws: ValueError naming the damage
template <ImageReading Reading>
[[nodiscard]] data::Image<std::uint8_t> read_image(std::string_view where, std::span<const std::byte> bytes,
                                                   const ImageOptions& options) {
  Reading reading{bytes};
  const auto damaged = [&] { return ValueError(join_text({where, " is damaged: ", reading.message()})); };
  if (!reading.read_header()) throw damaged();
  const std::int64_t height = reading.height();
  const std::int64_t width = reading.width();
  if (height < 1 || width < 1)
    throw ValueError(join_text({where, " is damaged: it claims ", height, " x ", width, " pixels"}));
  if (height > options.max_pixels / width)
    throw ValueError(join_text({where, " claims ", height, " x ", width, " pixels, more than the ", options.max_pixels,
                                " allowed; raise ImageOptions::max_pixels if that is meant"}));
  if (reading.least_bytes() > bytes.size())
    throw ValueError(
        join_text({where, " is damaged: ", height, " x ", width, " pixels cannot come from ", bytes.size(), " bytes"}));
  auto image = data::Image<std::uint8_t>::blank(height, width, 3);
  if (!reading.read_pixels(image.values.data())) throw damaged();
  return image;
}

}} // namespace detail::TWILL_ISA

}}} // namespace twill::v0::io
