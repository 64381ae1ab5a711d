#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The memory plan of a compiled program as a picture, a self-contained SVG: instructions to the right, offsets in the arena
// upwards, a rectangle for each buffer from the instruction that writes it to the last that reads it, and a line at the bytes
// that live at each instruction. The plan is that of the executor, computed again, so nothing has to run. The same as text:
// `dump` in train/inspect.hpp.

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/plan/binding.hpp>
#include <twill/compile/report/dump.hpp>
#include <twill/compile/table.hpp>
#include <twill/compile/traced.hpp>
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
      : table_{table}, symbols_{symbols}, options_{options}, plan_{compile::plan_arenas(table, symbols)} {}

  [[nodiscard]] std::string svg();

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

  [[nodiscard]] const compile::Instruction& instruction(int number) const;
  [[nodiscard]] std::size_t sort_of(const compile::Instruction& writer) const;
  [[nodiscard]] std::string words_of(int number) const;
  [[nodiscard]] bool is_in(const compile::ValueInfo& value, std::size_t v, int slot) const;

  void write(double x, double y, std::string_view attributes, std::string_view content);
  void line(double x1, double y1, double x2, double y2, std::string_view attributes);

  void draw_legend();

  void draw_slot(int slot, double y0);

  void draw_axes(double y0, double bottom, double right, double high, double steps);

  void draw_buffer(std::size_t v, std::int64_t offset, double x, double y, double width, double height);

  [[nodiscard]] static std::string words(std::size_t bytes);

  const compile::TableView& table_;
  const graph::SymbolValues& symbols_;
  const PlanDrawingOptions& options_;
  compile::ArenaPlan plan_;
  std::string text_{};
};

} // namespace twill::inline v0::profile::detail::inline TWILL_ISA

namespace twill::inline v0::profile::inline TWILL_ISA {

/// Draws the plan of a table for sizes of its symbols, as the executor has both.
/// cost: that of planning, and some 300 bytes of text for each buffer
[[nodiscard]] std::string svg_plan(const compile::TableView& table, const graph::SymbolValues& symbols,
                                   const PlanDrawingOptions& options = {});

/// Draws the plan of a source, with numbers for its named dimensions: `{{"batch", 64}}`. Traced and lowered at run time.
/// throws: ValueError when a dimension that a buffer has is not given
template <compile::Source S>
[[nodiscard]] std::string svg_plan(compile::DimensionSizes sizes, const PlanDrawingOptions& options = {}) {
  const compile::Lowered lowered = compile::lower(compile::trace_of<S>());
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

#if TWILL_HEADER_ONLY
#include <twill/profile/plan_drawing.ipp>
#endif
