#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pictures of a pipeline, simulated or carried out, as a Gantt chart: a self-contained SVG with a row for each rank, a box for
// each action and a thin line under them for each message. Several timelines stand in one picture on one axis, so that what
// was done can be held against what was foreseen. Colours are those of Okabe and Ito (2008). The same timelines as a trace:
// profile/schedule_trace.hpp. Read next: parallel/pipeline/timeline.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/pipeline/timeline.hpp>
#include <twill/profile/svg_plot.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace twill::inline v0::profile {

/// Texts and sizes of a drawing of time lines.
struct GanttOptions {
  std::string title = {};          ///< above the drawing
  std::string time_label = "time"; ///< below the axis
  int width_px = 960;              ///< of the whole drawing
  int row_px = 30;                 ///< of one rank
};

/// One of several timelines in a picture.
struct NamedTimeline {
  std::string name;            ///< beside its rows
  pipeline::Timeline timeline; ///< what is drawn
};

namespace detail {

[[nodiscard]] constexpr std::string_view colour_of(pipeline::Work work) {
  using enum pipeline::Work;
  switch (work) {
  case forward:
    return "#56B4E9";
  case backward:
  case input_gradient:
    return "#E69F00";
  case weight_gradient:
    return "#009E73";
  case send_forward:
    return "#0072B2";
  case send_backward:
    return "#D55E00";
  default:
    return "#7A7A7A";
  }
}
[[nodiscard]] constexpr std::string_view words_of(pipeline::Work work) {
  constexpr std::string_view all[] = {"forward",     "backward", "gradient of the input", "gradient of the weights",
                                      "output sent", "transfer", "gradient sent",         "transfer"};
  return all[static_cast<int>(work)];
}

/// Writes a text file.    throws: SystemError
inline void write_text(const std::string& path, const std::string& text, std::string_view what) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw SystemError(join_text({what, ": cannot write ", path}));
}

/// Draws the timelines one below the other.
class GanttDrawing {
public:
  GanttDrawing(const std::vector<NamedTimeline>& timelines, const GanttOptions& options)
      : timelines_{timelines}, options_{options}, right_{options.width_px - 20.0} {
    top_ = options.title.empty() ? 40 : 66;
    bottom_ = top_;
    for (const NamedTimeline& named : timelines) {
      bottom_ += panel_px(named);
      makespan_ = std::max(makespan_, named.timeline.makespan());
    }
    scale_ = makespan_ > 0 ? (right_ - left) / makespan_ : 0;
  }

  [[nodiscard]] std::string svg() {
    const double height = bottom_ + 52;
    text_ = join_text({"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", options_.width_px, "\" height=\"",
                       fixed(height, 0), "\" viewBox=\"0 0 ", options_.width_px, " ", fixed(height, 0),
                       "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#333333\">\n",
                       "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"});
    if (!options_.title.empty()) write(left, 28, "font-size=\"17\" font-weight=\"bold\"", options_.title);
    draw_legend();
    double y = top_;
    for (const NamedTimeline& named : timelines_) {
      if (!named.name.empty()) write(left, y + 15, "font-weight=\"bold\"", named.name);
      draw_rows(named.timeline, y + heading_px(named));
      y += panel_px(named);
    }
    draw_axis();
    return text_ + "</svg>\n";
  }

private:
  static constexpr double left = 64;
  static constexpr double lane_px = 8; ///< under a row, for messages

  [[nodiscard]] static double heading_px(const NamedTimeline& named) { return named.name.empty() ? 0 : 22; }
  [[nodiscard]] static bool has_messages(const pipeline::Timeline& timeline) { return !timeline.messages.empty(); }
  [[nodiscard]] double row_px(const pipeline::Timeline& timeline) const {
    return options_.row_px + (has_messages(timeline) ? lane_px : 0);
  }
  [[nodiscard]] double panel_px(const NamedTimeline& named) const {
    return heading_px(named) + row_px(named.timeline) * static_cast<double>(named.timeline.ranks.size());
  }

  void write(double x, double y, std::string_view attributes, const std::string& content) {
    text_ += join_text(
        {"<text x=\"", fixed(x, 1), "\" y=\"", fixed(y, 1), "\" ", attributes, ">", escape_xml(content), "</text>\n"});
  }

  void draw_legend() {
    bool is_present[pipeline::kinds_of_work] = {};
    for (const NamedTimeline& named : timelines_) {
      for (const auto& events : named.timeline.ranks)
        for (const auto& event : events) is_present[static_cast<int>(event.action.work)] = true;
      for (const auto& message : pipeline::messages_of(named.timeline))
        is_present[static_cast<int>(message.send.work)] = true;
    }
    double x = left;
    for (int kind = 0; kind < pipeline::kinds_of_work; ++kind) {
      if (!is_present[kind]) continue;
      const auto work = static_cast<pipeline::Work>(kind);
      const double thickness = is_computed(work) ? 10 : 4;
      text_ += join_text({"<rect x=\"", fixed(x, 1), "\" y=\"", fixed(top_ - 17 - thickness / 2, 1),
                          "\" width=\"14\" height=\"", fixed(thickness, 0), "\" fill=\"", colour_of(work), "\"/>\n"});
      const std::string words{words_of(work)};
      write(x + 20, top_ - 13, "", words);
      x += 20 + 6.6 * static_cast<double>(words.size()) + 24;
    }
  }

