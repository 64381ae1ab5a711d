#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A pipeline's timelines in the Trace Event Format, which chrome://tracing and Perfetto open: a process for each timeline, in
// it a thread for what each rank computes and one for what it sends and receives, more where messages overlap, and an arrow
// from each send to its receive. The same as a picture: profile/gantt.hpp.

#include <twill/core/config.hpp>
#include <twill/core/stable_order.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/pipeline/schedule/timeline.hpp>
#include <twill/profile/gantt.hpp>
#include <twill/profile/trace_events.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace twill::inline v0::profile::detail {

/// Writes the events of one timeline after the other.
class TraceText {
public:
  explicit TraceText(double microseconds) : microseconds_{microseconds} {}

  void add(const NamedTimeline& named, std::size_t process);

  [[nodiscard]] std::string finish() const { return events_.text(); }

private:
  /// One row of messages of a rank, in which none overlaps another.
  struct Lane {
    std::size_t rank = 0;
    double end = 0;
  };

  void add_messages(const pipeline::Timeline& timeline);

  /// The thread of a message on one of its sides: the rank's first lane that is free.
  std::size_t lane(std::vector<Lane>& lanes, const pipeline::Timeline& timeline, const pipeline::TimedMessage& message,
                   int side);

  void complete(const std::string& name, std::string_view category, std::size_t thread, double start, double end,
                const std::string& arguments);
  [[nodiscard]] std::string time(double value) const { return fixed(value * microseconds_, 3); }

  double microseconds_;
  std::size_t process_ = 0;
  std::size_t flows_ = 0;
  TraceEvents events_{};
};

} // namespace twill::inline v0::profile::detail

namespace twill::inline v0::profile {

/// Several timelines in the Trace Event Format. `microseconds` is the length of their unit: 1e6 for seconds.
[[nodiscard]] std::string chrome_trace(const std::vector<NamedTimeline>& timelines, double microseconds = 1);
/// One.
[[nodiscard]] std::string chrome_trace(const pipeline::Timeline& timeline, double microseconds = 1);

/// Writes the trace to a file.    throws: SystemError
void save_chrome_trace(const std::string& path, const std::vector<NamedTimeline>& timelines, double microseconds = 1);
void save_chrome_trace(const std::string& path, const pipeline::Timeline& timeline, double microseconds = 1);

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/schedule_trace.ipp>
#endif
