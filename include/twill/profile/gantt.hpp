#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Gantt charts of pipeline schedules, simulated or executed, as self-contained SVG: a row for each rank, a box for each
// action, and under the row a thin line for each message that its rank sends. Several timelines stand below each other
// on one axis, so that a run can be compared with its simulation. Read next: parallel/pipeline/schedule/timeline.hpp,
// profile/schedule_trace.hpp for trace documents of the timelines.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/pipeline/schedule/timeline.hpp>
#include <twill/profile/format.hpp>
#include <twill/profile/schedule_trace.hpp>
#include <twill/profile/svg.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// Texts and sizes of a chart of timelines.
struct GanttOptions {
  std::string title = {};          ///< above the drawing
  std::string time_label = "time"; ///< below the axis
  int width_px = 960;              ///< of the whole drawing
  int row_px = 30;                 ///< of one rank
};

/// The Gantt charts of several timelines below each other, on one axis, as an SVG document.
/// cost: about 150 bytes for each action and message
[[nodiscard]] std::string svg_gantt(const std::vector<NamedTimeline>& timelines, const GanttOptions& options = {});
/// The Gantt chart of one timeline.
[[nodiscard]] inline std::string svg_gantt(const pipeline::Timeline& timeline, const GanttOptions& options = {}) {
  return svg_gantt(std::vector{NamedTimeline{{}, timeline}}, options);
}

/// Writes the chart of a timeline, or of several named ones, to a file.    throws: SystemError
template <class Timelines = std::vector<NamedTimeline>>
void save_gantt(const std::string& path, const Timelines& timelines, const GanttOptions& options = {}) {
  save_text("gantt", path, svg_gantt(timelines, options));
}

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/gantt.ipp>
#endif
