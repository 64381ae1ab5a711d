#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/svg_plot.hpp.

#include <twill/profile/svg_plot.hpp>

namespace twill::inline v0::profile {
namespace detail {

TWILL_BODY double nice_number(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const double fraction = value / power;
  return (fraction < 1.5 ? 1.0 : fraction < 3 ? 2.0 : fraction < 7 ? 5.0 : 10.0) * power;
}

TWILL_BODY Ticks nice_ticks(double low, double high, int wanted) {
  if (!(low < high)) {
    const double margin = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= margin;
    high += margin;
  }
  Ticks ticks;
  ticks.step = nice_number((high - low) / std::max(wanted - 1, 1));
  const double first = std::floor(low / ticks.step + 1e-9);
  const double last = std::ceil(high / ticks.step - 1e-9);
  ticks.first = first * ticks.step;
  ticks.count = static_cast<int>(last - first) + 1;
  ticks.digits = std::clamp(static_cast<int>(-std::floor(std::log10(ticks.step) + 1e-9)), 0, 12);
  return ticks;
}

TWILL_BODY std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value == 0 ? 0.0 : value);
  return text;
}

TWILL_BODY std::string tick_label(const Ticks& ticks, int tick) {
  double value = ticks.at(tick);
  if (std::abs(value) < ticks.step * 1e-6) value = 0;
  const double largest = std::max(std::abs(ticks.first), std::abs(ticks.last()));
  if (largest >= 1e6 || largest < 1e-4) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
  }
  return fixed(value, ticks.digits);
}

TWILL_BODY std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20)
      escaped += ' ';
    else
      escaped += c;
  }
  return escaped;
}

} // namespace detail

TWILL_BODY void LinePlot::save(const std::string& path) const {
  std::ofstream file(path, std::ios::binary);
  file << svg();
  if (!file.flush()) throw SystemError(join_text({"plot: cannot write ", path}));
}

TWILL_BODY std::string LinePlot::svg() const {
  const Frame frame = layout();
  const int width = options_.width_px;
  const int height = options_.height_px;
  std::string text = join_text({"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
                                "\" viewBox=\"0 0 ", width, " ", height,
                                "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\"",
                                " fill=\"#333333\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"});
  draw_axes(text, frame);
  for (std::size_t i = 0; i < series_.size(); ++i) draw_line(text, frame, i);
  draw_labels(text, frame);
  draw_legend(text, frame);
  return text + "</svg>\n";
}

TWILL_BODY double LinePlot::Series::deviation(std::size_t point) const {
  return deviations.empty() || !std::isfinite(deviations[point]) ? 0 : deviations[point];
}

TWILL_BODY double LinePlot::Frame::py(double value) const {
  return bottom - (value - y.first) / (y.last() - y.first) * (bottom - top);
}

TWILL_BODY LinePlot::Frame LinePlot::layout() const {
  constexpr double inf = std::numeric_limits<double>::infinity();
  double x_low = inf, x_high = -inf, y_low = inf, y_high = -inf;
  for (const Series& series : series_)
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const auto& [x, y] = series.points[i];
      if (!std::isfinite(x) || !std::isfinite(y)) continue;
      x_low = std::min(x_low, x);
      x_high = std::max(x_high, x);
      y_low = std::min(y_low, y - series.deviation(i));
      y_high = std::max(y_high, y + series.deviation(i));
    }
  if (x_low > x_high) x_low = y_low = 0, x_high = y_high = 1;
  if (options_.y_from_zero) y_low = std::min(y_low, 0.0), y_high = std::max(y_high, 0.0);

  Frame frame{};
  frame.top = 24 + (options_.title.empty() ? 0 : 26) + (series_.size() > 1 ? 24 : 0);
  frame.bottom = options_.height_px - 36 - (options_.x_label.empty() ? 0 : 20);
  frame.x = detail::nice_ticks(x_low, x_high, std::max(options_.width_px / 90, 3));
  frame.y = detail::nice_ticks(y_low, y_high, std::max(static_cast<int>(frame.bottom - frame.top) / 55, 3));
  std::size_t label_width = 0;
  for (int tick = 0; tick < frame.y.count; ++tick)
    label_width = std::max(label_width, detail::tick_label(frame.y, tick).size());
  frame.left = 22 + 7.5 * static_cast<double>(label_width) + (options_.y_label.empty() ? 0 : 20);
  frame.right = options_.width_px - 24;
  // The line fills the width: the x axis ends where the data do, the y axis on ticks.
  frame.x_low = x_low < x_high ? x_low : frame.x.first;
  frame.x_high = x_low < x_high ? x_high : frame.x.last();
  return frame;
}

