#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Line charts as self-contained SVG: axes with round ticks, a grid, a legend, several series. Ticks are multiples of 1, 2 or
// 5 times a power of ten (Heckbert, "Nice numbers for graph labels", Graphics Gems, 1990); colours are those of Okabe and
// Ito (2008), which colour-blind readers can tell apart. Values that are not finite leave a gap in their line.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::profile {

/// Texts and sizes of a plot.
struct PlotOptions {
  std::string title = {};   ///< above the plot
  std::string x_label = {}; ///< below the axis
  std::string y_label = {}; ///< beside the axis
  int width_px = 720;       ///< of the whole drawing
  int height_px = 440;      ///< of the whole drawing
  bool y_from_zero = false; ///< The y axis includes 0.
};

namespace detail {

/// Round positions that span a range.
struct Ticks {
  double first = 0;
  double step = 1;
  int count = 2;
  int digits = 0; ///< after the point

  [[nodiscard]] double at(int tick) const { return first + step * tick; }
  [[nodiscard]] double last() const { return at(count - 1); }
};

/// The nearest 1, 2 or 5 times a power of ten.
[[nodiscard]] double nice_number(double value);

/// About `wanted` ticks around [low, high]; an empty range is widened.
[[nodiscard]] Ticks nice_ticks(double low, double high, int wanted);

[[nodiscard]] std::string fixed(double value, int digits);

/// A tick's label; large and tiny values in exponent form.
[[nodiscard]] std::string tick_label(const Ticks& ticks, int tick);

[[nodiscard]] std::string escape_xml(std::string_view text);

} // namespace detail

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

  /// The same with bars that reach as far above and below each point as its deviation says.
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
  void save(const std::string& path) const;

  /// The whole document.
  [[nodiscard]] std::string svg() const;

private:
  struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;
    std::vector<double> deviations; ///< of y; none, or one for each point

    [[nodiscard]] double deviation(std::size_t point) const;
  };

  /// Where the plotting area lies and what it shows.
  struct Frame {
    double left, top, right, bottom;
    detail::Ticks x, y;
    double x_low, x_high;

    [[nodiscard]] double px(double value) const { return left + (value - x_low) / (x_high - x_low) * (right - left); }
    [[nodiscard]] double py(double value) const;
  };

  // Okabe and Ito's palette, the darker half first.
  static constexpr std::array<std::string_view, 7> colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                           "#E69F00", "#56B4E9", "#7A7A7A"};

  [[nodiscard]] Frame layout() const;

  static void draw_segment(std::string& text, double x1, double y1, double x2, double y2, std::string_view colour);

  static void draw_text(std::string& text, double x, double y, std::string_view content, std::string_view attributes);

  void draw_axes(std::string& text, const Frame& frame) const;

  void draw_line(std::string& text, const Frame& frame, std::size_t index) const;

  void draw_labels(std::string& text, const Frame& frame) const;

  // One line of names above the plotting area; a single series needs none.
  void draw_legend(std::string& text, const Frame& frame) const;

  PlotOptions options_;
  std::vector<Series> series_;
};

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/svg_plot.ipp>
#endif
