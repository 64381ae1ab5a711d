#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/gantt.hpp.

#include <twill/profile/gantt.hpp>

namespace twill { inline namespace v0 { namespace profile {
namespace detail {

/// The colour of a kind of action, from Okabe and Ito's palette.
TWILL_BODY std::string_view colour_of(pipeline::Work work) {
  constexpr std::string_view all[] = {"#56B4E9", "#E69F00", "#E69F00", "#009E73",
                                      "#0072B2", "#7A7A7A", "#D55E00", "#7A7A7A"};
  return all[static_cast<int>(work)];
}

/// Draws a row for each rank, below `top`, and returns where the last one ends.
TWILL_BODY double draw_rows(Svg& svg, const pipeline::Timeline& timeline, const SvgAxis& time, double top,
                            double rank_px) {
  constexpr double message_px = 8; // under a row, for the messages that its rank sends
  const double row_px = rank_px + (timeline.messages.empty() ? 0 : message_px);
  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    const double y = top + row_px * static_cast<double>(rank), base_line = y + rank_px / 2 + 4;
    svg.text(time.begin_px - 10, base_line, join_text({"rank ", rank}), {.anchor = "end"});
    svg.rectangle(time.begin_px, y + 2, time.end_px - time.begin_px, rank_px - 4, {.fill = "#f2f2f2"});
    for (const pipeline::TimedAction& event : timeline.ranks[rank]) {
      const double x = time.at(event.start), width = time.at(event.end) - x;
      const std::string name = to_string(event.action);
      svg.rectangle(x, y + 2, width, rank_px - 4,
                    {.fill = colour_of(event.action.work), .stroke = "#ffffff", .stroke_width = 0.6}, name);
      if (width > 6.8 * static_cast<double>(name.size()))
        svg.text(x + width / 2, base_line, name, {.anchor = "middle", .font_px = 11});
    }
  }
  // A message goes from the moment at which both sides were ready to its delivery.
  for (const pipeline::TimedMessage& message : pipeline::messages_of(timeline)) {
    const double x = time.at(message.start()), width = time.at(message.delivered) - x;
    svg.rectangle(x, top + row_px * message.from + rank_px, std::max(1.0, width), message_px - 4,
                  {.fill = colour_of(message.send.work)},
                  join_text({to_string(message.send), " to rank ", message.to, ", ", message.bytes, " bytes"}));
  }
  return top + row_px * static_cast<double>(timeline.ranks.size());
}

/// Explains the colours of the kinds of actions that occur.
TWILL_BODY void draw_legend(Svg& svg, const std::vector<NamedTimeline>& timelines, double x, double y) {
  bool occurs[pipeline::kinds_of_work] = {};
  for (const NamedTimeline& named : timelines) {
    for (const auto& events : named.timeline.ranks)
      for (const auto& event : events) occurs[static_cast<int>(event.action.work)] = true;
    for (const auto& message : pipeline::messages_of(named.timeline))
      occurs[static_cast<int>(message.send.work)] = true;
  }
  for (int kind = 0; kind < pipeline::kinds_of_work; ++kind)
    if (const auto work = static_cast<pipeline::Work>(kind); occurs[kind])
      x = svg.legend(x, y, words_of(work), {.stroke = colour_of(work), .stroke_width = is_computed(work) ? 10.0 : 4.0});
}

} // namespace detail

TWILL_BODY std::string svg_gantt(const std::vector<NamedTimeline>& timelines, const GanttOptions& options) {
  double makespan = 0;
  for (const NamedTimeline& named : timelines) makespan = std::max(makespan, named.timeline.makespan());
  const SvgAxis time{0, makespan, 64, options.width_px - 20.0,
                     nice_ticks(0, makespan, std::max(options.width_px / 110, 3))};
  Svg svg{};
  if (!options.title.empty()) svg.title(time.begin_px, options.title);
  double y = options.title.empty() ? 40 : 66;
  detail::draw_legend(svg, timelines, time.begin_px, y - 13);
  for (const NamedTimeline& named : timelines) {
    if (!named.name.empty()) svg.text(time.begin_px, y + 15, named.name, {.is_bold = true});
    y = detail::draw_rows(svg, named.timeline, time, named.name.empty() ? y : y + 22, options.row_px);
  }
  svg.x_axis(time, y, options.time_label);
  return svg.document(options.width_px, y + 52);
}

}}} // namespace twill::v0::profile
