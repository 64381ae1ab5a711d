#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Readable form of a compiled function: the simplified graph, every launch with the lines of its program, and the
// memory plan. `graphviz` draws launches and tensors for `dot`. Both trace and lower again at run time, so they add
// nothing to compile times. For people: the layout of the text may change. Read next: compile/report/report.hpp.

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/plan/binding.hpp>
#include <twill/compile/report/report.hpp>
#include <twill/compile/traced.hpp>
#include <twill/core/config.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Numbers for the named dimensions of a function; an unnamed one is called "s" and its position, "s0".
using DimensionSizes = std::initializer_list<std::pair<std::string_view, std::int64_t>>;

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// Text for the parts of one lowered graph.
class Printer {
public:
  Printer(const graph::Graph& traced, DimensionSizes sizes);

  [[nodiscard]] std::string text() const;

  [[nodiscard]] std::string graphviz() const;

private:
  [[nodiscard]] bool is_used(std::size_t symbol) const;

  [[nodiscard]] std::string symbol_name(std::size_t symbol) const;

  [[nodiscard]] std::string extent_text(const graph::Extent& extent) const;

  [[nodiscard]] std::string type_text(DType dtype, const Extents& shape) const;

  [[nodiscard]] static std::string number_text(double number);

  [[nodiscard]] std::string constant_text(double number, const graph::Extent& over) const;

  [[nodiscard]] std::string operation_text(const Node& node) const;

  [[nodiscard]] std::string parameter_name(int index) const;

  [[nodiscard]] std::string node_text(int id) const;

  [[nodiscard]] std::string value_name(int index) const;

  [[nodiscard]] const OperandBinding& operand(const Instruction& instruction, int k) const;

  /// A value, and the axis that each dimension of the grid walks along.
  [[nodiscard]] std::string operand_text(const OperandBinding& info) const;

  [[nodiscard]] std::string heading(std::size_t i) const;

  [[nodiscard]] std::string slot_text(int slot) const;

  [[nodiscard]] std::string loop_text(const Instruction& instruction) const;

  /// The lines of a launch with its operands named.
  [[nodiscard]] std::vector<std::string> program(std::size_t i) const;

  [[nodiscard]] static std::string access_text(kernel::Access access);

  [[nodiscard]] std::string edges(std::size_t i) const;

  [[nodiscard]] std::string memory_text() const;

  graph::Graph graph_;
  Lowered lowered_{};
  graph::SymbolValues symbols_{};
  bool sizes_known_ = false;
};

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The graph, its launches and its memory plan as text. Sizes are needed for offsets only.
[[nodiscard]] std::string dump(const graph::Graph& traced, DimensionSizes sizes = {});
template <Source S> [[nodiscard]] std::string dump(DimensionSizes sizes = {}) { return dump(trace_of<S>(), sizes); }

/// Launches and tensors as a graph in the language of Graphviz: `dot -Tsvg`.
[[nodiscard]] inline std::string graphviz(const graph::Graph& traced) { return detail::Printer{traced, {}}.graphviz(); }
template <Source S> [[nodiscard]] std::string graphviz() { return graphviz(trace_of<S>()); }

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/report/dump.ipp>
#endif
