#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of memory/fragmentation.hpp.

#include <twill/memory/fragmentation.hpp>

namespace twill { inline namespace v0 { namespace memory {

TWILL_BODY double Fragmentation::share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

TWILL_BODY Fragmentation fragmentation(const std::vector<SegmentSnapshot>& segments) {
  Fragmentation figures{};
  for (const SegmentSnapshot& segment : segments) {
    figures.reserved += segment.bytes;
    if (segment.blocks.size() == 1 && !segment.blocks.front().in_use) figures.returnable += segment.bytes;
    for (const BlockSnapshot& block : segment.blocks) {
      if (block.in_use) {
        figures.used += block.bytes;
        figures.requested += block.requested;
        figures.largest_request = std::max(figures.largest_request, block.requested);
      } else {
        figures.free += block.bytes;
        ++figures.free_blocks;
        figures.largest_free = std::max(figures.largest_free, block.bytes);
      }
    }
  }
  for (const SegmentSnapshot& segment : segments)
    for (const BlockSnapshot& block : segment.blocks)
      if (!block.in_use && block.bytes < figures.largest_request) figures.too_small += block.bytes;
  return figures;
}

}}} // namespace twill::v0::memory
