#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/plan_drawing.hpp.

#include <twill/profile/plan_drawing.hpp>

namespace twill { inline namespace v0 { namespace profile {
namespace detail { inline namespace TWILL_ISA {

/// Draws the arenas of a plan, one for each slot.
class PlanDrawing {
public:
  PlanDrawing(const compile::TableView& table, const graph::SymbolValues& symbols, const PlanDrawingOptions& options)
      : table_{table}, symbols_{symbols}, options_{options}, plan_{compile::plan_arenas(table, symbols)} {}

  [[nodiscard]] std::string svg() {
    svg_.title(left, options_.title);
    draw_legend();
    for (int slot = 0; slot < table_.slots; ++slot) draw_slot(slot, top + slot * (options_.height_px + gap));
    return svg_.document(options_.width_px, top + table_.slots * (options_.height_px + gap));
  }

private:
  static constexpr double left = 84;
  static constexpr double top = 78;
  static constexpr int gap = 84; ///< under a slot, for its axis and the heading of the next
  static constexpr SvgStyle bytes_style{.fill = "none", .stroke = "#111111", .stroke_width = 1.6};
  static constexpr SvgStyle arena_style{.stroke = "#D00000", .dashes = "6 3"};

  /// A kind of launch that writes buffers, in the order of `compile::KernelKind`.
  struct Writer {
    std::string_view one;
    std::string_view many;
    std::string_view colour;
  };
  static constexpr Writer writers[] = {{"elementwise program", "elementwise programs", "#56B4E9"},
                                       {"row program", "row programs", "#009E73"},
                                       {"column program", "column programs", "#CC79A7"},
                                       {"operation", "operations", "#E69F00"},
                                       {"copy from another slot", "copies and collectives", "#8A8A8A"}};

  [[nodiscard]] const compile::Instruction& instruction(int number) const {
    return table_.instructions[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] const compile::KernelInfo& kernel_of(const compile::Instruction& launch) const {
    return table_.kernels[static_cast<std::size_t>(launch.kernel)];
  }
  [[nodiscard]] static bool is_collective(const compile::Instruction& launch) {
    return launch.collective != kernel::Collective::none;
  }
  [[nodiscard]] std::size_t writer_of(const compile::Instruction& launch) const {
    return launch.moves || is_collective(launch) ? 4 : static_cast<std::size_t>(kernel_of(launch).kind);
  }
  [[nodiscard]] std::string words_of(int number) const {
    const compile::Instruction& launch = instruction(number);
    const std::size_t writer = writer_of(launch);
    const bool is_operation = writer == static_cast<std::size_t>(compile::KernelKind::operation);
    return join_text({"#", number, " ",
                      is_collective(launch) ? "collective"
                      : is_operation        ? kernel_of(launch).operation
                                            : writers[writer].one});
  }

  void draw_legend() {
    bool occurs[std::size(writers)] = {};
    for (std::size_t v = 0; v < table_.values.size(); ++v)
      if (plan_.offsets[v] >= 0) occurs[writer_of(instruction(table_.values[v].first_use))] = true;
    double x = left + 76;
    svg_.text(left, 52, "written by", {.fill = "#666666"});
    for (std::size_t writer = 0; writer < std::size(writers); ++writer)
      if (occurs[writer])
        x = svg_.legend(x, 52, writers[writer].many, {.stroke = writers[writer].colour, .stroke_width = 11});
    x = svg_.legend(x, 52, "bytes alive", bytes_style);
    svg_.legend(x, 52, "size of the arena", arena_style);
  }

  void draw_slot(int slot, double y0) {
    const auto arena = plan_.arenas[static_cast<std::size_t>(slot)];
    const auto steps = static_cast<int>(std::max<std::size_t>(table_.instructions.size(), 1));
    const SvgAxis x_axis{0, 1.0 * steps, left, options_.width_px - 24.0,
                         nice_ticks(0, steps, std::clamp(options_.width_px / 110, 2, steps + 1))};
    static constexpr std::string_view units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double high = static_cast<double>(std::max<std::size_t>(arena.bytes, 1)) * 1.04, scale = 1;
    std::size_t unit = 0;
    for (; high >= 1024 && unit + 1 < std::size(units); ++unit) high /= 1024, scale *= 1024;
    const double bottom = y0 + options_.height_px;
    const SvgAxis y_axis{0, high, bottom, y0, nice_ticks(0, high, std::max(options_.height_px / 60, 3))};
    svg_.y_axis(y_axis, left, x_axis.end_px, join_text({"offset in the arena (", units[unit], ")"}));
    svg_.x_axis(x_axis, bottom, "instruction, in the order in which they run");
    const auto y_of = [&](std::int64_t bytes) { return y_axis.at(static_cast<double>(bytes) / scale); };

    std::vector<std::int64_t> changes(table_.instructions.size() + 1, 0); // of the bytes alive
    std::int64_t buffers = 0, bytes = 0;
    for (std::size_t v = 0; v < table_.values.size(); ++v) {
      const compile::ValueInfo& value = table_.values[v];
      if (plan_.offsets[v] < 0 || value.slot != slot || plan_.value_bytes[v] == 0) continue;
      const auto size = static_cast<std::int64_t>(plan_.value_bytes[v]);
      const std::int64_t offset = plan_.offsets[v] - static_cast<std::int64_t>(arena.first);
      ++buffers;
      bytes += size;
      changes[static_cast<std::size_t>(value.first_use)] += size;
      changes[static_cast<std::size_t>(value.last_use) + 1] -= size;
      const double x = x_axis.at(value.first_use), y = y_of(offset + size);
      draw_buffer(v, offset, x, y, std::max(x_axis.at(value.last_use + 1.0) - x, 0.4), std::max(y_of(offset) - y, 0.4));
    }

    const auto [peak, most] = draw_bytes_alive(changes, x_axis, y_of);
    const double y_arena = y_of(static_cast<std::int64_t>(arena.bytes));
    svg_.line(left, y_arena, x_axis.end_px, y_arena, arena_style);
    svg_.text(left, y0 - 8,
              join_text({table_.slots > 1 ? join_text({"slot ", slot, ": "}) : std::string{}, "arena of ",
                         format_bytes(arena.bytes), " for ", buffers, " buffers of ", format_bytes(bytes),
                         " together; at most ", format_bytes(most), " live at once, at instruction #", peak}));
  }

  /// Draws the bytes alive at each instruction, from their changes. Returns the first instruction with the most, and
  /// their number.
  template <class YOf>
  [[nodiscard]] std::pair<std::size_t, std::int64_t> draw_bytes_alive(const std::vector<std::int64_t>& changes,
                                                                      const SvgAxis& x_axis, const YOf& y_of) {
    std::string path;
    std::int64_t alive = 0;
    std::pair<std::size_t, std::int64_t> peak{};
    for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
      alive += changes[i];
      if (alive > peak.second) peak = {i, alive};
      path += Svg::path_to(x_axis.at(static_cast<double>(i)), y_of(alive), i == 0 ? 'M' : 'L');
      path += Svg::path_to(x_axis.at(static_cast<double>(i) + 1), y_of(alive));
    }
    if (!path.empty()) svg_.path(path, bytes_style);
    return peak;
  }

