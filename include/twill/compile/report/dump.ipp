#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/report/dump.hpp.

#include <twill/compile/report/dump.hpp>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY Printer::Printer(const graph::Graph& traced, DimensionSizes sizes) : graph_{traced} {
  simplify(graph_);
  legalise(graph_);
  lowered_ = Lowering{graph_}.result();
  symbols_.fill(1);
  sizes_known_ = true;
  for (std::size_t i = 0; i < lowered_.symbols.size(); ++i) {
    bool known = !is_used(i);
    for (const auto& [name, size] : sizes)
      if (name == symbol_name(i)) {
        symbols_[i] = size;
        known = true;
      }
    sizes_known_ = sizes_known_ && known;
  }
}

TWILL_BODY std::string Printer::text() const {
  std::string result = "graph: " + std::to_string(graph_.size()) + " nodes\n";
  for (int id = 0; id < graph_.size(); ++id) result += "  " + node_text(id) + "\n";
  const Report report = report_of(view_of(lowered_));
  result +=
      "launches: " + std::to_string(report.launches) + ", of " + std::to_string(report.distinct_kernels) + " kernels\n";
  for (std::size_t i = 0; i < lowered_.instructions.size(); ++i) {
    result += "  " + heading(i) + "\n";
    for (const std::string& line : program(i)) result += "    " + line + "\n";
  }
  return result + memory_text();
}

TWILL_BODY std::string Printer::graphviz() const {
  std::string result = "digraph twill {\n  rankdir=TB;\n  node [fontname=\"monospace\", fontsize=10];\n";
  for (std::size_t v = 0; v < lowered_.values.size(); ++v) {
    const ValueInfo& value = lowered_.values[v];
    if (value.first_use < 0 || value.storage == Storage::run_scalar) continue;
    const bool outside = value.storage != Storage::temporary;
    result += "  v" + std::to_string(v) + " [shape=ellipse" + (outside ? ", style=filled, fillcolor=lightgrey" : "") +
              ", label=\"" + value_name(static_cast<int>(v)) + "\\n" + type_text(value.dtype, value.shape) + "\"];\n";
  }
  for (std::size_t i = 0; i < lowered_.instructions.size(); ++i) {
    result +=
        "  k" + std::to_string(i) + " [shape=box, style=filled, fillcolor=lightblue, label=\"" + heading(i) + "\\l";
    for (const std::string& line : program(i)) result += line + "\\l";
    result += "\"];\n" + edges(i);
  }
  return result + "}\n";
}

TWILL_BODY bool Printer::is_used(std::size_t symbol) const {
  for (const ValueInfo& value : lowered_.values)
    for (int axis = 0; axis < value.shape.rank; ++axis)
      if (value.shape[axis].power(static_cast<int>(symbol)) > 0) return true;
  return false;
}

TWILL_BODY std::string Printer::symbol_name(std::size_t symbol) const {
  const std::string_view name = lowered_.symbols[symbol].name.view();
  return name.empty() ? "s" + std::to_string(symbol) : std::string{name};
}

TWILL_BODY std::string Printer::extent_text(const graph::Extent& extent) const {
  std::string text{};
  if (extent.is_static() || extent.factor != 1) text = std::to_string(extent.factor);
  for (std::size_t i = 0; i < lowered_.symbols.size(); ++i)
    for (int k = 0; k < extent.power(static_cast<int>(i)); ++k) text += (text.empty() ? "" : "*") + symbol_name(i);
  return text;
}

TWILL_BODY std::string Printer::type_text(DType dtype, const Extents& shape) const {
  std::string text = std::string{twill::name(dtype)} + " (";
  for (int axis = 0; axis < shape.rank; ++axis) text += (axis > 0 ? ", " : "") + extent_text(shape[axis]);
  return text + (shape.rank == 1 ? ",)" : ")");
}

TWILL_BODY std::string Printer::number_text(double number) {
  const bool is_small = number < 1e15 && number > -1e15; // else, or where it is infinite, no int64
  if (is_small && number == static_cast<double>(static_cast<std::int64_t>(number)))
    return std::to_string(static_cast<std::int64_t>(number));
  return std::to_string(number);
}

TWILL_BODY std::string Printer::constant_text(double number, const graph::Extent& over) const {
  return number_text(number) + (over.is_one() ? "" : " / " + extent_text(over));
}

