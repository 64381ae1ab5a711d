#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Trace documents of pipeline schedules, simulated or executed: a process for each timeline, in it a thread for what
// each rank computes and one for what it sends and receives, more where messages overlap, and an arrow from each send
// to its receive. chrome://tracing and Perfetto open them. Read next: profile/gantt.hpp, which draws the timelines,
// profile/trace_events.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/pipeline/schedule/timeline.hpp>
#include <twill/profile/format.hpp>
#include <twill/profile/trace_events.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// One of several timelines in a document.
struct NamedTimeline {
  std::string name;            ///< of its process in a trace, above its rows in a chart
  pipeline::Timeline timeline; ///< its actions and messages
};

/// A kind of action in words: "forward", "gradient of the weights".
[[nodiscard]] std::string_view words_of(pipeline::Work work);

/// Several timelines in the Trace Event Format. `microseconds` is the length of their unit: 1e6 for seconds.
[[nodiscard]] std::string chrome_trace(const std::vector<NamedTimeline>& timelines, double microseconds = 1);
/// One timeline in the Trace Event Format.
[[nodiscard]] inline std::string chrome_trace(const pipeline::Timeline& timeline, double microseconds = 1) {
  return chrome_trace(std::vector{NamedTimeline{{}, timeline}}, microseconds);
}

/// Writes the trace of a timeline, or of several named ones, to a file.    throws: SystemError
template <class Timelines = std::vector<NamedTimeline>>
void save_chrome_trace(const std::string& path, const Timelines& timelines, double microseconds = 1) {
  save_text("trace", path, chrome_trace(timelines, microseconds));
}

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/schedule_trace.ipp>
#endif
