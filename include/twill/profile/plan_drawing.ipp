#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/plan_drawing.hpp.

#include <twill/profile/plan_drawing.hpp>

namespace twill::inline v0::profile::detail::inline TWILL_ISA {

TWILL_BODY std::string PlanDrawing::svg() {
  const int height = static_cast<int>(top) + table_.slots * (options_.height_px + gap);
  text_ = join_text({"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", options_.width_px, "\" height=\"", height,
                     "\" viewBox=\"0 0 ", options_.width_px, " ", height,
                     "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#333333\">\n",
                     "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"});
  write(left, 28, "font-size=\"17\" font-weight=\"bold\"", options_.title);
  draw_legend();
  for (int slot = 0; slot < table_.slots; ++slot) draw_slot(slot, top + slot * (options_.height_px + gap));
  return text_ + "</svg>\n";
}

TWILL_BODY const compile::Instruction& PlanDrawing::instruction(int number) const {
  return table_.instructions[static_cast<std::size_t>(number)];
}

TWILL_BODY std::size_t PlanDrawing::sort_of(const compile::Instruction& writer) const {
  if (writer.moves || writer.collective != kernel::Collective::none) return 4;
  return static_cast<std::size_t>(table_.kernels[static_cast<std::size_t>(writer.kernel)].kind);
}

TWILL_BODY std::string PlanDrawing::words_of(int number) const {
  const compile::Instruction& launch = instruction(number);
  const compile::KernelInfo& info = table_.kernels[static_cast<std::size_t>(launch.kernel)];
  const std::string_view sort = launch.moves                                    ? "copy from another slot"
                                : info.kind == compile::KernelKind::operation   ? info.operation
                                : info.kind == compile::KernelKind::elementwise ? "elementwise program"
                                : info.kind == compile::KernelKind::rows        ? "row program"
                                                                                : "column program";
  return join_text({"#", number, " ", sort});
}

TWILL_BODY bool PlanDrawing::is_in(const compile::ValueInfo& value, std::size_t v, int slot) const {
  return plan_.offsets[v] >= 0 && value.slot == slot && plan_.value_bytes[v] > 0;
}

TWILL_BODY void PlanDrawing::write(double x, double y, std::string_view attributes, std::string_view content) {
  text_ += join_text(
      {"<text x=\"", fixed(x, 1), "\" y=\"", fixed(y, 1), "\" ", attributes, ">", escape_xml(content), "</text>\n"});
}

TWILL_BODY void PlanDrawing::line(double x1, double y1, double x2, double y2, std::string_view attributes) {
  text_ += join_text({"<line x1=\"", fixed(x1, 1), "\" y1=\"", fixed(y1, 1), "\" x2=\"", fixed(x2, 1), "\" y2=\"",
                      fixed(y2, 1), "\" ", attributes, "/>\n"});
}

TWILL_BODY void PlanDrawing::draw_legend() {
  bool is_present[std::size(sorts)] = {};
  for (std::size_t v = 0; v < table_.values.size(); ++v)
    if (plan_.offsets[v] >= 0) is_present[sort_of(instruction(table_.values[v].first_use))] = true;
  double x = left;
  const auto entry = [&](std::string_view words, double width) {
    write(x + 20, 52, "", words);
    x += width + 20 + 6.4 * static_cast<double>(words.size());
  };
  write(x, 52, "fill=\"#666666\"", "written by");
  x += 76;
  for (std::size_t sort = 0; sort < std::size(sorts); ++sort) {
    if (!is_present[sort]) continue;
    text_ += join_text(
        {"<rect x=\"", fixed(x, 1), "\" y=\"42\" width=\"14\" height=\"11\" fill=\"", sorts[sort].colour, "\"/>\n"});
    entry(sorts[sort].words, 22);
  }
  line(x, 48, x + 14, 48, "stroke=\"#111111\" stroke-width=\"1.6\"");
  entry("bytes alive", 22);
  line(x, 48, x + 14, 48, "stroke=\"#D00000\" stroke-dasharray=\"6 3\"");
  entry("size of the arena", 0);
}

TWILL_BODY void PlanDrawing::draw_slot(int slot, double y0) {
  const auto arena = plan_.arenas[static_cast<std::size_t>(slot)];
  const double right = options_.width_px - 24.0;
  const double bottom = y0 + options_.height_px;
  const auto steps = static_cast<double>(std::max<std::size_t>(table_.instructions.size(), 1));
  const double high = static_cast<double>(std::max<std::size_t>(arena.bytes, 1)) * 1.04;
  const auto x_of = [&](double step) { return left + (right - left) * step / steps; };
  const auto y_of = [&](double bytes) { return bottom - (bottom - y0) * bytes / high; };
  draw_axes(y0, bottom, right, high, steps);

  std::vector<std::int64_t> alive(table_.instructions.size() + 1, 0); // first as differences
  std::size_t buffers = 0;
  std::int64_t bytes = 0;
  for (std::size_t v = 0; v < table_.values.size(); ++v) {
    const compile::ValueInfo& value = table_.values[v];
    if (!is_in(value, v, slot)) continue;
    const auto size = static_cast<std::int64_t>(plan_.value_bytes[v]);
    const std::int64_t offset = plan_.offsets[v] - static_cast<std::int64_t>(arena.first);
    ++buffers;
    bytes += size;
    alive[static_cast<std::size_t>(value.first_use)] += size;
    alive[static_cast<std::size_t>(value.last_use) + 1] -= size;
    const double x = x_of(value.first_use);
    const double y = y_of(static_cast<double>(offset + size));
    draw_buffer(v, offset, x, y, std::max(x_of(value.last_use + 1.0) - x, 0.4),
                std::max(y_of(static_cast<double>(offset)) - y, 0.4));
  }

  std::string path;
  std::size_t peak = 0;
  for (std::size_t i = 0; i + 1 < alive.size(); ++i) {
    if (i > 0) alive[i] += alive[i - 1];
    if (alive[i] > alive[peak]) peak = i;
    const double y = y_of(static_cast<double>(alive[i]));
    path += join_text({i == 0 ? "M" : "L", fixed(x_of(static_cast<double>(i)), 1), " ", fixed(y, 1), "L",
                       fixed(x_of(static_cast<double>(i) + 1), 1), " ", fixed(y, 1)});
  }
  if (!path.empty())
    text_ += join_text({"<path d=\"", path, "\" fill=\"none\" stroke=\"#111111\" stroke-width=\"1.6\"/>\n"});
  const double y_arena = y_of(static_cast<double>(arena.bytes));
  line(left, y_arena, right, y_arena, "stroke=\"#D00000\" stroke-dasharray=\"6 3\"");
  write(left, y0 - 8, "",
        join_text({table_.slots > 1 ? join_text({"slot ", slot, ": "}) : std::string{}, "arena of ", words(arena.bytes),
                   " for ", buffers, " buffers of ", words(static_cast<std::size_t>(bytes)), " together; at most ",
                   words(static_cast<std::size_t>(alive[peak])), " live at once, at instruction #", peak}));
}

TWILL_BODY void PlanDrawing::draw_axes(double y0, double bottom, double right, double high, double steps) {
  static constexpr std::string_view units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  double scale = 1;
  while (high / scale >= 1024 && unit + 1 < std::size(units)) scale *= 1024, ++unit;
  const Ticks rows = nice_ticks(0, high / scale, std::max(static_cast<int>(bottom - y0) / 60, 3));
  for (int tick = 0; tick < rows.count && rows.at(tick) * scale <= high; ++tick) {
    const double y = bottom - (bottom - y0) * rows.at(tick) * scale / high;
    line(left, y, right, y, tick == 0 ? "stroke=\"#888888\"" : "stroke=\"#e6e6e6\"");
    write(left - 8, y + 4.5, "text-anchor=\"end\"", tick_label(rows, tick));
  }
  const Ticks marks = nice_ticks(0, steps, std::max(options_.width_px / 110, 3));
  for (int tick = 0; tick < marks.count && marks.at(tick) <= steps; ++tick) {
    if (marks.step < 1 && marks.at(tick) != static_cast<double>(static_cast<int>(marks.at(tick)))) continue;
    const double x = left + (right - left) * marks.at(tick) / steps;
    line(x, bottom, x, bottom + 5, "stroke=\"#888888\"");
    write(x, bottom + 19, "text-anchor=\"middle\"", fixed(marks.at(tick), 0));
  }
  write((left + right) / 2, bottom + 40, "text-anchor=\"middle\"", "instruction, in the order in which they run");
  const double middle = (y0 + bottom) / 2;
  write(20, middle, join_text({"text-anchor=\"middle\" transform=\"rotate(-90 20 ", fixed(middle, 1), ")\""}),
        join_text({"offset in the arena (", units[unit], ")"}));
}

TWILL_BODY void PlanDrawing::draw_buffer(std::size_t v, std::int64_t offset, double x, double y, double width,
                                         double height) {
  const compile::ValueInfo& value = table_.values[v];
  const std::string shape = twill::to_string(value.shape.evaluate(symbols_));
  const bool has_border = width > 3 && height > 3;
  text_ += join_text({"<rect x=\"",
                      fixed(x, 2),
                      "\" y=\"",
                      fixed(y, 2),
                      "\" width=\"",
                      fixed(width, 2),
                      "\" height=\"",
                      fixed(height, 2),
                      "\" fill=\"",
                      sorts[sort_of(instruction(value.first_use))].colour,
                      "\" fill-opacity=\"0.8\"",
                      has_border ? " stroke=\"#ffffff\" stroke-width=\"0.8\"" : "",
                      "><title>t",
                      v,
                      " ",
                      twill::name(value.dtype),
                      " ",
                      escape_xml(shape),
                      ", ",
                      words(plan_.value_bytes[v]),
                      " at ",
                      words(static_cast<std::size_t>(offset)),
                      ", written by ",
                      escape_xml(words_of(value.first_use)),
                      ", last used by ",
                      escape_xml(words_of(value.last_use)),
                      "</title></rect>\n"});
  const std::string name = join_text({"t", v, " ", shape});
  const std::string size = words(plan_.value_bytes[v]);
  if (height > 26 && width > 5.8 * static_cast<double>(std::max(name.size(), size.size())) + 6) {
    write(x + width / 2, y + height / 2 - 2, "text-anchor=\"middle\" font-size=\"10.5\"", name);
    write(x + width / 2, y + height / 2 + 11, "text-anchor=\"middle\" font-size=\"10.5\" fill=\"#555555\"", size);
  } else if (height > 13 && width > 5.8 * static_cast<double>(name.size()) + 6) {
    write(x + width / 2, y + height / 2 + 4, "text-anchor=\"middle\" font-size=\"10.5\"", name);
  }
}

TWILL_BODY std::string PlanDrawing::words(std::size_t bytes) {
  return memory::format_bytes(static_cast<std::int64_t>(bytes));
}

} // namespace twill::inline v0::profile::detail::inline TWILL_ISA

namespace twill::inline v0::profile::inline TWILL_ISA {

TWILL_BODY std::string svg_plan(const compile::TableView& table, const graph::SymbolValues& symbols,
                                const PlanDrawingOptions& options) {
  return detail::PlanDrawing{table, symbols, options}.svg();
}

} // namespace twill::inline v0::profile::inline TWILL_ISA
