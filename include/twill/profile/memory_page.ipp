#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/memory_page.hpp.

#include <twill/profile/memory_page.hpp>

namespace twill::inline v0::profile {
namespace detail {

TWILL_BODY std::string json_in_page(std::string_view text) {
  std::string result;
  for (const char c : io::json_quoted(repaired_utf8(text))) {
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  }
  return result;
}

TWILL_BODY std::string memory_page_data(const memory::MemoryTimeline& line) {
  const MemoryLives all_lives = lives_of(line);
  std::vector<std::int64_t> life_of_event(line.events.size(), 0); // its number + 1, negative where it ends
  std::string lives;
  for (std::size_t i = 0; i < all_lives.lives.size(); ++i) {
    const MemoryLife& life = all_lives.lives[i];
    if (!life.begins_before()) life_of_event[life.begin_event] = static_cast<std::int64_t>(i) + 1;
    if (!life.ends_after()) life_of_event[life.end_event] = -static_cast<std::int64_t>(i) - 1;
    lives += join_text({i > 0 ? ",[" : "[", life.bytes, ",", life.requested, ",", life.place, ",",
                        life.begins_before() ? -1 : static_cast<std::int64_t>(life.begin_event), ",",
                        life.ends_after() ? line.events.size() + 1 : life.end_event, "]"});
  }
  std::string events;
  for (std::size_t i = 0; i < line.events.size(); ++i)
    events += join_text({i > 0 ? ",[" : "[", fixed(line.events[i].seconds - line.begin_seconds, 7), ",",
                         life_of_event[i], ",", line.events[i].reserved, "]"});
  std::string places;
  for (const std::string& place : all_lives.places)
    places += join_text({places.empty() ? "" : ",", json_in_page(place)});
  return join_text(
      {"{\"pool\":", json_in_page(line.pool), ",\"seconds\":", fixed(line.end_seconds - line.begin_seconds, 7),
       ",\"reserved_before\":", line.reserved_before, ",\"overwritten\":", line.overwritten, ",\"lost\":", line.lost,
       ",\n\"places\":[", places, "],\n\"lives\":[", lives, "],\n\"events\":[", events, "]}"});
}

} // namespace detail

TWILL_BODY std::string memory_page(const std::vector<memory::MemoryTimeline>& lines, const MemoryPageOptions& options) {
  std::string data;
  for (const memory::MemoryTimeline& line : lines)
    data += join_text({data.empty() ? "" : ",\n", detail::memory_page_data(line)});
  const std::string title = detail::escape_xml(options.title);
  return join_text({"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>", title,
                    "</title>\n<style>", detail::memory_page_styles, "</style>\n</head>\n<body>\n<h1>", title,
                    "</h1>\n<div id=\"pools\"></div>\n<script type=\"application/json\" id=\"data\">[", data,
                    "]</script>\n<script>", detail::memory_page_script, "</script>\n</body>\n</html>\n"});
}

TWILL_BODY std::string memory_page(const memory::MemoryTimeline& line, const MemoryPageOptions& options) {
  return memory_page(std::vector{line}, options);
}

TWILL_BODY void save_memory_page(const std::string& path, const std::vector<memory::MemoryTimeline>& lines,
                                 const MemoryPageOptions& options) {
  detail::write_text(path, memory_page(lines, options), "memory page");
}

TWILL_BODY void save_memory_page(const std::string& path, const memory::MemoryTimeline& line,
                                 const MemoryPageOptions& options) {
  detail::write_text(path, memory_page(line, options), "memory page");
}

} // namespace twill::inline v0::profile
