#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How large an image of a file may be. A small file can claim, and hold, an image of gigabytes, so there is a limit unless
// somebody wants more. Read next: io/image_folder.hpp.

#include <twill/core/config.hpp>
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
void require_pixels(std::string_view where, std::int64_t height, std::int64_t width, const ImageOptions& options);

} // namespace twill::inline v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/image_options.ipp>
#endif
