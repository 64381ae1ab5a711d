#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/image_options.hpp.

#include <twill/io/image_options.hpp>

namespace twill::inline v0::io {

TWILL_BODY void require_pixels(std::string_view where, std::int64_t height, std::int64_t width,
                               const ImageOptions& options) {
  if (height < 1 || width < 1)
    throw ValueError(join_text({where, " is damaged: it claims ", height, " x ", width, " pixels"}));
  if (height > options.max_pixels / width)
    throw ValueError(join_text({where, " claims ", height, " x ", width, " pixels, more than the ", options.max_pixels,
                                " allowed; raise ImageOptions::max_pixels if that is meant"}));
}

} // namespace twill::inline v0::io
