#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A pipeline's timelines in the Trace Event Format, which chrome://tracing and Perfetto open: a process for each timeline, in
// it a thread for what each rank computes and one for what it sends and receives, more where messages overlap, and an arrow
// from each send to its receive. The same as a picture: profile/gantt.hpp.

#include <twill/core/stable_order.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/pipeline/timeline.hpp>
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

  void add(const NamedTimeline& named, std::size_t process) {
    process_ = process;
    if (!named.name.empty()) events_.name_process(process, named.name);
    const auto& ranks = named.timeline.ranks;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      events_.name_thread(process, rank, join_text({"rank ", rank}));
      for (const pipeline::TimedAction& event : ranks[rank])
        complete(to_string(event.action), words_of(event.action.work), rank, event.start, event.end,
                 join_text({"\"stage\": ", event.action.stage, ", \"micro_batch\": ", event.action.micro_batch}));
    }
    add_messages(named.timeline);
  }

  [[nodiscard]] std::string finish() const { return events_.text(); }

private:
  /// One row of messages of a rank, in which none overlaps another.
  struct Lane {
    std::size_t rank = 0;
    double end = 0;
  };

  void add_messages(const pipeline::Timeline& timeline) {
    std::vector<pipeline::TimedMessage> messages;
    for (const pipeline::TimedMessage& message : pipeline::messages_of(timeline)) messages.push_back(message);
    sort_stably(messages, [](const auto& left, const auto& right) { return left.start() < right.start(); });
    std::vector<Lane> lanes;
    for (const pipeline::TimedMessage& message : messages) {
      const std::string sent = join_text(
          {"\"bytes\": ", message.bytes, ", \"sent\": ", time(message.sent), ", \"wanted\": ", time(message.wanted)});
      const std::size_t from = lane(lanes, timeline, message, message.from);
      complete(to_string(message.send), words_of(message.send.work), from, message.start(), message.delivered, sent);
      const std::size_t to = lane(lanes, timeline, message, message.to);
      complete(to_string(counterpart(message.send)), "received", to, message.start(), message.delivered, sent);
      const double middle = 0.5 * (message.start() + message.delivered);
      events_.arrow("message", false, flows_, process_, from, middle * microseconds_);
      events_.arrow("message", true, flows_, process_, to, middle * microseconds_);
      ++flows_;
    }
  }

  /// The thread of a message on one of its sides: the rank's first lane that is free.
  std::size_t lane(std::vector<Lane>& lanes, const pipeline::Timeline& timeline, const pipeline::TimedMessage& message,
                   int side) {
    const auto rank = static_cast<std::size_t>(side);
    std::size_t number = 0;
    while (number < lanes.size() && (lanes[number].rank != rank || lanes[number].end > message.start())) ++number;
    const std::size_t thread = timeline.ranks.size() + number;
    if (number == lanes.size()) {
      lanes.push_back({rank, 0});
      events_.name_thread(process_, thread, join_text({"rank ", rank, ", messages"}));
    }
    lanes[number].end = message.delivered;
    return thread;
  }

  void complete(const std::string& name, std::string_view category, std::size_t thread, double start, double end,
                const std::string& arguments) {
    events_.complete(name, category, process_, thread, start * microseconds_, end * microseconds_, arguments);
  }
  [[nodiscard]] std::string time(double value) const { return fixed(value * microseconds_, 3); }

  double microseconds_;
  std::size_t process_ = 0;
  std::size_t flows_ = 0;
  TraceEvents events_{};
};

} // namespace twill::inline v0::profile::detail

namespace twill::inline v0::profile {

/// Several timelines in the Trace Event Format. `microseconds` is the length of their unit: 1e6 for seconds.
[[nodiscard]] inline std::string chrome_trace(const std::vector<NamedTimeline>& timelines, double microseconds = 1) {
  detail::TraceText trace{microseconds};
  for (std::size_t process = 0; process < timelines.size(); ++process) trace.add(timelines[process], process);
  return trace.finish();
}
/// One.
[[nodiscard]] inline std::string chrome_trace(const pipeline::Timeline& timeline, double microseconds = 1) {
  return chrome_trace(std::vector{NamedTimeline{{}, timeline}}, microseconds);
}

/// Writes the trace to a file.    throws: SystemError
inline void save_chrome_trace(const std::string& path, const std::vector<NamedTimeline>& timelines,
                              double microseconds = 1) {
  detail::write_text(path, chrome_trace(timelines, microseconds), "trace");
}
inline void save_chrome_trace(const std::string& path, const pipeline::Timeline& timeline, double microseconds = 1) {
  detail::write_text(path, chrome_trace(timeline, microseconds), "trace");
}

} // namespace twill::inline v0::profile