TWILL_BODY void LinePlot::draw_segment(std::string& text, double x1, double y1, double x2, double y2,
                                       std::string_view colour) {
  using detail::fixed;
  text += join_text({"<line x1=\"", fixed(x1, 1), "\" y1=\"", fixed(y1, 1), "\" x2=\"", fixed(x2, 1), "\" y2=\"",
                     fixed(y2, 1), "\" stroke=\"", colour, "\"/>\n"});
}

TWILL_BODY void LinePlot::draw_text(std::string& text, double x, double y, std::string_view content,
                                    std::string_view attributes) {
  text += join_text({"<text x=\"", detail::fixed(x, 1), "\" y=\"", detail::fixed(y, 1), "\" ", attributes, ">",
                     detail::escape_xml(content), "</text>\n"});
}

TWILL_BODY void LinePlot::draw_axes(std::string& text, const Frame& frame) const {
  for (int tick = 0; tick < frame.y.count; ++tick) {
    const double y = frame.py(frame.y.at(tick));
    draw_segment(text, frame.left, y, frame.right, y, tick == 0 ? "#888888" : "#e6e6e6");
    draw_text(text, frame.left - 8, y + 4.5, detail::tick_label(frame.y, tick), "text-anchor=\"end\"");
  }
  const double margin = (frame.x_high - frame.x_low) * 1e-9;
  for (int tick = 0; tick < frame.x.count; ++tick) {
    const double value = frame.x.at(tick);
    if (value < frame.x_low - margin || value > frame.x_high + margin) continue;
    const double x = frame.px(value);
    draw_segment(text, x, frame.bottom, x, frame.bottom + 5, "#888888");
    draw_text(text, x, frame.bottom + 20, detail::tick_label(frame.x, tick), "text-anchor=\"middle\"");
  }
}

TWILL_BODY void LinePlot::draw_line(std::string& text, const Frame& frame, std::size_t index) const {
  const std::string_view colour = colours[index % colours.size()];
  const auto& points = series_[index].points;
  std::string path;
  bool is_pen_down = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [x, y] = points[i];
    const bool is_visible = std::isfinite(x) && std::isfinite(y);
    if (is_visible)
      path += join_text({is_pen_down ? "L" : "M", detail::fixed(frame.px(x), 2), " ", detail::fixed(frame.py(y), 2)});
    const bool is_alone =
        is_visible && !is_pen_down &&
        (i + 1 == points.size() || !std::isfinite(points[i + 1].first) || !std::isfinite(points[i + 1].second));
    if (is_alone || (is_visible && points.size() <= 40))
      text += join_text({"<circle cx=\"", detail::fixed(frame.px(x), 2), "\" cy=\"", detail::fixed(frame.py(y), 2),
                         "\" r=\"3\" fill=\"", colour, "\"/>\n"});
    if (const double deviation = series_[index].deviation(i); is_visible && deviation > 0)
      draw_segment(text, frame.px(x), frame.py(y - deviation), frame.px(x), frame.py(y + deviation), colour);
    is_pen_down = is_visible;
  }
  text += join_text({"<path d=\"", path, "\" fill=\"none\" stroke=\"", colour,
                     "\" stroke-width=\"1.8\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n"});
}

TWILL_BODY void LinePlot::draw_labels(std::string& text, const Frame& frame) const {
  const double middle_x = (frame.left + frame.right) / 2;
  const double middle_y = (frame.top + frame.bottom) / 2;
  if (!options_.title.empty())
    draw_text(text, frame.left, 30, options_.title, "font-size=\"17\" font-weight=\"bold\" fill=\"#222222\"");
  if (!options_.x_label.empty())
    draw_text(text, middle_x, frame.bottom + 44, options_.x_label, "text-anchor=\"middle\"");
  if (!options_.y_label.empty())
    draw_text(text, 22, middle_y, options_.y_label,
              join_text({"text-anchor=\"middle\" transform=\"rotate(-90 22 ", detail::fixed(middle_y, 1), ")\""}));
}

TWILL_BODY void LinePlot::draw_legend(std::string& text, const Frame& frame) const {
  if (series_.size() < 2) return;
  double x = frame.left;
  for (std::size_t i = 0; i < series_.size(); ++i) {
    text += join_text({"<rect x=\"", detail::fixed(x, 1), "\" y=\"", detail::fixed(frame.top - 24, 1),
                       "\" width=\"18\" height=\"4\" rx=\"2\" fill=\"", colours[i % colours.size()], "\"/>\n"});
    draw_text(text, x + 24, frame.top - 17, series_[i].name, "");
    x += 24 + 7.2 * static_cast<double>(series_[i].name.size()) + 22;
  }
}

} // namespace twill::inline v0::profile
