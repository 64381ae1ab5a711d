#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/report/node_info.hpp.

#include <twill/compile/report/node_info.hpp>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY ListView<Line> lines_of(const TableView& table, const KernelInfo& kernel) {
  return table.lines.subspan(static_cast<std::size_t>(kernel.first_line), static_cast<std::size_t>(kernel.line_count));
}

TWILL_COLD TWILL_BODY std::string words_of(ListView<Line> lines) {
  std::vector<std::string_view> words{};
  std::string_view otherwise = "copy";
  for (const Line& line : lines) {
    std::string_view word{};
    if (line.kind == LineKind::step) word = kernel::info(line.primitive).name;
    if (line.kind == LineKind::reduce || line.kind == LineKind::reduce_columns) word = kernel::name(line.reduction);
    if (line.kind == LineKind::cast) otherwise = "cast";
    if (!word.empty()) words.push_back(word);
  }
  if (words.empty()) words.push_back(otherwise);
  return kernel::joined_words(words);
}

TWILL_COLD TWILL_BODY std::int64_t flops_of(const Binding& binding, const BoundInstruction& instruction,
                                            ListView<Line> lines) {
  const std::int64_t all_elements = instruction.grid.elements();
  const kernel::Operand* const operands = binding.operands.data() + instruction.first_operand;
  std::vector<std::int64_t> elements(lines.size(), 1); // in which the value of a line differs
  std::int64_t results = all_elements;
  std::size_t operand = 0;
  const auto widest = [&](const Line& line) {
    std::int64_t most = 1;
    for (std::size_t a = 0; a < static_cast<std::size_t>(line.arity); ++a)
      most = std::max(most, elements[static_cast<std::size_t>(line.arguments[a])]);
    return most;
  };
  // The reduced axis is that along which a result of a reduction does not move.
  for (const Line& line : lines) {
    const bool takes_operand = line.kind == LineKind::input || line.kind == LineKind::immediate ||
                               line.kind == LineKind::iota || line.kind == LineKind::output;
    if (!takes_operand) continue;
    if (line.kind == LineKind::output)
      results = std::min(results, kernel::elements_along(instruction.grid, operands[operand]));
    ++operand;
  }
  std::int64_t flops = 0;
  operand = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    switch (line.kind) {
    case LineKind::input:
    case LineKind::gather:
    case LineKind::iota:
      elements[i] = kernel::elements_along(instruction.grid, operands[operand++]);
      break;
    case LineKind::immediate:
    case LineKind::output:
      ++operand;
      break;
    case LineKind::cast:
      elements[i] = elements[static_cast<std::size_t>(line.arguments[0])];
      break;
    case LineKind::step:
      elements[i] = widest(line);
      flops += (line.primitive == Primitive::fma ? 2 : 1) * elements[i];
      break;
    case LineKind::reduce:
    case LineKind::reduce_columns:
      elements[i] = std::min(results, all_elements);
      flops += elements[static_cast<std::size_t>(line.arguments[0])];
      break;
    }
  }
  return flops;
}

TWILL_COLD TWILL_BODY void add_bytes(const TableView& table, const Binding& binding,
                                     const BoundInstruction& instruction, bool is_operation, NodeInfo& node) {
  for (std::size_t k = 0; k < instruction.operand_count; ++k) {
    const std::size_t position = instruction.first_operand + k;
    const OperandBinding& info = table.operands[position];
    if (info.kind != OperandKind::memory) continue;
    const auto value = static_cast<std::size_t>(info.value);
    if (table.values[value].storage == Storage::run_scalar) continue;
    bool is_known = false;
    for (std::size_t before = 0; before < k && !is_known; ++before)
      is_known = table.operands[instruction.first_operand + before] == info;
    if (is_known) continue;
    const std::int64_t elements = is_operation ? binding.shapes[instruction.first_shape + k].elements()
                                               : kernel::elements_along(instruction.grid, binding.operands[position]);
    const auto bytes = std::min(elements * static_cast<std::int64_t>(size_of(info.dtype)),
                                static_cast<std::int64_t>(binding.value_bytes[value]));
    (info.writes ? node.bytes_written : node.bytes_read) += bytes;
  }
}

