#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The memory plan of a compiled program as a picture, a self-contained SVG: instructions to the right, offsets in the arena
// upwards, a rectangle for each buffer from the instruction that writes it to the last that reads it, and a line at the bytes
// that live at each instruction. The plan is that of the executor, computed again, so nothing has to run. The same as text:
// `dump` in train/inspect.hpp.

#include <twill/compile/binding.hpp>
#include <twill/compile/dump.hpp>
#include <twill/compile/lower.hpp>
#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/memory/out_of_memory.hpp>
#include <twill/profile/gantt.hpp>
#include <twill/profile/svg_plot.hpp>
#include <twill/train/inspect.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace twill::inline v0::profile {

/// Texts and sizes of a drawing of a plan.
struct PlanDrawingOptions {
  std::string title = "memory plan"; ///< above the drawing
  int width_px = 1100;               ///< of the whole drawing
  int height_px = 520;               ///< of the drawing area of each device slot
};

} // namespace twill::inline v0::profile

namespace twill::inline v0::profile::detail::inline TWILL_ISA {

/// Draws the slots of a table one below the other.
class PlanDrawing {
public:
  PlanDrawing(const compile::TableView& table, const graph::SymbolValues& symbols, const PlanDrawingOptions& options)
      : table_{table}, symbols_{symbols}, options_{options}, plan_{compile::detail::plan_arenas(table, symbols)} {}