  void draw_buffer(std::size_t v, std::int64_t offset, double x, double y, double width, double height) {
    const compile::ValueInfo& value = table_.values[v];
    const std::string shape = twill::to_string(value.shape.evaluate(symbols_)), name = join_text({"t", v, " ", shape});
    const std::string size = format_bytes(plan_.value_bytes[v]);
    SvgStyle style{.fill = writers[writer_of(instruction(value.first_use))].colour, .fill_opacity = 0.8};
    if (width > 3 && height > 3) style.stroke = "#ffffff", style.stroke_width = 0.8;
    svg_.rectangle(
        x, y, width, height, style,
        join_text({"t", v, " ", twill::name(value.dtype), " ", shape, ", ", size, " at ", format_bytes(offset),
                   ", written by ", words_of(value.first_use), ", last used by ", words_of(value.last_use)}));
    const auto fits = [&](const std::string& text) { return width > 5.8 * static_cast<double>(text.size()) + 6; };
    const bool has_size = height > 26 && fits(name) && fits(size);
    if (height > 13 && fits(name))
      svg_.text(x + width / 2, y + height / 2 + (has_size ? -2 : 4), name, {.anchor = "middle", .font_px = 10.5});
    if (has_size)
      svg_.text(x + width / 2, y + height / 2 + 11, size, {.fill = "#555555", .anchor = "middle", .font_px = 10.5});
  }

  const compile::TableView& table_;
  const graph::SymbolValues& symbols_;
  const PlanDrawingOptions& options_;
  compile::ArenaPlan plan_;
  Svg svg_{};
};

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

TWILL_BODY std::string svg_plan(const compile::TableView& table, const graph::SymbolValues& symbols,
                                const PlanDrawingOptions& options) {
  return detail::PlanDrawing{table, symbols, options}.svg();
}

TWILL_BODY std::string svg_plan(const graph::Graph& traced, compile::DimensionSizes sizes,
                                const PlanDrawingOptions& options) {
  const compile::Lowered lowered = compile::lower(traced);
  const compile::TableView table = compile::view_of(lowered);
  graph::SymbolValues symbols{};
  symbols.fill(0);
  for (std::size_t i = 0; i < table.symbols.size(); ++i) {
    const std::string number = join_text({"s", i}); // names a dimension without a name
    const std::string_view name = table.symbols[i].name.view();
    bool is_known = false;
    for (const auto& [given, size] : sizes)
      if (given == (name.empty() ? number : name)) symbols[i] = size, is_known = true;
    for (const compile::ValueInfo& value : table.values)
      if (!is_known && value.storage == compile::Storage::temporary &&
          value.shape.elements().power(static_cast<int>(i)) > 0)
        throw ValueError(join_text({"svg_plan: dimension '", name, "' has no number; give {{\"", name, "\", 64}}"}));
  }
  return svg_plan(table, symbols, options);
}

} // namespace TWILL_ISA
}}} // namespace twill::v0::profile