TWILL_BODY std::string Printer::operation_text(const Node& node) const {
  switch (node.kind) {
  case Kind::input:
    return "input " + std::to_string(node.index);
  case Kind::parameter:
    return "parameter " + parameter_name(node.index);
  case Kind::constant:
    return constant_text(node.value, node.over);
  case Kind::run_scalar:
    return "number " + std::string{lowered_.run_scalars[static_cast<std::size_t>(node.index)].name.view()};
  case Kind::iota:
    return "iota";
  case Kind::primitive:
    return std::string{kernel::info(node.primitive).name};
  case Kind::cast:
    return "cast";
  case Kind::reduce:
    return std::string{kernel::name(node.reduction)} + " over axis " + std::to_string(node.axis);
  case Kind::broadcast:
    return "broadcast";
  case Kind::reshape:
    return "reshape";
  case Kind::transpose:
    return "transpose";
  case Kind::stop_gradient:
    return "stop_gradient";
  case Kind::rule:
    return "rule " + std::string{node.operation->name};
  case Kind::operation:
    return std::string{node.operation->name};
  case Kind::result:
    return "result " + std::to_string(node.index);
  case Kind::assign:
    return "assign";
  case Kind::after:
    return "after";
  case Kind::carry:
    return "carry " + std::to_string(node.index);
  case Kind::slice:
    return "slice of loop " + std::to_string(node.index);
  case Kind::stack:
    return "stack of loop " + std::to_string(node.index);
  case Kind::close:
    return "next carry " + std::to_string(node.index);
  case Kind::leave:
    return "last carry";
  }
  return {};
}

TWILL_BODY std::string Printer::parameter_name(int index) const {
  return std::string{lowered_.parameters[static_cast<std::size_t>(index)].name.view()};
}

TWILL_BODY std::string Printer::node_text(int id) const {
  const Node& node = graph_.node(id);
  std::string text = "n" + std::to_string(id) + " = " + operation_text(node);
  for (int k = 0; k < node.arity; ++k) text += " n" + std::to_string(node.input(k));
  text += " : " + type_text(node.dtype, node.shape);
  for (std::size_t k = 0; k < graph_.outputs.size(); ++k)
    if (graph_.outputs[k] == id) text += ", output " + std::to_string(k);
  return text;
}

TWILL_BODY std::string Printer::value_name(int index) const {
  const ValueInfo& value = lowered_.values[static_cast<std::size_t>(index)];
  switch (value.storage) {
  case Storage::input:
    return "input" + std::to_string(value.index);
  case Storage::parameter:
    return parameter_name(value.index);
  case Storage::run_scalar:
    return std::string{lowered_.run_scalars[static_cast<std::size_t>(value.index)].name.view()};
  case Storage::output:
    return "output" + std::to_string(value.index);
  case Storage::temporary:
    return "t" + std::to_string(index);
  }
  return {};
}

TWILL_BODY const OperandBinding& Printer::operand(const Instruction& instruction, int k) const {
  return lowered_.operands[static_cast<std::size_t>(instruction.first_operand + k)];
}

TWILL_BODY std::string Printer::operand_text(const OperandBinding& info) const {
  if (info.kind == OperandKind::nothing) return "nothing";
  if (info.kind == OperandKind::immediate) return constant_text(info.number, info.over);
  std::string text =
      info.kind == OperandKind::position ? (info.random ? "row-counted position" : "position") : value_name(info.value);
  std::string axes{};
  for (std::size_t d = 0; d < max_rank; ++d)
    if (info.axis_of[d] >= 0)
      axes +=
          (axes.empty() ? "" : ", ") + std::string{"d"} + std::to_string(d) + "->" + std::to_string(info.axis_of[d]);
  for (std::size_t d = step_axis; d < walk_axes; ++d) {
    if (info.axis_of[d] < 0) continue;
    const std::string step = d == step_axis ? "step" : "step " + std::to_string(d - step_axis + 1);
    axes += (axes.empty() ? "" : ", ") + step + "->" + std::to_string(info.axis_of[d]);
  }
  return text + "[" + axes + "]";
}

TWILL_BODY std::string Printer::heading(std::size_t i) const {
  const Instruction& instruction = lowered_.instructions[i];
  const KernelInfo& info = lowered_.kernels[static_cast<std::size_t>(instruction.kernel)];
  const std::string sort = info.kind == KernelKind::operation ? std::string{info.operation}
                           : info.kind == KernelKind::rows    ? "row program"
                           : info.kind == KernelKind::columns ? "column program"
                                                              : "elementwise program";
  std::string grid{};
  for (int d = 0; d < instruction.grid.rank; ++d) grid += (d > 0 ? ", " : "") + extent_text(instruction.grid[d]);
  return "#" + std::to_string(i) + " " + sort + " (kernel " + std::to_string(instruction.kernel) + ") over (" + grid +
         ")" + slot_text(instruction.slot) + (instruction.continues ? " (in the same launch)" : "") +
         loop_text(instruction);
}

TWILL_BODY std::string Printer::slot_text(int slot) const {
  return lowered_.slots > 1 ? " in slot " + std::to_string(slot) : "";
}