  void draw_rows(const pipeline::Timeline& timeline, double top) {
    const double height = options_.row_px - 4;
    for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
      const double y = top + row_px(timeline) * static_cast<double>(rank);
      write(left - 10, y + options_.row_px / 2.0 + 4, "text-anchor=\"end\"", "rank " + std::to_string(rank));
      text_ += join_text({"<rect x=\"", fixed(left, 1), "\" y=\"", fixed(y + 2, 1), "\" width=\"",
                          fixed(right_ - left, 1), "\" height=\"", fixed(height, 0), "\" fill=\"#f2f2f2\"/>\n"});
      for (const pipeline::TimedAction& event : timeline.ranks[rank]) {
        const double x = left + event.start * scale_;
        const double width = (event.end - event.start) * scale_;
        const std::string name = to_string(event.action);
        draw_box(x, y + 2, width, height, event.action.work, name);
        if (width > 6.8 * static_cast<double>(name.size()))
          write(x + width / 2, y + options_.row_px / 2.0 + 4, "text-anchor=\"middle\" font-size=\"11\"", name);
      }
    }
    // Under the row of the sender, from the moment at which both sides were ready to the end.
    for (const pipeline::TimedMessage& message : pipeline::messages_of(timeline)) {
      const double y = top + row_px(timeline) * message.from + options_.row_px;
      const double x = left + message.start() * scale_;
      const double width = std::max(1.0, (message.delivered - message.start()) * scale_);
      draw_box(x, y, width, lane_px - 4, message.send.work,
               join_text({to_string(message.send), " to rank ", message.to, ", ", message.bytes, " bytes"}));
    }
  }

  void draw_box(double x, double y, double width, double height, pipeline::Work work, const std::string& name) {
    text_ += join_text({"<rect x=\"", fixed(x, 2), "\" y=\"", fixed(y, 1), "\" width=\"", fixed(width, 2),
                        "\" height=\"", fixed(height, 0), "\" fill=\"", colour_of(work), "\"",
                        is_computed(work) ? " stroke=\"#ffffff\" stroke-width=\"0.6\"" : "", "><title>", name,
                        "</title></rect>\n"});
  }

  void draw_axis() {
    const Ticks ticks = nice_ticks(0, makespan_, std::max(options_.width_px / 110, 3));
    for (int tick = 0; tick < ticks.count && ticks.at(tick) <= makespan_ * (1 + 1e-9); ++tick) {
      const double x = left + ticks.at(tick) * scale_;
      text_ += join_text({"<line x1=\"", fixed(x, 1), "\" y1=\"", fixed(bottom_, 1), "\" x2=\"", fixed(x, 1),
                          "\" y2=\"", fixed(bottom_ + 5, 1), "\" stroke=\"#888888\"/>\n"});
      write(x, bottom_ + 19, "text-anchor=\"middle\"", tick_label(ticks, tick));
    }
    write((left + right_) / 2, bottom_ + 40, "text-anchor=\"middle\"", options_.time_label);
  }

  const std::vector<NamedTimeline>& timelines_;
  const GanttOptions& options_;
  double right_;
  double top_ = 0;
  double bottom_ = 0;
  double makespan_ = 0;
  double scale_ = 0;
  std::string text_{};
};

} // namespace detail

/// The Gantt charts of several timelines below each other, on one axis, as an SVG document.
/// cost: about 150 bytes for each action and message
[[nodiscard]] inline std::string svg_gantt(const std::vector<NamedTimeline>& timelines,
                                           const GanttOptions& options = {}) {
  return detail::GanttDrawing{timelines, options}.svg();
}
/// That of one.
[[nodiscard]] inline std::string svg_gantt(const pipeline::Timeline& timeline, const GanttOptions& options = {}) {
  return svg_gantt(std::vector{NamedTimeline{{}, timeline}}, options);
}

/// Writes the chart to a file.    throws: SystemError
inline void save_gantt(const std::string& path, const std::vector<NamedTimeline>& timelines,
                       const GanttOptions& options = {}) {
  detail::write_text(path, svg_gantt(timelines, options), "gantt");
}
inline void save_gantt(const std::string& path, const pipeline::Timeline& timeline, const GanttOptions& options = {}) {
  detail::write_text(path, svg_gantt(timeline, options), "gantt");
}

} // namespace twill::inline v0::profile
