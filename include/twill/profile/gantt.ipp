#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/gantt.hpp.

#include <twill/profile/gantt.hpp>

namespace twill::inline v0::profile {
namespace detail {

TWILL_BODY void write_text(const std::string& path, const std::string& text, std::string_view what) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw SystemError(join_text({what, ": cannot write ", path}));
}

TWILL_BODY GanttDrawing::GanttDrawing(const std::vector<NamedTimeline>& timelines, const GanttOptions& options)
    : timelines_{timelines}, options_{options}, right_{options.width_px - 20.0} {
  top_ = options.title.empty() ? 40 : 66;
  bottom_ = top_;
  for (const NamedTimeline& named : timelines) {
    bottom_ += panel_px(named);
    makespan_ = std::max(makespan_, named.timeline.makespan());
  }
  scale_ = makespan_ > 0 ? (right_ - left) / makespan_ : 0;
}

TWILL_BODY std::string GanttDrawing::svg() {
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

TWILL_BODY double GanttDrawing::row_px(const pipeline::Timeline& timeline) const {
  return options_.row_px + (has_messages(timeline) ? lane_px : 0);
}

TWILL_BODY double GanttDrawing::panel_px(const NamedTimeline& named) const {
  return heading_px(named) + row_px(named.timeline) * static_cast<double>(named.timeline.ranks.size());
}

TWILL_BODY void GanttDrawing::write(double x, double y, std::string_view attributes, const std::string& content) {
  text_ += join_text(
      {"<text x=\"", fixed(x, 1), "\" y=\"", fixed(y, 1), "\" ", attributes, ">", escape_xml(content), "</text>\n"});
}

TWILL_BODY void GanttDrawing::draw_legend() {
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

TWILL_BODY void GanttDrawing::draw_rows(const pipeline::Timeline& timeline, double top) {
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

TWILL_BODY void GanttDrawing::draw_box(double x, double y, double width, double height, pipeline::Work work,
                                       const std::string& name) {
  text_ += join_text({"<rect x=\"", fixed(x, 2), "\" y=\"", fixed(y, 1), "\" width=\"", fixed(width, 2), "\" height=\"",
                      fixed(height, 0), "\" fill=\"", colour_of(work), "\"",
                      is_computed(work) ? " stroke=\"#ffffff\" stroke-width=\"0.6\"" : "", "><title>", name,
                      "</title></rect>\n"});
}

TWILL_BODY void GanttDrawing::draw_axis() {
  const Ticks ticks = nice_ticks(0, makespan_, std::max(options_.width_px / 110, 3));
  for (int tick = 0; tick < ticks.count && ticks.at(tick) <= makespan_ * (1 + 1e-9); ++tick) {
    const double x = left + ticks.at(tick) * scale_;
    text_ += join_text({"<line x1=\"", fixed(x, 1), "\" y1=\"", fixed(bottom_, 1), "\" x2=\"", fixed(x, 1), "\" y2=\"",
                        fixed(bottom_ + 5, 1), "\" stroke=\"#888888\"/>\n"});
    write(x, bottom_ + 19, "text-anchor=\"middle\"", tick_label(ticks, tick));
  }
  write((left + right_) / 2, bottom_ + 40, "text-anchor=\"middle\"", options_.time_label);
}

} // namespace detail

TWILL_BODY std::string svg_gantt(const std::vector<NamedTimeline>& timelines, const GanttOptions& options) {
  return detail::GanttDrawing{timelines, options}.svg();
}

TWILL_BODY std::string svg_gantt(const pipeline::Timeline& timeline, const GanttOptions& options) {
  return svg_gantt(std::vector{NamedTimeline{{}, timeline}}, options);
}

TWILL_BODY void save_gantt(const std::string& path, const std::vector<NamedTimeline>& timelines,
                           const GanttOptions& options) {
  detail::write_text(path, svg_gantt(timelines, options), "gantt");
}

TWILL_BODY void save_gantt(const std::string& path, const pipeline::Timeline& timeline, const GanttOptions& options) {
  detail::write_text(path, svg_gantt(timeline, options), "gantt");
}

} // namespace twill::inline v0::profile
