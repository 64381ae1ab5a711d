#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Recorded memory as an HTML page in one file that needs no other: for each pool a chart of the bytes in use over time,
// by the place that holds them, and tables of the places and allocations at the peak, or wherever one clicks. Read
// next: profile/memory_trace.hpp for trace viewers.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/io/json.hpp>
#include <twill/memory/recording.hpp>
#include <twill/profile/format.hpp>
#include <twill/profile/memory_trace.hpp>
#include <twill/profile/svg.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// Texts of the page.
struct MemoryPageOptions {
  std::string title = "memory"; ///< of the page
};

/// Recordings of several pools as the text of a page.
/// cost: about 50 bytes for each event; a browser draws some hundred thousand of them
[[nodiscard]] std::string memory_page(const std::vector<memory::MemoryTimeline>& lines,
                                      const MemoryPageOptions& options = {});
/// The recording of one pool as the text of a page.
[[nodiscard]] inline std::string memory_page(const memory::MemoryTimeline& line,
                                             const MemoryPageOptions& options = {}) {
  return memory_page(std::vector{line}, options);
}

/// Writes the page of a recording, or of several, to a file.    throws: SystemError
template <class Lines = std::vector<memory::MemoryTimeline>>
void save_memory_page(const std::string& path, const Lines& lines, const MemoryPageOptions& options = {}) {
  save_text("memory page", path, memory_page(lines, options));
}

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/memory_page.ipp>
#endif
