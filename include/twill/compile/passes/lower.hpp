#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Lowering of units to instructions: each unit becomes a launch of a program or of an operation. Equal programs become
// one kernel. Read next: compile/program_type.hpp.

#include <twill/compile/passes/channels_last.hpp>
#include <twill/compile/passes/draft.hpp>
#include <twill/compile/passes/join.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/operation.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

class Lowering {
public:
  constexpr explicit Lowering(const Graph& graph)
      : graph_{&graph}, units_{graph}, order_{execution_order(graph, units_)}, value_of_(graph.nodes.size(), -1) {
    out_.inputs = graph.inputs;
    out_.parameters = graph.parameters;
    out_.run_scalars = graph.run_scalars;
    out_.symbols = graph.symbols;
    out_.requirements = graph.requirements;
    out_.bounds = graph.bounds;
    out_.scopes = graph.scopes;
    if (graph.attributes.size() > 1) out_.attributes = graph.attributes;
    out_.outputs = static_cast<int>(graph.outputs.size());
    out_.slots = graph.slots();
    out_.suits_gpus = graph.suits_gpus;
    declare_values();
    for (int unit : order_) emit(unit);
    find_loops();
    join_launches(out_);
    find_uses(out_);
  }

  [[nodiscard]] constexpr const Lowered& result() const& { return out_; }
  [[nodiscard]] constexpr Lowered result() && { return static_cast<Lowered&&>(out_); }

private:
  // ---- values -----------------------------------------------------------------------------------------------------
  TWILL_CONSTEXPR void declare_values() {
    const Stored stored{*graph_, units_, order_};
    const int nodes = graph_->size();
    for (int id = 0; id < nodes; ++id) {
      const Node& node = graph_->nodes.items[id];
      if (node.kind == Kind::input) declare(id, Storage::input, node.index);
      if (node.kind == Kind::parameter) declare(id, Storage::parameter, node.index);
      if (node.kind == Kind::run_scalar) declare(id, Storage::run_scalar, node.index);
      if (stored.holds(id)) declare(id, Storage::temporary, 0);
    }
    for (std::size_t k = 0; k < graph_->outputs.size(); ++k)
      declare(graph_->outputs[k], Storage::output, static_cast<int>(k));
    out_.taps = graph_->taps;
    for (graph::TapInfo& tap : out_.taps) tap.node = value_of_[static_cast<std::size_t>(tap.node)];
  }

  TWILL_CONSTEXPR void declare(int id, Storage storage, int index) {
    int& value = value_of_.items[id];
    if (value < 0) {
      value = static_cast<int>(out_.values.size());
      out_.values.push_back({});
    }
    ValueInfo& info = out_.values.items[value];
    info.storage = storage;
    info.index = index;
    info.node = id;
    info.dtype = graph_->nodes.items[id].dtype;
    info.shape = graph_->nodes.items[id].shape;
    info.slot = graph_->nodes.items[id].slot < 0 ? 0 : graph_->nodes.items[id].slot;
  }

  TWILL_CONSTEXPR void refuse(graph::Problem problem, int left, int right) {
    if (!out_.fault.any()) out_.fault = {problem, left, right, {}};
  }

  /// The instructions of a loop follow each other, in one slot.
  TWILL_CONSTEXPR void find_loops() {
    List<int> numbers(graph_->loops.size(), -1);
    for (std::size_t i = 0; i < out_.instructions.size(); ++i) {
      if (out_.instructions[i].loop < 0) continue;
      const int loop = number_of_loop(out_.instructions[i].loop, static_cast<int>(i), numbers);
      out_.instructions[i].loop = loop;
      for (int around = loop; around >= 0; around = out_.loops.items[around].around)
        out_.loops.items[around].last = static_cast<int>(i);
      const int slot = out_.instructions.items[out_.loops.items[loop].first].slot;
      if (out_.instructions[i].slot != slot)
        refuse(graph::Problem::scan_over_values_in_different_slots, slot, out_.instructions[i].slot);
    }
  }
  /// The number of a traced loop in the table; loops around it come before it.
  TWILL_CONSTEXPR int number_of_loop(int traced, int first, List<int>& numbers) {
    if (traced < 0 || numbers.items[traced] >= 0) return traced < 0 ? -1 : numbers.items[traced];
    const int around = number_of_loop(units_.loops().around(traced), first, numbers);
    const graph::LoopInfo& info = graph_->loops.items[traced];
    numbers.items[traced] = static_cast<int>(out_.loops.size());
    out_.loops.push_back({first, first, info.count, info.reversed, around, info.depth});
    return numbers.items[traced];
  }

  // ---- instructions -----------------------------------------------------------------------------------------------
  TWILL_CONSTEXPR void emit(int unit_id) {
    const Unit& unit = units_.unit(unit_id);
    if (unit.kind == UnitKind::operation)
      emit_operation(unit);
    else
      emit_program(unit);
  }

