#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of memory/summary.hpp.

#include <twill/memory/summary.hpp>

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

TWILL_BODY std::string summary_table(std::string_view device, const MemoryStats& stats, const DeviceMemory& whole) {
  struct Line {
    std::string_view name;
    Counter ClassStats::*counter;
    bool bytes;
  };
  constexpr Line lines[] = {
      {"allocated memory", &ClassStats::allocated_bytes, true},
      {"requested memory", &ClassStats::requested_bytes, true},
      {"active memory", &ClassStats::active_bytes, true},
      {"reserved memory", &ClassStats::reserved_bytes, true},
      {"inactive split memory", &ClassStats::inactive_split_bytes, true},
      {"allocations", &ClassStats::allocation, false},
      {"segments", &ClassStats::segment, false},
      {"inactive split blocks", &ClassStats::inactive_split, false},
  };
  const std::string rule = "+" + std::string(25, '-') + "+" + std::string(12, '-') + "+" + std::string(12, '-') + "+" +
                           std::string(12, '-') + "+" + std::string(12, '-') + "+\n";
  const auto row = [](std::string_view name, const std::string& current, const std::string& peak,
                      const std::string& allocated, const std::string& freed) {
    char text[128];
    std::snprintf(text, sizeof text, "| %-23.*s | %10s | %10s | %10s | %10s |\n", static_cast<int>(name.size()),
                  name.data(), current.c_str(), peak.c_str(), allocated.c_str(), freed.c_str());
    return std::string{text};
  };

  std::string table = std::string{"memory of "} + std::string{device} + ": " + format_bytes(whole.used) + " used" +
                      (whole.context > 0 ? " (" + format_bytes(whole.context) + " by the context)" : "") +
                      (whole.working > 0 ? " (" + format_bytes(whole.working) + " as working memory)" : "") + ", " +
                      format_bytes(whole.free) + " free of " + format_bytes(whole.total) + "; out of memory " +
                      std::to_string(stats.out_of_memory) + " times, " + std::to_string(stats.retries) + " retries\n";
  table += rule + row("", "current", "peak", "allocated", "freed") + rule;
  for (const Line& line : lines) {
    const auto cells = [&](std::string_view name, const Counter& counter) {
      const auto cell = [&](std::int64_t value) { return line.bytes ? format_bytes(value) : std::to_string(value); };
      table += row(name, cell(counter.current), cell(counter.peak), cell(counter.allocated), cell(counter.freed));
    };
    cells(line.name, stats.all.*line.counter);
    cells("  from the large pool", stats.large.*line.counter);
    cells("  from the small pool", stats.small.*line.counter);
  }
  return table + rule;
}

TWILL_BODY std::string fragmentation_text(const Fragmentation& figures) {
  const auto percent = [](double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f%%", 100 * share);
    return std::string{text};
  };
  return join_text({"free: ",
                    format_bytes(figures.free),
                    " in ",
                    figures.free_blocks,
                    " blocks, the largest of ",
                    format_bytes(figures.largest_free),
                    "; empty_cache would return ",
                    format_bytes(figures.returnable),
                    "\nexternal fragmentation: ",
                    percent(figures.external()),
                    " of the free bytes are outside of the largest free block, ",
                    percent(figures.unusable()),
                    " in blocks too small for another request of ",
                    format_bytes(figures.largest_request),
                    ", the largest now",
                    "\ninternal fragmentation: ",
                    percent(figures.internal()),
                    " of the used bytes were not requested (",
                    format_bytes(figures.used - figures.requested),
                    " of ",
                    format_bytes(figures.used),
                    ")\n"});
}

}}} // namespace twill::v0::memory