TWILL_COLD TWILL_BODY std::string_view updated_parameter(const TableView& table, const BoundInstruction& instruction) {
  for (std::size_t k = 0; k < instruction.operand_count; ++k) {
    const OperandBinding& info = table.operands[instruction.first_operand + k];
    if (info.kind != OperandKind::memory || !info.writes) continue;
    const ValueInfo& value = table.values[static_cast<std::size_t>(info.value)];
    if (value.storage == Storage::parameter) return table.parameters[static_cast<std::size_t>(value.index)].name.view();
  }
  return {};
}

TWILL_BODY std::string_view word_of(KernelKind kind) {
  constexpr std::string_view words[] = {"elementwise", "rows", "columns", "operation"};
  return words[static_cast<int>(kind)];
}

TWILL_COLD TWILL_BODY NodeInfo node_info(const TableView& table, const Binding& binding, std::size_t number) {
  const Instruction& instruction = table.instructions[number];
  const BoundInstruction& bound = binding.instructions[number];
  const KernelInfo& kernel = table.kernels[static_cast<std::size_t>(instruction.kernel)];
  const bool is_operation = kernel.kind == KernelKind::operation;
  NodeInfo node{};
  node.kind = instruction.moves                                    ? "move"
              : instruction.collective != kernel::Collective::none ? "ranks"
                                                                   : word_of(kernel.kind);
  node.slot = instruction.slot;
  const auto scope = static_cast<std::size_t>(instruction.scope < 0 ? -instruction.scope : instruction.scope);
  if (scope > 0 && scope <= table.scopes.size()) {
    const std::string_view path = table.scopes[scope - 1].view();
    node.layer = path.substr(0, path.size() - (path.ends_with('.') ? 1 : 0));
    node.is_gradient = instruction.scope < 0;
  }
  const std::string_view updated = updated_parameter(table, bound);
  if (node.layer.empty()) node.layer = updated;
  const ListView<Line> lines = lines_of(table, kernel);
  node.operation = is_operation ? std::string{kernel.operation} : words_of(lines);
  if (!updated.empty() && !is_operation) node.operation += " (update)";
  node.dtype = kernel.dtype;
  if (is_operation) {
    const std::int64_t multiply_adds = instruction.multiply_adds.evaluate(binding.symbols);
    const std::size_t result = bound.first_shape + bound.operand_count - 1;
    node.flops = multiply_adds > 0 ? 2 * multiply_adds : binding.shapes[result].elements();
    if (node.kind != "operation") node.flops = 0;
  } else {
    for (const Line& line : lines)
      if (line.kind == LineKind::step && is_floating(line.type)) node.dtype = line.type;
    node.flops = flops_of(binding, bound, lines);
  }
  add_bytes(table, binding, bound, is_operation, node);
  return node;
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_COLD TWILL_BODY std::vector<NodeInfo> instruction_infos(const TableView& table, const Binding& binding) {
  std::vector<NodeInfo> nodes{};
  for (std::size_t i = 0; i < binding.instructions.size(); ++i) nodes.push_back(detail::node_info(table, binding, i));
  return nodes;
}

TWILL_COLD TWILL_BODY std::vector<NodeInfo> node_infos(const TableView& table, const Binding& binding) {
  std::vector<NodeInfo> nodes = instruction_infos(table, binding);
  for (std::size_t i = 0; i < nodes.size(); i += binding.instructions[i].members) {
    const std::size_t members = binding.instructions[i].members;
    nodes[i].instructions = static_cast<int>(members);
    for (std::size_t m = 1; m < members; ++m) {
      nodes[i].bytes_read += nodes[i + m].bytes_read;
      nodes[i].bytes_written += nodes[i + m].bytes_written;
      nodes[i].flops += nodes[i + m].flops;
    }
  }
  return nodes;
}

TWILL_COLD TWILL_BODY void describe(const TableView& table, Binding& binding) {
  if (binding.nodes == nullptr)
    binding.nodes = std::make_shared<const std::vector<NodeInfo>>(node_infos(table, binding));
}

TWILL_BODY bool updates_weights(const TableView& table) {
  for (const OperandBinding& operand : table.operands) {
    if (operand.kind != OperandKind::memory || !operand.writes) continue;
    const ValueInfo& value = table.values[static_cast<std::size_t>(operand.value)];
    if (value.storage == Storage::parameter &&
        table.parameters[static_cast<std::size_t>(value.index)].role == graph::Role::weight)
      return true;
  }
  return false;
}

}}}} // namespace twill::v0::compile::TWILL_ISA
