#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pictures of a pipeline, simulated or carried out, as a Gantt chart: a self-contained SVG with a row for each rank, a box for
// each action and a thin line under them for each message. Several timelines stand in one picture on one axis, so that what
// was done can be held against what was foreseen. Colours are those of Okabe and Ito (2008). The same timelines as a trace:
// profile/schedule_trace.hpp. Read next: parallel/pipeline/schedule/timeline.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/pipeline/schedule/timeline.hpp>
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
void write_text(const std::string& path, const std::string& text, std::string_view what);

/// Draws the timelines one below the other.
class GanttDrawing {
public:
  GanttDrawing(const std::vector<NamedTimeline>& timelines, const GanttOptions& options);

  [[nodiscard]] std::string svg();

private:
  static constexpr double left = 64;
  static constexpr double lane_px = 8; ///< under a row, for messages

  [[nodiscard]] static double heading_px(const NamedTimeline& named) { return named.name.empty() ? 0 : 22; }
  [[nodiscard]] static bool has_messages(const pipeline::Timeline& timeline) { return !timeline.messages.empty(); }
  [[nodiscard]] double row_px(const pipeline::Timeline& timeline) const;
  [[nodiscard]] double panel_px(const NamedTimeline& named) const;

  void write(double x, double y, std::string_view attributes, const std::string& content);

  void draw_legend();

  void draw_rows(const pipeline::Timeline& timeline, double top);

  void draw_box(double x, double y, double width, double height, pipeline::Work work, const std::string& name);

  void draw_axis();

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
[[nodiscard]] std::string svg_gantt(const std::vector<NamedTimeline>& timelines, const GanttOptions& options = {});
/// That of one.
[[nodiscard]] std::string svg_gantt(const pipeline::Timeline& timeline, const GanttOptions& options = {});

/// Writes the chart to a file.    throws: SystemError
void save_gantt(const std::string& path, const std::vector<NamedTimeline>& timelines, const GanttOptions& options = {});
void save_gantt(const std::string& path, const pipeline::Timeline& timeline, const GanttOptions& options = {});

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/gantt.ipp>
#endif
