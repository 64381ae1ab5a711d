// SPDX-License-Identifier: Apache-2.0
//
// More lines of docs/reference/data.md, which need libpng and libjpeg.

#include <twill/data.hpp>
#include <twill/io/image_folder.hpp>
#include <twill/twill.hpp>

#include <cstddef>
#include <span>

using namespace twill;

// clang-format off

void images(std::span<const std::byte> bytes) {
  { const auto picture = io::load_image("cat.png"); }
  { const auto picture = io::parse_jpeg("cat.jpg", bytes); }
  { const auto picture = io::parse_png("cat.png", bytes); }
  { const io::ImageFolder cats_and_dogs{"train"}; }
}
