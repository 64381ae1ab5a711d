#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/schedule_trace.hpp.

#include <twill/profile/schedule_trace.hpp>

namespace twill::inline v0::profile::detail {

TWILL_BODY void TraceText::add(const NamedTimeline& named, std::size_t process) {
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

TWILL_BODY void TraceText::add_messages(const pipeline::Timeline& timeline) {
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

TWILL_BODY std::size_t TraceText::lane(std::vector<Lane>& lanes, const pipeline::Timeline& timeline,
                                       const pipeline::TimedMessage& message, int side) {
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

TWILL_BODY void TraceText::complete(const std::string& name, std::string_view category, std::size_t thread,
                                    double start, double end, const std::string& arguments) {
  events_.complete(name, category, process_, thread, start * microseconds_, end * microseconds_, arguments);
}

} // namespace twill::inline v0::profile::detail

namespace twill::inline v0::profile {

TWILL_BODY std::string chrome_trace(const std::vector<NamedTimeline>& timelines, double microseconds) {
  detail::TraceText trace{microseconds};
  for (std::size_t process = 0; process < timelines.size(); ++process) trace.add(timelines[process], process);
  return trace.finish();
}

TWILL_BODY std::string chrome_trace(const pipeline::Timeline& timeline, double microseconds) {
  return chrome_trace(std::vector{NamedTimeline{{}, timeline}}, microseconds);
}

TWILL_BODY void save_chrome_trace(const std::string& path, const std::vector<NamedTimeline>& timelines,
                                  double microseconds) {
  detail::write_text(path, chrome_trace(timelines, microseconds), "trace");
}

TWILL_BODY void save_chrome_trace(const std::string& path, const pipeline::Timeline& timeline, double microseconds) {
  detail::write_text(path, chrome_trace(timeline, microseconds), "trace");
}

} // namespace twill::inline v0::profile
