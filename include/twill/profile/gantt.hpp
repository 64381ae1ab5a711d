#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pictures of a pipeline, simulated or carried out: a Gantt chart as a self-contained SVG, a row for each rank and a box for
// each action, and a trace in the Trace Event Format that chrome://tracing and Perfetto open. Both show the same timeline.
// Colours are those of Okabe and Ito (2008). Read next: parallel/pipeline/simulate.hpp, where timelines come from.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/pipeline/simulate.hpp>
#include <twill/profile/svg_plot.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>

namespace twill::inline v0::profile {

struct GanttOptions {
  std::string title = {};
  std::string time_label = "time";
  int width_px = 960;
  int row_px = 30;
};

namespace detail {

[[nodiscard]] constexpr std::string_view colour_of(pipeline::Work work) {
  using enum pipeline::Work;
  switch (work) {
  case forward:
    return "#56B4E9";
  case backward:
    return "#E69F00";
  case input_gradient:
    return "#E69F00";
  case weight_gradient:
    return "#009E73";
  default:
    return "#7A7A7A";
  }
}
[[nodiscard]] constexpr std::string_view words_of(pipeline::Work work) {
  constexpr std::string_view all[] = {"forward", "backward", "gradient of the input", "gradient of the weights"};
  return is_computed(work) ? all[static_cast<int>(work)] : std::string_view{"transfer"};
}

/// Writes a text file.    throws: SystemError
inline void write_text(const std::string& path, const std::string& text, std::string_view what) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw SystemError(join_text({what, ": cannot write ", path}));
}

} // namespace detail

/// The Gantt chart of a timeline, as an SVG document.    cost: about 150 bytes for each action
[[nodiscard]] inline std::string svg_gantt(const pipeline::Timeline& timeline, const GanttOptions& options = {}) {
  using detail::fixed;
  const double makespan = timeline.makespan();
  const double left = 64;
  const double right = options.width_px - 20;
  const double top = options.title.empty() ? 40 : 66;
  const double bottom = top + options.row_px * static_cast<double>(timeline.ranks.size());
  const double height = bottom + 52;
  const double scale = makespan > 0 ? (right - left) / makespan : 0;

  std::string text = join_text({"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", options.width_px, "\" height=\"",
                                fixed(height, 0), "\" viewBox=\"0 0 ", options.width_px, " ", fixed(height, 0),
                                "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#333333\">\n",
                                "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"});
  const auto write = [&](double x, double y, std::string_view attributes, const std::string& content) {
    text += join_text({"<text x=\"", fixed(x, 1), "\" y=\"", fixed(y, 1), "\" ", attributes, ">",
                       detail::escape_xml(content), "</text>\n"});
  };
  if (!options.title.empty()) write(left, 28, "font-size=\"17\" font-weight=\"bold\"", options.title);

  bool is_present[pipeline::kinds_of_work] = {};
  for (const auto& events : timeline.ranks)
    for (const pipeline::TimedAction& event : events) is_present[static_cast<int>(event.action.work)] = true;
  double legend = left;
  for (int kind = 0; kind < pipeline::kinds_of_work; ++kind) {
    if (!is_present[kind]) continue;
    const auto work = static_cast<pipeline::Work>(kind);
    text += join_text({"<rect x=\"", fixed(legend, 1), "\" y=\"", fixed(top - 22, 1),
                       "\" width=\"14\" height=\"10\" fill=\"", detail::colour_of(work), "\"/>\n"});
    const std::string words{detail::words_of(work)};
    write(legend + 20, top - 13, "", words);
    legend += 20 + 6.6 * static_cast<double>(words.size()) + 24;
  }

  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    const double y = top + options.row_px * static_cast<double>(rank);
    write(left - 10, y + options.row_px / 2.0 + 4, "text-anchor=\"end\"", "rank " + std::to_string(rank));
    text += join_text({"<rect x=\"", fixed(left, 1), "\" y=\"", fixed(y + 2, 1), "\" width=\"", fixed(right - left, 1),
                       "\" height=\"", options.row_px - 4, "\" fill=\"#f2f2f2\"/>\n"});
    for (const pipeline::TimedAction& event : timeline.ranks[rank]) {
      const double x = left + event.start * scale;
      const double width = (event.end - event.start) * scale;
      const std::string name = to_string(event.action);
      text += join_text({"<rect x=\"", fixed(x, 2), "\" y=\"", fixed(y + 2, 1), "\" width=\"", fixed(width, 2),
                         "\" height=\"", options.row_px - 4, "\" fill=\"", detail::colour_of(event.action.work),
                         "\" stroke=\"#ffffff\" stroke-width=\"0.6\"><title>", name, "</title></rect>\n"});
      if (width > 6.8 * static_cast<double>(name.size()))
        write(x + width / 2, y + options.row_px / 2.0 + 4, "text-anchor=\"middle\" font-size=\"11\"", name);
    }
  }

  const detail::Ticks ticks = detail::nice_ticks(0, makespan, std::max(options.width_px / 110, 3));
  for (int tick = 0; tick < ticks.count && ticks.at(tick) <= makespan * (1 + 1e-9); ++tick) {
    const double x = left + ticks.at(tick) * scale;
    text += join_text({"<line x1=\"", fixed(x, 1), "\" y1=\"", fixed(bottom, 1), "\" x2=\"", fixed(x, 1), "\" y2=\"",
                       fixed(bottom + 5, 1), "\" stroke=\"#888888\"/>\n"});
    write(x, bottom + 19, "text-anchor=\"middle\"", detail::tick_label(ticks, tick));
  }
  write((left + right) / 2, bottom + 40, "text-anchor=\"middle\"", options.time_label);
  return text + "</svg>\n";
}

/// The timeline in the Trace Event Format: a process, a thread for each rank, a complete event for each action.
/// `microseconds` is the length of the timeline's unit.
[[nodiscard]] inline std::string chrome_trace(const pipeline::Timeline& timeline, double microseconds = 1) {
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  std::string_view comma = "\n";
  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    text += join_text({comma, "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 0, \"tid\": ", rank,
                       ", \"args\": {\"name\": \"rank ", rank, "\"}}"});
    comma = ",\n";
    for (const pipeline::TimedAction& event : timeline.ranks[rank])
      text += join_text(
          {comma, "{\"name\": \"", to_string(event.action), "\", \"cat\": \"", detail::words_of(event.action.work),
           "\", \"ph\": \"X\", \"pid\": 0, \"tid\": ", rank, ", \"ts\": ", detail::fixed(event.start * microseconds, 3),
           ", \"dur\": ", detail::fixed((event.end - event.start) * microseconds, 3),
           ", \"args\": {\"stage\": ", event.action.stage, ", \"micro_batch\": ", event.action.micro_batch, "}}"});
  }
  return text + "\n]}\n";
}

/// Writes the chart to a file.    throws: SystemError
inline void save_gantt(const std::string& path, const pipeline::Timeline& timeline, const GanttOptions& options = {}) {
  detail::write_text(path, svg_gantt(timeline, options), "gantt");
}
/// Writes the trace to a file.    throws: SystemError
inline void save_chrome_trace(const std::string& path, const pipeline::Timeline& timeline, double microseconds = 1) {
  detail::write_text(path, chrome_trace(timeline, microseconds), "trace");
}

} // namespace twill::inline v0::profile
