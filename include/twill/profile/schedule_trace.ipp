#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/schedule_trace.hpp.

#include <twill/profile/schedule_trace.hpp>

namespace twill { inline namespace v0 { namespace profile {
namespace detail {

/// Writes the events of one timeline after the other.
class ScheduleTrace {
public:
  explicit ScheduleTrace(double microseconds) : microseconds_{microseconds} {}

  void add(const NamedTimeline& named, std::size_t process) {
    process_ = process;
    if (!named.name.empty()) events_.name_process(process, named.name);
    const auto& ranks = named.timeline.ranks;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      events_.name_thread(process, rank, join_text({"rank ", rank}));
      for (const pipeline::TimedAction& event : ranks[rank])
        add_slice(to_string(event.action), words_of(event.action.work), rank, event.start, event.end,
                  join_text({"\"stage\": ", event.action.stage, ", \"micro_batch\": ", event.action.micro_batch}));
    }
    std::vector<pipeline::TimedMessage> messages;
    for (const pipeline::TimedMessage& message : pipeline::messages_of(named.timeline)) messages.push_back(message);
    sort_stably(messages, [](const auto& left, const auto& right) { return left.start() < right.start(); });
    for (const pipeline::TimedMessage& message : messages) add_message(message);
  }

  [[nodiscard]] std::string text() const { return events_.text(); }

private:
  void add_message(const pipeline::TimedMessage& message) {
    const double start = message.start(), end = message.delivered;
    const auto thread_of = [&](int rank) {
      return events_.free_thread(process_, join_text({"rank ", rank, ", messages"}), time(start), time(end));
    };
    const std::string sent = join_text({"\"bytes\": ", message.bytes, ", \"sent\": ", fixed(time(message.sent), 3),
                                        ", \"wanted\": ", fixed(time(message.wanted), 3)});
    const std::size_t from = thread_of(message.from);
    add_slice(to_string(message.send), words_of(message.send.work), from, start, end, sent);
    const std::size_t to = thread_of(message.to);
    add_slice(to_string(counterpart(message.send)), "received", to, start, end, sent);
    events_.arrow("message", false, arrows_, process_, from, time(0.5 * (start + end)));
    events_.arrow("message", true, arrows_++, process_, to, time(0.5 * (start + end)));
  }

  void add_slice(const std::string& name, std::string_view category, std::size_t thread, double start, double end,
                 const std::string& arguments) {
    events_.complete(name, category, process_, thread, time(start), time(end), arguments);
  }

  [[nodiscard]] double time(double value) const { return value * microseconds_; }

  double microseconds_;
  std::size_t process_ = 0;
  std::size_t arrows_ = 0;
  TraceEvents events_{};
};

} // namespace detail

TWILL_BODY std::string_view words_of(pipeline::Work work) {
  constexpr std::string_view all[] = {"forward",     "backward", "gradient of the input", "gradient of the weights",
                                      "output sent", "transfer", "gradient sent",         "transfer"};
  return all[static_cast<int>(work)];
}

TWILL_BODY std::string chrome_trace(const std::vector<NamedTimeline>& timelines, double microseconds) {
  detail::ScheduleTrace trace{microseconds};
  for (std::size_t process = 0; process < timelines.size(); ++process) trace.add(timelines[process], process);
  return trace.text();
}

}}} // namespace twill::v0::profile
