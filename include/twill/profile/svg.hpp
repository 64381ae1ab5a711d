#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// SVG drawings: text, lines, rectangles, circles, paths, and axes with round ticks, in pixels from the upper left
// corner of a white page. A document refers to no other file. Ticks are multiples of 1, 2 or 5 times a power of ten
// (Heckbert, "Nice numbers for graph labels", Graphics Gems, 1990). Colours of the drawings are those of Okabe and Ito
// (2008), which colour-blind readers can tell apart. Read next: profile/svg_plot.hpp, profile/gantt.hpp,
// profile/plan_drawing.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/profile/format.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace profile {

/// Text in which the characters that mean something in XML and HTML are escaped.
[[nodiscard]] std::string escape_xml(std::string_view text);

/// Round positions that span a range.
struct Ticks {
  double first = 0; ///< the lowest
  double step = 1;  ///< from one to the next
  int count = 2;    ///< how many
  int digits = 0;   ///< of labels, after the point

  /// The position of a tick.
  [[nodiscard]] double at(int tick) const { return first + step * tick; }
  /// The highest position.
  [[nodiscard]] double last() const { return at(count - 1); }
  /// The label of a tick; large and tiny values in exponent form.
  [[nodiscard]] std::string label(int tick) const;
};

/// About `wanted` ticks around [low, high]; an empty range is widened.
[[nodiscard]] Ticks nice_ticks(double low, double high, int wanted);

/// A linear scale along one side of a drawing: values from `low` to `high` between two positions in pixels.
struct SvgAxis {
  double low = 0;      ///< the value at `begin_px`
  double high = 1;     ///< the value at `end_px`
  double begin_px = 0; ///< left for an axis below, below for one at the left
  double end_px = 0;   ///< at the other end
  Ticks ticks{};       ///< those outside of the values are not drawn

  /// The pixels of a value. All values of an empty range are where the axis begins.
  [[nodiscard]] double at(double value) const {
    return high > low ? begin_px + (value - low) / (high - low) * (end_px - begin_px) : begin_px;
  }
  /// Whether a tick is drawn.
  [[nodiscard]] bool shows(int tick) const;
};

/// The presentation of an element. Members that are empty or zero are inherited from the page.
struct SvgStyle {
  std::string_view fill{};   ///< colour of text and areas, "none" for outlines
  std::string_view stroke{}; ///< colour of lines
  double stroke_width = 0;   ///< pixels
  std::string_view dashes{}; ///< lengths of dashes and gaps: "6 3"
  double fill_opacity = 0;   ///< up to 1
  std::string_view anchor{}; ///< the point of a text that its position names: "middle" or "end"
  double font_px = 0;        ///< size of text
  bool is_bold = false;      ///< of text
  bool is_upright = false;   ///< text that reads from below
};

/// A drawing that elements are added to, each above those before it.
class Svg {
public:
  /// An empty drawing.
  explicit Svg(int font_px = 12) : font_px_{font_px} {}

  /// One line of text; y is its base line.
  void text(double x, double y, std::string_view content, const SvgStyle& style = {});
  /// The heading of the page.
  void title(double x, std::string_view content) { text(x, 29, content, {.font_px = 17, .is_bold = true}); }
  /// A straight line.
  void line(double x1, double y1, double x2, double y2, const SvgStyle& style);
  /// A rectangle, with a text that browsers show beside the pointer.
  void rectangle(double x, double y, double width, double height, const SvgStyle& style, std::string_view tip = {});
  /// A full circle.
  void circle(double x, double y, double radius, const SvgStyle& style);
  /// A path of parts that `path_to` makes.
  void path(std::string_view data, const SvgStyle& style);
  /// A part of a path: a line to a point, or with 'M' the point where one begins.
  [[nodiscard]] static std::string path_to(double x, double y, char command = 'L');

  /// Ticks and their labels below a line at y, and the name of the axis.
  void x_axis(const SvgAxis& axis, double y, std::string_view name);
  /// Lines across the drawing at the ticks, labels beside them, and the name of the axis at the edge of the page.
  void y_axis(const SvgAxis& axis, double left, double right, std::string_view name);

  /// A line of a legend: a sample in the style of what it explains, then words. Returns where the next one begins.
  double legend(double x, double y, std::string_view words, const SvgStyle& sample);

  /// The whole document, the drawing on a white page.
  [[nodiscard]] std::string document(double width_px, double height_px) const;

private:
  int font_px_;
  std::string text_{};
};

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/svg.ipp>
#endif
