#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory plans of compiled programs as pictures, self-contained SVG: instructions to the right, offsets in the arena
// upwards, a rectangle for each buffer from the instruction that writes it to the last that reads it, and a line at the
// bytes that are alive at each instruction. The plan is that of the executor, computed again, so nothing has to run.
// Read next: `dump` in training/inspect.hpp, which prints the plan as text, and profile/svg.hpp.

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/plan/binding.hpp>
#include <twill/compile/report/dump.hpp>
#include <twill/compile/table.hpp>
#include <twill/compile/traced.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/profile/format.hpp>
#include <twill/profile/svg.hpp>
#include <twill/training/inspect.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// Texts and sizes of a drawing of a plan.
struct PlanDrawingOptions {
  std::string title = "memory plan"; ///< above the drawing
  int width_px = 1100;               ///< of the whole drawing
  int height_px = 520;               ///< of the drawing area of each device slot
};

inline namespace TWILL_ISA {

/// Draws the plan of a table for sizes of its symbols, as the executor has both.
/// cost: planning, and about 300 bytes of text for each buffer
[[nodiscard]] std::string svg_plan(const compile::TableView& table, const graph::SymbolValues& symbols,
                                   const PlanDrawingOptions& options = {});

/// Draws the plan of a traced graph, with numbers for its named dimensions: `{{"batch", 64}}`. Lowered at run time.
/// throws: ValueError when a dimension that a buffer has is not given
[[nodiscard]] std::string svg_plan(const graph::Graph& traced, compile::DimensionSizes sizes,
                                   const PlanDrawingOptions& options = {});
/// Draws the plan of a source.
template <compile::Source S>
[[nodiscard]] std::string svg_plan(compile::DimensionSizes sizes, const PlanDrawingOptions& options = {}) {
  return svg_plan(compile::trace_of<S>(), sizes, options);
}

/// Draws the plan of a whole training step, forward, loss, backward and update, of elements of float; the template
/// arguments are those of `dump`.
template <nn::Model M, auto Loss, optim::Rule R, AnyTensor... Targets>
[[nodiscard]] std::string svg_plan(compile::DimensionSizes sizes, const PlanDrawingOptions& options = {}) {
  return svg_plan<training::StepOf<M, Loss, R, Targets...>>(sizes, options);
}
/// Draws the plan of a model's forward pass.
template <nn::Model M>
[[nodiscard]] std::string svg_plan(compile::DimensionSizes sizes, const PlanDrawingOptions& options = {}) {
  return svg_plan<training::ForwardOf<M>>(sizes, options);
}

/// Writes the picture of a training step's plan to a file.    throws: SystemError
template <nn::Model M, auto Loss, optim::Rule R, AnyTensor... Targets>
void save_plan(const std::string& path, compile::DimensionSizes sizes, const PlanDrawingOptions& options = {}) {
  save_text("plan", path, svg_plan<M, Loss, R, Targets...>(sizes, options));
}
/// Writes the picture of the plan of a forward pass, or of any source, to a file.    throws: SystemError
template <class M>
requires nn::Model<M> || compile::Source<M>
void save_plan(const std::string& path, compile::DimensionSizes sizes, const PlanDrawingOptions& options = {}) {
  save_text("plan", path, svg_plan<M>(sizes, options));
}

} // namespace TWILL_ISA
}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/plan_drawing.ipp>
#endif
