#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Line charts as self-contained SVG documents: several series with bars of deviation, axes with round ticks, a grid, a
// legend. Values that are not finite leave a gap in their line. Read next: profile/svg.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/profile/format.hpp>
#include <twill/profile/svg.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// Texts and sizes of a plot.
struct PlotOptions {
  std::string title = {};   ///< above the plot
  std::string x_label = {}; ///< below the axis
  std::string y_label = {}; ///< beside the axis
  int width_px = 720;       ///< of the whole drawing
  int height_px = 440;      ///< of the whole drawing
  bool y_from_zero = false; ///< The y axis includes 0.
};

/// A chart that series are added to.
class LinePlot {
public:
  /// An empty plot.
  explicit LinePlot(PlotOptions options = {}) : options_{std::move(options)} {}

  /// Adds a line through points, in the order given. throws: ShapeError unless there are as many x as y
  template <class X, class Y> LinePlot& add(std::string name, const X& x, const Y& y) {
    Series series{std::move(name), {}, {}};
    auto y_at = std::begin(y);
    for (const auto& x_value : x) {
      if (y_at == std::end(y)) break;
      series.points.emplace_back(static_cast<double>(x_value), static_cast<double>(*y_at++));
    }
    if (series.points.size() != std::size(x) || y_at != std::end(y))
      throw ShapeError(
          join_text({"plot: series \"", series.name, "\" has ", std::size(x), " x and ", std::size(y), " y values"}));
    series_.push_back(std::move(series));
    return *this;
  }

  /// Adds a line and, around each point, a bar as long up and down as its deviation.
  /// throws: ShapeError unless there are as many of each
  template <class X, class Y, class Deviations>
  LinePlot& add(std::string name, const X& x, const Y& y, const Deviations& deviations) {
    add(std::move(name), x, y);
    Series& series = series_.back();
    for (const auto& deviation : deviations) series.deviations.push_back(static_cast<double>(deviation));
    if (series.deviations.size() != series.points.size())
      throw ShapeError(join_text({"plot: series \"", series.name, "\" has ", series.points.size(), " points and ",
                                  series.deviations.size(), " deviations"}));
    return *this;
  }

  /// The values against 0, 1, 2, ...
  template <class Y> LinePlot& add(std::string name, const Y& y) {
    std::vector<double> x(std::size(y));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
    return add(std::move(name), x, y);
  }

  /// Writes the file. throws: SystemError
  void save(const std::string& path) const { save_text("plot", path, svg()); }

  /// The whole document.
  [[nodiscard]] std::string svg() const;

private:
  struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;
    std::vector<double> deviations; ///< of y; none, or one for each point

    [[nodiscard]] bool is_visible(std::size_t point) const;
    [[nodiscard]] double deviation(std::size_t point) const;
    void draw(Svg& svg, const SvgAxis& x, const SvgAxis& y, std::string_view colour) const;
  };

  /// Both axes, fitted to the series and to the place that labels leave.
  [[nodiscard]] std::pair<SvgAxis, SvgAxis> axes() const;

  PlotOptions options_;
  std::vector<Series> series_;
};

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/svg_plot.ipp>
#endif
