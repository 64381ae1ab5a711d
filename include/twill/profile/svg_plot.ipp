#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/svg_plot.hpp.

#include <twill/profile/svg_plot.hpp>

namespace twill { inline namespace v0 { namespace profile {

TWILL_BODY std::string LinePlot::svg() const {
  constexpr std::string_view colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A"};
  const auto [x, y] = axes();
  Svg svg{13};
  svg.y_axis(y, x.begin_px, x.end_px, options_.y_label);
  svg.x_axis(x, y.begin_px, options_.x_label);
  if (!options_.title.empty()) svg.title(x.begin_px, options_.title);
  double legend = x.begin_px;
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const std::string_view colour = colours[i % std::size(colours)];
    series_[i].draw(svg, x, y, colour);
    if (series_.size() > 1) // a single series needs no legend
      legend = svg.legend(legend, y.end_px - 17, series_[i].name, {.stroke = colour, .stroke_width = 4});
  }
  return svg.document(options_.width_px, options_.height_px);
}

TWILL_BODY std::pair<SvgAxis, SvgAxis> LinePlot::axes() const {
  constexpr double inf = std::numeric_limits<double>::infinity();
  double x_low = inf, x_high = -inf, y_low = inf, y_high = -inf;
  for (const Series& series : series_)
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      if (!series.is_visible(i)) continue;
      const auto& [x, y] = series.points[i];
      x_low = std::min(x_low, x);
      x_high = std::max(x_high, x);
      y_low = std::min(y_low, y - series.deviation(i));
      y_high = std::max(y_high, y + series.deviation(i));
    }
  if (x_low > x_high) x_low = y_low = 0, x_high = y_high = 1;
  if (options_.y_from_zero) y_low = std::min(y_low, 0.0), y_high = std::max(y_high, 0.0);

  const double top = 24 + (options_.title.empty() ? 0 : 26) + (series_.size() > 1 ? 24 : 0);
  const double bottom = options_.height_px - 36 - (options_.x_label.empty() ? 0 : 20);
  const Ticks x_ticks = nice_ticks(x_low, x_high, std::max(options_.width_px / 90, 3));
  const Ticks y_ticks = nice_ticks(y_low, y_high, std::max(static_cast<int>(bottom - top) / 55, 3));
  std::size_t label_size = 0;
  for (int tick = 0; tick < y_ticks.count; ++tick) label_size = std::max(label_size, y_ticks.label(tick).size());
  const double left = 22 + 7.5 * static_cast<double>(label_size) + (options_.y_label.empty() ? 0 : 20);
  const double right = options_.width_px - 24;
  // The line fills the width: the x axis ends where the data do, the y axis on ticks.
  if (!(x_low < x_high)) x_low = x_ticks.first, x_high = x_ticks.last();
  return {{x_low, x_high, left, right, x_ticks}, {y_ticks.first, y_ticks.last(), bottom, top, y_ticks}};
}

TWILL_BODY bool LinePlot::Series::is_visible(std::size_t point) const {
  return point < points.size() && std::isfinite(points[point].first) && std::isfinite(points[point].second);
}

TWILL_BODY double LinePlot::Series::deviation(std::size_t point) const {
  return deviations.empty() || !std::isfinite(deviations[point]) ? 0 : deviations[point];
}

TWILL_BODY void LinePlot::Series::draw(Svg& svg, const SvgAxis& x, const SvgAxis& y, std::string_view colour) const {
  std::string path;
  bool is_pen_down = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool begins = !std::exchange(is_pen_down, is_visible(i));
    if (!is_visible(i)) continue;
    const double px = x.at(points[i].first), py = y.at(points[i].second);
    path += Svg::path_to(px, py, begins ? 'M' : 'L');
    const bool is_alone = begins && !is_visible(i + 1);
    if (is_alone || points.size() <= 40) svg.circle(px, py, 3, {.fill = colour});
    if (const double bar = deviation(i); bar > 0)
      svg.line(px, y.at(points[i].second - bar), px, y.at(points[i].second + bar), {.stroke = colour});
  }
  svg.path(path, {.fill = "none", .stroke = colour, .stroke_width = 1.8});
}

}}} // namespace twill::v0::profile
