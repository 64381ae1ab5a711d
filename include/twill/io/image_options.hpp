#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How large an image of a file may be. A small file can claim, and hold, an image of gigabytes, so there is a limit unless
// somebody wants more. Read next: io/image_folder.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <cstdint>
#include <string_view>

namespace twill::inline v0::io {

/// What images are converted to when they are read, and how large they may be.
struct ImageOptions {
  std::int64_t max_pixels = std::int64_t{1} << 27; ///< Larger images are refused before memory is taken for them.
};

/// throws: ValueError, `where` first, for an image without pixels or with too many
inline void require_pixels(std::string_view where, std::int64_t height, std::int64_t width,
                           const ImageOptions& options) {
  if (height < 1 || width < 1)
    throw ValueError(join_text({where, " is damaged: it claims ", height, " x ", width, " pixels"}));
  if (height > options.max_pixels / width)
    throw ValueError(join_text({where, " claims ", height, " x ", width, " pixels, more than the ", options.max_pixels,
                                " allowed; raise ImageOptions::max_pixels if that is meant"}));
}

} // namespace twill::inline v0::io
