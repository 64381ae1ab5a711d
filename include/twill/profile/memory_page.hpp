#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Recorded memory as a page for a browser, in one file that needs no other: for each pool a chart of the bytes in use over
// time, by the place that holds them, and tables of who holds what at the peak, or wherever one clicks. Read next:
// profile/memory_trace.hpp for viewers of traces.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/core/utf8.hpp>
#include <twill/io/json.hpp>
#include <twill/memory/recording.hpp>
#include <twill/profile/detail/memory_page_text.hpp>
#include <twill/profile/gantt.hpp>
#include <twill/profile/memory_lives.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace twill::inline v0::profile {

namespace detail {

/// Text as JSON in which nothing can end the element of the page that it stands in.
[[nodiscard]] std::string json_in_page(std::string_view text);

[[nodiscard]] std::string memory_page_data(const memory::MemoryTimeline& line);

} // namespace detail

/// Texts of the page.
struct MemoryPageOptions {
  std::string title = "memory"; ///< of the page
};

/// What was recorded of several pools, as the text of a page.
/// cost: about 50 bytes for each event; a browser draws some hundred thousand of them
[[nodiscard]] std::string memory_page(const std::vector<memory::MemoryTimeline>& lines,
                                      const MemoryPageOptions& options = {});
/// Of one.
[[nodiscard]] std::string memory_page(const memory::MemoryTimeline& line, const MemoryPageOptions& options = {});

/// Writes the page to a file.    throws: SystemError
void save_memory_page(const std::string& path, const std::vector<memory::MemoryTimeline>& lines,
                      const MemoryPageOptions& options = {});
void save_memory_page(const std::string& path, const memory::MemoryTimeline& line,
                      const MemoryPageOptions& options = {});

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/memory_page.ipp>
#endif