  [[nodiscard]] std::string svg() {
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

private:
  static constexpr double left = 84;
  static constexpr double top = 78;
  static constexpr int gap = 84; ///< under a slot, for its axis and the heading of the next

  struct Sort {
    std::string_view words;
    std::string_view colour;
  };
  static constexpr Sort sorts[] = {{"elementwise programs", "#56B4E9"},
                                   {"row programs", "#009E73"},
                                   {"column programs", "#CC79A7"},
                                   {"operations", "#E69F00"},
                                   {"copies and collectives", "#8A8A8A"}};

  [[nodiscard]] const compile::Instruction& instruction(int number) const {
    return table_.instructions[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] std::size_t sort_of(const compile::Instruction& writer) const {
    if (writer.moves || writer.collective != kernel::Collective::none) return 4;
    return static_cast<std::size_t>(table_.kernels[static_cast<std::size_t>(writer.kernel)].kind);
  }
  [[nodiscard]] std::string words_of(int number) const {
    const compile::Instruction& launch = instruction(number);
    const compile::KernelInfo& info = table_.kernels[static_cast<std::size_t>(launch.kernel)];
    const std::string_view sort = launch.moves                                    ? "copy from another slot"
                                  : info.kind == compile::KernelKind::operation   ? info.operation
                                  : info.kind == compile::KernelKind::elementwise ? "elementwise program"
                                  : info.kind == compile::KernelKind::rows        ? "row program"
                                                                                  : "column program";
    return join_text({"#", number, " ", sort});
  }
  [[nodiscard]] bool is_in(const compile::ValueInfo& value, std::size_t v, int slot) const {
    return plan_.offsets[v] >= 0 && value.slot == slot && plan_.value_bytes[v] > 0;
  }

  void write(double x, double y, std::string_view attributes, std::string_view content) {
    text_ += join_text(
        {"<text x=\"", fixed(x, 1), "\" y=\"", fixed(y, 1), "\" ", attributes, ">", escape_xml(content), "</text>\n"});
  }
  void line(double x1, double y1, double x2, double y2, std::string_view attributes) {
    text_ += join_text({"<line x1=\"", fixed(x1, 1), "\" y1=\"", fixed(y1, 1), "\" x2=\"", fixed(x2, 1), "\" y2=\"",
                        fixed(y2, 1), "\" ", attributes, "/>\n"});
  }

  void draw_legend() {
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

  void draw_slot(int slot, double y0) {
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
    write(
        left, y0 - 8, "",
        join_text({table_.slots > 1 ? join_text({"slot ", slot, ": "}) : std::string{}, "arena of ", words(arena.bytes),
                   " for ", buffers, " buffers of ", words(static_cast<std::size_t>(bytes)), " together; at most ",
                   words(static_cast<std::size_t>(alive[peak])), " live at once, at instruction #", peak}));
  }

  void draw_axes(double y0, double bottom, double right, double high, double steps) {
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

  void draw_buffer(std::size_t v, std::int64_t offset, double x, double y, double width, double height) {
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

  [[nodiscard]] static std::string words(std::size_t bytes) {
    return memory::format_bytes(static_cast<std::int64_t>(bytes));
  }

  const compile::TableView& table_;
  const graph::SymbolValues& symbols_;
  const PlanDrawingOptions& options_;
  compile::detail::ArenaPlan plan_;
  std::string text_{};
};

} // namespace twill::inline v0::profile::detail::inline TWILL_ISA

namespace twill::inline v0::profile::inline TWILL_ISA {

/// Draws the plan of a table for sizes of its symbols, as the executor has both.
/// cost: that of planning, and some 300 bytes of text for each buffer
[[nodiscard]] inline std::string svg_plan(const compile::TableView& table, const graph::SymbolValues& symbols,
                                          const PlanDrawingOptions& options = {}) {
  return detail::PlanDrawing{table, symbols, options}.svg();
}

/// Draws the plan of a source, with numbers for its named dimensions: `{{"batch", 64}}`. Traced and lowered at run time.
/// throws: ValueError when a dimension that a buffer has is not given
template <compile::Source S>
[[nodiscard]] std::string svg_plan(compile::DimensionSizes sizes, const PlanDrawingOptions& options = {}) {
  const compile::Lowered lowered = compile::lower(S::trace());
  const compile::TableView table = compile::view_of(lowered);
  graph::SymbolValues symbols{};
  symbols.fill(0);
  for (std::size_t i = 0; i < table.symbols.size(); ++i) {
    const std::string_view name = table.symbols[i].name.view();
    bool is_known = false;
    for (const auto& [given, size] : sizes)
      if (given == (name.empty() ? std::string_view{join_text({"s", i})} : name)) symbols[i] = size, is_known = true;
    for (const compile::ValueInfo& value : table.values)
      if (!is_known && value.storage == compile::Storage::temporary &&
          value.shape.elements().power(static_cast<int>(i)) > 0)
        throw ValueError(join_text({"svg_plan: dimension '", name, "' has no number; give {{\"", name, "\", 64}}"}));
  }
  return svg_plan(table, symbols, options);
}

/// Draws the plan of a whole training step, forward, loss, backward and update, of elements of float; the template arguments
/// are those of `dump`.
template <nn::Model M, auto Loss, optim::Rule R, AnyTensor... Targets>
[[nodiscard]] std::string svg_plan(compile::DimensionSizes sizes, const PlanDrawingOptions& options = {}) {
  return svg_plan<train::StepOf<M, Loss, R, Targets...>>(sizes, options);
}
/// That of a forward pass.
template <nn::Model M>
[[nodiscard]] std::string svg_plan(compile::DimensionSizes sizes, const PlanDrawingOptions& options = {}) {
  return svg_plan<train::ForwardOf<M>>(sizes, options);
}

/// Writes such a picture to a file.    throws: SystemError
template <nn::Model M, auto Loss, optim::Rule R, AnyTensor... Targets>
void save_plan(const std::string& path, compile::DimensionSizes sizes, const PlanDrawingOptions& options = {}) {
  profile::detail::write_text(path, svg_plan<M, Loss, R, Targets...>(sizes, options), "plan");
}
template <nn::Model M>
void save_plan(const std::string& path, compile::DimensionSizes sizes, const PlanDrawingOptions& options = {}) {
  profile::detail::write_text(path, svg_plan<M>(sizes, options), "plan");
}
template <compile::Source S>
void save_plan(const std::string& path, compile::DimensionSizes sizes, const PlanDrawingOptions& options = {}) {
  profile::detail::write_text(path, svg_plan<S>(sizes, options), "plan");
}

} // namespace twill::inline v0::profile::inline TWILL_ISA