TWILL_BODY std::string Printer::loop_text(const Instruction& instruction) const {
  if (instruction.loop < 0) return {};
  std::string text{};
  for (int number = instruction.loop; number >= 0;) {
    const LoopRegion& loop = lowered_.loops[static_cast<std::size_t>(number)];
    text += (text.empty() ? "in each of " : ", in each of ") + extent_text(loop.count) + " steps" +
            (loop.reversed ? ", last first" : "");
    number = loop.around;
  }
  return " (" + text + ")";
}

TWILL_BODY std::vector<std::string> Printer::program(std::size_t i) const {
  const Instruction& instruction = lowered_.instructions[i];
  const KernelInfo& info = lowered_.kernels[static_cast<std::size_t>(instruction.kernel)];
  std::vector<std::string> result{};
  if (info.kind == KernelKind::operation) {
    const int results = lowered_.operations[static_cast<std::size_t>(instruction.kernel)]->results;
    const int inputs = instruction.operand_count - results;
    std::string text{};
    for (int k = 0; k < results; ++k) text += (k > 0 ? ", " : "") + operand_text(operand(instruction, inputs + k));
    text += " = " + std::string{info.operation};
    for (int k = 0; k < inputs; ++k) text += " " + operand_text(operand(instruction, k));
    return {text};
  }
  int next = 0;
  for (int l = 0; l < info.line_count; ++l) {
    const Line& line = lowered_.lines[static_cast<std::size_t>(info.first_line + l)];
    std::string text = "%" + std::to_string(l) + " = ";
    switch (line.kind) {
    case LineKind::input:
    case LineKind::gather:
      text += "read " + operand_text(operand(instruction, next++)) + access_text(line.access);
      break;
    case LineKind::immediate:
    case LineKind::iota:
      text += operand_text(operand(instruction, next++));
      break;
    case LineKind::step:
      text += kernel::info(line.primitive).name;
      break;
    case LineKind::cast:
      text += "cast to " + std::string{twill::name(line.type)};
      break;
    case LineKind::reduce:
      text += std::string{kernel::name(line.reduction)} + " over the row of";
      break;
    case LineKind::reduce_columns:
      text += std::string{kernel::name(line.reduction)} + " down the columns of";
      break;
    case LineKind::output:
      text = "write " + operand_text(operand(instruction, next++)) + " =";
      break;
    }
    for (int k = 0; k < line.arity; ++k) text += " %" + std::to_string(line.arguments[static_cast<std::size_t>(k)]);
    result.push_back(text);
  }
  return result;
}

TWILL_BODY std::string Printer::access_text(kernel::Access access) {
  if (access == kernel::Access::uniform) return " uniform";
  return access == kernel::Access::strided ? " strided" : "";
}

TWILL_BODY std::string Printer::edges(std::size_t i) const {
  const Instruction& instruction = lowered_.instructions[i];
  std::string result{};
  for (int k = 0; k < instruction.operand_count; ++k) {
    const OperandBinding& info = operand(instruction, k);
    if (info.kind != OperandKind::memory) continue;
    if (lowered_.values[static_cast<std::size_t>(info.value)].storage == Storage::run_scalar) continue;
    const std::string value = "v" + std::to_string(info.value);
    const std::string launch = "k" + std::to_string(i);
    result += "  " + (info.writes ? launch + " -> " + value : value + " -> " + launch) + ";\n";
  }
  return result;
}

TWILL_BODY std::string Printer::memory_text() const {
  const TableView table = view_of(lowered_);
  const ArenaPlan plan = plan_arenas(table, symbols_);
  std::string result = "memory: ";
  for (int slot = 0; sizes_known_ && slot < table.slots; ++slot)
    result += (slot > 0 ? ", " : "") + std::string{"arena of "} +
              std::to_string(plan.arenas[static_cast<std::size_t>(slot)].bytes) + " bytes" + slot_text(slot);
  result += sizes_known_ ? "\n" : "the arena depends on dimensions that have no number here\n";
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    const ValueInfo& value = table.values[v];
    result += "  " + value_name(static_cast<int>(v)) + " " + type_text(value.dtype, value.shape);
    if (sizes_known_) result += ", " + std::to_string(plan.value_bytes[v]) + " bytes";
    const auto first = static_cast<std::int64_t>(plan.arenas[static_cast<std::size_t>(value.slot)].first);
    if (sizes_known_ && plan.offsets[v] >= 0) result += " at " + std::to_string(plan.offsets[v] - first);
    result += value.storage == Storage::run_scalar ? "" : slot_text(value.slot);
    if (value.first_use >= 0)
      result += ", used from #" + std::to_string(value.first_use) + " to #" + std::to_string(value.last_use);
    result += "\n";
  }
  return result;
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY std::string dump(const graph::Graph& traced, DimensionSizes sizes) {
  return detail::Printer{traced, sizes}.text();
}

}}}} // namespace twill::v0::compile::TWILL_ISA
