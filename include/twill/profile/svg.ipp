#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/svg.hpp.

#include <twill/profile/svg.hpp>

namespace twill { inline namespace v0 { namespace profile {
namespace detail {

/// The nearest 1, 2 or 5 times a power of ten.
TWILL_BODY double nice_number(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const double fraction = value / power;
  return (fraction < 1.5 ? 1.0 : fraction < 3 ? 2.0 : fraction < 7 ? 5.0 : 10.0) * power;
}

/// Numbers and a style as attributes of an element, each after a space.
TWILL_BODY std::string attributes(std::initializer_list<std::pair<std::string_view, double>> numbers,
                                  const SvgStyle& style) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += join_text({" ", name, "=\"", value, "\""});
  };
  const auto add_number = [&](std::string_view name, double value) {
    if (value != 0) add(name, fixed(value, 1));
  };
  for (const auto& [name, value] : numbers) add(name, fixed(value, 2));
  add("fill", style.fill);
  add_number("fill-opacity", style.fill_opacity);
  add("stroke", style.stroke);
  add_number("stroke-width", style.stroke_width);
  add("stroke-dasharray", style.dashes);
  add("text-anchor", style.anchor);
  add_number("font-size", style.font_px);
  if (style.is_bold) add("font-weight", "bold");
  return text;
}

} // namespace detail

TWILL_BODY std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20;
    const std::string_view name = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : "";
    if (name.empty())
      escaped += is_control ? ' ' : c;
    else
      escaped += name;
  }
  return escaped;
}

TWILL_BODY Ticks nice_ticks(double low, double high, int wanted) {
  if (!(low < high)) {
    const double margin = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= margin;
    high += margin;
  }
  Ticks ticks;
  ticks.step = detail::nice_number((high - low) / std::max(wanted - 1, 1));
  const double first = std::floor(low / ticks.step + 1e-9);
  const double last = std::ceil(high / ticks.step - 1e-9);
  ticks.first = first * ticks.step;
  ticks.count = static_cast<int>(last - first) + 1;
  ticks.digits = std::clamp(static_cast<int>(-std::floor(std::log10(ticks.step) + 1e-9)), 0, 12);
  return ticks;
}

TWILL_BODY std::string Ticks::label(int tick) const {
  const double value = std::abs(at(tick)) < step * 1e-6 ? 0 : at(tick);
  const double largest = std::max(std::abs(first), std::abs(last()));
  if (largest < 1e6 && largest >= 1e-4) return fixed(value, digits);
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

TWILL_BODY bool SvgAxis::shows(int tick) const {
  const double margin = (high - low) * 1e-9;
  return ticks.at(tick) >= low - margin && ticks.at(tick) <= high + margin;
}

TWILL_BODY void Svg::text(double x, double y, std::string_view content, const SvgStyle& style) {
  const std::string turn =
      style.is_upright ? join_text({" transform=\"rotate(-90 ", fixed(x, 2), " ", fixed(y, 2), ")\""}) : std::string{};
  text_ += join_text(
      {"<text", detail::attributes({{"x", x}, {"y", y}}, style), turn, ">", escape_xml(content), "</text>\n"});
}

TWILL_BODY void Svg::line(double x1, double y1, double x2, double y2, const SvgStyle& style) {
  text_ += join_text({"<line", detail::attributes({{"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}}, style), "/>\n"});
}

TWILL_BODY void Svg::rectangle(double x, double y, double width, double height, const SvgStyle& style,
                               std::string_view tip) {
  text_ += join_text({"<rect", detail::attributes({{"x", x}, {"y", y}, {"width", width}, {"height", height}}, style),
                      tip.empty() ? "/>\n" : join_text({"><title>", escape_xml(tip), "</title></rect>\n"})});
}

TWILL_BODY void Svg::circle(double x, double y, double radius, const SvgStyle& style) {
  text_ += join_text({"<circle", detail::attributes({{"cx", x}, {"cy", y}, {"r", radius}}, style), "/>\n"});
}

TWILL_BODY void Svg::path(std::string_view data, const SvgStyle& style) {
  text_ += join_text({"<path d=\"", data, "\"", detail::attributes({}, style),
                      " stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n"});
}

TWILL_BODY std::string Svg::path_to(double x, double y, char command) {
  return command + join_text({fixed(x, 2), " ", fixed(y, 2)});
}

TWILL_BODY void Svg::x_axis(const SvgAxis& axis, double y, std::string_view name) {
  for (int tick = 0; tick < axis.ticks.count; ++tick) {
    if (!axis.shows(tick)) continue;
    const double x = axis.at(axis.ticks.at(tick));
    line(x, y, x, y + 5, {.stroke = "#888888"});
    text(x, y + 7 + font_px_, axis.ticks.label(tick), {.anchor = "middle"});
  }
  if (!name.empty()) text((axis.begin_px + axis.end_px) / 2, y + 30 + font_px_, name, {.anchor = "middle"});
}

TWILL_BODY void Svg::y_axis(const SvgAxis& axis, double left, double right, std::string_view name) {
  for (int tick = 0; tick < axis.ticks.count; ++tick) {
    if (!axis.shows(tick)) continue;
    const double y = axis.at(axis.ticks.at(tick));
    line(left, y, right, y, {.stroke = tick == 0 ? "#888888" : "#e6e6e6"});
    text(left - 8, y + 4.5, axis.ticks.label(tick), {.anchor = "end"});
  }
  if (!name.empty()) text(22, (axis.begin_px + axis.end_px) / 2, name, {.anchor = "middle", .is_upright = true});
}

TWILL_BODY double Svg::legend(double x, double y, std::string_view words, const SvgStyle& sample) {
  line(x, y - 0.35 * font_px_, x + 14, y - 0.35 * font_px_, sample);
  text(x + 20, y, words);
  return x + 20 + 0.55 * font_px_ * static_cast<double>(words.size()) + 22;
}

TWILL_BODY std::string Svg::document(double width_px, double height_px) const {
  const std::string width = fixed(width_px, 0), height = fixed(height_px, 0);
  return join_text({"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
                    "\" viewBox=\"0 0 ", width, " ", height, "\" font-family=\"Helvetica, Arial, sans-serif\"",
                    " font-size=\"", font_px_, "\" fill=\"#333333\">\n",
                    "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", text_, "</svg>\n"});
}

}}} // namespace twill::v0::profile