  TWILL_CONSTEXPR void emit_operation(const Unit& unit) {
    const int id = unit.members.front();
    const Node& node = graph_->nodes.items[id];
    graph::CallPlan plan{};
    if (node.operation->call != nullptr)
      plan = node.operation->call(*graph_, node);
    else
      plan.grid = node.shape;
    Instruction instruction{};
    instruction.first_operand = static_cast<int>(out_.operands.size());
    instruction.operand_count = node.arity + node.operation->results;
    instruction.first_node = id;
    instruction.loop = unit.loop;
    instruction.first_shape = static_cast<int>(out_.shapes.size());
    instruction.first_attribute = node.index + 1;
    instruction.grid = plan.grid;
    instruction.collective = node.operation->collective;
    instruction.moves = node.operation->moves;
    instruction.scope = node.scope;
    if (node.operation->multiply_adds != nullptr)
      instruction.multiply_adds = node.operation->multiply_adds(*graph_, node);
    instruction.slot = unit.slot;
    if (instruction.collective != kernel::Collective::none && out_.slots > 1)
      refuse(graph::Problem::ranks_work_together_in_functions_of_one_slot_only, out_.slots, unit.slot);
    const auto walk = [&](int operand, const Extents& shape) {
      AxisMap own = no_axes;
      if (node.operation->call != nullptr) {
        for (std::size_t d = 0; d < max_rank; ++d) own[d] = plan.walks[static_cast<std::size_t>(operand)].axis_of[d];
        return own;
      }
      for (int axis = 0; axis < shape.rank; ++axis) own.items[axis] = static_cast<std::int8_t>(axis);
      return own;
    };
    for (int i = 0; i < node.arity; ++i) {
      const Extents& shape = graph_->nodes.items[node.inputs.items[i]].shape;
      out_.operands.push_back(
          memory_operand(*graph_, value_of_, read_through(*graph_, node.inputs.items[i], walk(i, shape))));
      out_.shapes.push_back(shape);
    }
    for (int k = 0; k < node.operation->results; ++k) {
      OperandBinding operand{};
      operand.kind = OperandKind::nothing;
      Extents shape{};
      for (int member : unit.members) {
        if (member != id ? graph_->nodes.items[member].index != k : k != 0) continue;
        shape = graph_->nodes.items[member].shape;
        operand = memory_operand(*graph_, value_of_,
                                 {member, &graph_->nodes.items[member].shape, walk(node.arity + k, shape)});
        operand.writes = true;
      }
      out_.operands.push_back(operand);
      out_.shapes.push_back(shape);
    }
    instruction.kernel = kernel_of_operation(node);
    out_.instructions.push_back(instruction);
  }

  TWILL_CONSTEXPR int kernel_of_operation(const Node& node) {
    const DType dtype = graph::typing_type(*graph_, node);
    for (std::size_t k = 0; k < out_.kernels.size(); ++k)
      if (out_.kernels[k].kind == KernelKind::operation && graph::is_same(*out_.operations[k], *node.operation) &&
          out_.kernels[k].dtype == dtype)
        return static_cast<int>(k);
    KernelInfo fresh{};
    fresh.kind = KernelKind::operation;
    fresh.dtype = dtype;
    fresh.operation = node.operation->name;
    fresh.is_product = node.operation->is_product;
    fresh.working_bytes = node.operation->working_bytes;
    out_.kernels.push_back(fresh);
    out_.operations.push_back(node.operation);
    return static_cast<int>(out_.kernels.size()) - 1;
  }

  TWILL_CONSTEXPR void emit_program(const Unit& unit) {
    const Draft draft{*graph_, units_, value_of_, unit};
    if (draft.writes()) emit_launch(draft, unit);
  }

  TWILL_CONSTEXPR void emit_launch(const Draft& draft, const Unit& unit) {
    Instruction instruction{};
    instruction.loop = unit.loop;
    instruction.slot = unit.slot;
    instruction.grid = draft.grid();
    instruction.first_operand = static_cast<int>(out_.operands.size());
    instruction.operand_count = static_cast<int>(draft.operands().size());
    instruction.first_node = unit.members.front();
    for (std::size_t i = 0; i < unit.members.size() && instruction.scope == 0; ++i)
      instruction.scope = graph_->nodes.items[unit.members.items[i]].scope;
    instruction.kernel = kernel_of_program(draft.lines());
    out_.operands.append(draft.operands());
    out_.instructions.push_back(instruction);
  }

  TWILL_CONSTEXPR int kernel_of_program(const List<Line>& lines) {
    const int kernels = static_cast<int>(out_.kernels.size());
    const int count = static_cast<int>(lines.size());
    for (int k = 0; k < kernels; ++k) {
      const KernelInfo& known = out_.kernels.items[k];
      if (known.line_count != count || known.kind == KernelKind::operation) continue;
      bool same = true;
      for (int i = 0; i < count && same; ++i) same = out_.lines.items[known.first_line + i] == lines.items[i];
      if (same) return k;
    }
    KernelInfo fresh{};
    fresh.first_line = static_cast<int>(out_.lines.size());
    fresh.line_count = static_cast<int>(lines.size());
    for (const Line& line : lines) {
      if (line.kind == LineKind::reduce) fresh.kind = KernelKind::rows;
      if (line.kind == LineKind::reduce_columns) fresh.kind = KernelKind::columns;
    }
    out_.kernels.push_back(fresh);
    out_.operations.push_back(nullptr);
    out_.lines.append(lines);
    return static_cast<int>(out_.kernels.size()) - 1;
  }

  const Graph* graph_;
  Grouping units_;
  List<int> order_;
  List<int> value_of_;
  Lowered out_{};
};

/// The passes that change a traced graph before it becomes tables, whose values name its nodes.
TWILL_CONSTEXPR void simplify_for_lowering(Graph& graph) {
  simplify(graph);
  carry_channels_last(graph);
  legalise(graph);
}

/// Every pass from a traced graph to tables.
[[nodiscard]] TWILL_CONSTEXPR Lowered lower(Graph graph) {
  if (!graph.fault.any()) simplify_for_lowering(graph);
  if (graph.fault.any()) {
    Lowered refused{};
    refused.fault = graph.fault;
    return refused;
  }
  return Lowering{graph}.result();
}

}}}} // namespace twill::v0::compile::TWILL_ISA
