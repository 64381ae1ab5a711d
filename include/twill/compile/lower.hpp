#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// From units to instructions: each unit becomes a launch, whose program computes what the unit stores and, again, what it
// needs of others and nobody stores. Equal programs become one kernel. Read next: compile/program_type.hpp.

#include <twill/compile/channels_last.hpp>
#include <twill/compile/join.hpp>
#include <twill/compile/storage.hpp>
#include <twill/core/config.hpp>

#include <cstddef>

namespace twill::inline v0::compile::inline TWILL_ISA {

class Lowering {
public:
  constexpr explicit Lowering(const Graph& graph)
      : graph_{&graph}, units_{graph}, order_{execution_order(graph, units_)}, value_of_(graph.nodes.size(), -1) {
    out_.inputs = graph.inputs;
    out_.parameters = graph.parameters;
    out_.knobs = graph.knobs;
    out_.symbols = graph.symbols;
    out_.requirements = graph.requirements;
    out_.bounds = graph.bounds;
    if (graph.attributes.size() > 1) out_.attributes = graph.attributes;
    out_.outputs = static_cast<int>(graph.outputs.size());
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
  constexpr void declare_values() {
    const Stored stored{*graph_, units_, order_};
    for (int id = 0; id < graph_->size(); ++id) {
      const Node& node = graph_->node(id);
      if (node.kind == Kind::input) declare(id, Storage::input, node.index);
      if (node.kind == Kind::parameter) declare(id, Storage::parameter, node.index);
      if (node.kind == Kind::knob) declare(id, Storage::knob, node.index);
      if (stored.holds(id)) declare(id, Storage::temporary, 0);
    }
    for (std::size_t k = 0; k < graph_->outputs.size(); ++k)
      declare(graph_->outputs[k], Storage::output, static_cast<int>(k));
    out_.taps = graph_->taps;
    for (graph::TapInfo& tap : out_.taps) tap.node = value_of_[static_cast<std::size_t>(tap.node)];
  }

  constexpr void declare(int id, Storage storage, int index) {
    int& value = value_of_.items[id];
    if (value < 0) {
      value = static_cast<int>(out_.values.size());
      out_.values.push_back({});
    }
    ValueInfo& info = out_.values.items[value];
    info.storage = storage;
    info.index = index;
    info.node = id;
    info.dtype = graph_->node(id).dtype;
    info.shape = graph_->node(id).shape;
  }

  [[nodiscard]] constexpr bool is_stored(int id) const { return value_of_.items[id] >= 0; }

  /// The instructions of a loop follow each other.
  constexpr void find_loops() {
    for (std::size_t i = 0; i < out_.instructions.size(); ++i) {
      int& loop = out_.instructions[i].loop;
      if (loop < 0) continue;
      const graph::LoopInfo& info = graph_->loops.items[loop];
      if (i == 0 || out_.instructions[i - 1].loop < 0 || traced_loop_ != loop)
        out_.loops.push_back({static_cast<int>(i), 0, info.count, info.reversed});
      traced_loop_ = loop;
      loop = static_cast<int>(out_.loops.size()) - 1;
      out_.loops.back().last = static_cast<int>(i);
    }
  }

  // ---- instructions -----------------------------------------------------------------------------------------------
  /// The program under construction.
  struct Draft {
    List<Line> lines{};
    List<OperandInfo> operands{};
    List<int> line_of_operand{};
    List<int> computed{}; ///< nodes that have a line ...
    List<AxisMap> computed_axes{};
    List<int> computed_line{};    ///< ... and which
    AxisMap dimensions = no_axes; ///< the order of the grid's dimensions
    int rank = 0;
    bool is_scalar = false; ///< one element in all: its row has length one

    constexpr Draft() = default;
  };

  constexpr void emit(int unit_id) {
    const Unit& unit = units_.unit(unit_id);
    if (unit.kind == UnitKind::operation)
      emit_operation(unit);
    else
      emit_program(unit);
  }

  constexpr void emit_operation(const Unit& unit) {
    const int id = unit.members.front();
    const Node& node = graph_->node(id);
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
      const Extents& shape = graph_->node(node.input(i)).shape;
      out_.operands.push_back(memory_operand(read_through(*graph_, node.input(i), walk(i, shape))));
      out_.shapes.push_back(shape);
    }
    for (int k = 0; k < node.operation->results; ++k) {
      OperandInfo operand{};
      operand.kind = OperandKind::nothing;
      Extents shape{};
      for (int member : unit.members) {
        if (member != id ? graph_->node(member).index != k : k != 0) continue;
        shape = graph_->node(member).shape;
        operand = memory_operand({member, &graph_->node(member).shape, walk(node.arity + k, shape)});
        operand.writes = true;
      }
      out_.operands.push_back(operand);
      out_.shapes.push_back(shape);
    }
    instruction.kernel = kernel_of_operation(node);
    out_.instructions.push_back(instruction);
  }

  constexpr int kernel_of_operation(const Node& node) {
    const int by = node.operation->typed_by;
    const DType dtype = by < 0 ? node.dtype : graph_->node(node.input(by)).dtype;
    for (std::size_t k = 0; k < out_.kernels.size(); ++k)
      if (out_.kernels[k].kind == KernelKind::operation && graph::is_same(*out_.operations[k], *node.operation) &&
          out_.kernels[k].dtype == dtype)
        return static_cast<int>(k);
    KernelInfo fresh{};
    fresh.kind = KernelKind::operation;
    fresh.dtype = dtype;
    fresh.operation = node.operation->name;
    out_.kernels.push_back(fresh);
    out_.operations.push_back(node.operation);
    return static_cast<int>(out_.kernels.size()) - 1;
  }

  [[nodiscard]] constexpr OperandInfo memory_operand(const Reading& reading) const {
    OperandInfo operand{};
    operand.dtype = graph_->node(reading.root).dtype;
    operand.value = value_of_.items[reading.root];
    operand.view = *reading.view;
    operand.axis_of = reading.axis_of;
    return operand;
  }

  constexpr void emit_program(const Unit& unit) {
    Draft draft{};
    draft.rank = unit.grid.rank == 0 ? 1 : unit.grid.rank;
    draft.is_scalar = unit.grid.rank == 0;
    draft.dimensions[step_axis] = step_axis;
    Instruction instruction{};
    instruction.loop = unit.loop;
    instruction.grid = unit.grid;
    if (unit.grid.rank == 0) instruction.grid.append({});
    // A column program reduces its first dimension.
    for (int d = 0; d < unit.grid.rank; ++d) draft.dimensions.items[d] = static_cast<std::int8_t>(d);
    if (unit.column_axis > 0) {
      for (int d = unit.column_axis; d > 0; --d) draft.dimensions.items[d] = static_cast<std::int8_t>(d - 1);
      draft.dimensions[0] = static_cast<std::int8_t>(unit.column_axis);
      for (int d = 0; d < unit.grid.rank; ++d) instruction.grid[d] = unit.grid[draft.dimensions.items[d]];
    }
    List<OperandInfo> outs{};
    List<Line> out_lines{};
    for (int member : in_order_of_making(unit.members)) {
      const Node& node = graph_->node(member);
      if (node.kind == Kind::assign || node.kind == Kind::close || node.kind == Kind::stack) {
        const int copied = node.input(graph::copied_input(node.kind));
        const int line = line_for(draft, unit, copied, proper_axes(graph_->node(copied).shape));
        add_output(draft, unit, member, node.kind == Kind::stack ? member : node.inputs[0], line, outs, out_lines);
        continue;
      }
      // What nobody stores is computed on the way to what is.
      if (!is_stored(member)) continue;
      const int line = line_for(draft, unit, member, proper_axes(node.shape));
      add_output(draft, unit, member, member, line, outs, out_lines);
    }
    if (outs.empty()) return; // others compute all of it again
    draft.lines.append(out_lines);
    draft.operands.append(outs);
    instruction.first_operand = static_cast<int>(out_.operands.size());
    instruction.operand_count = static_cast<int>(draft.operands.size());
    instruction.first_node = unit.members.front();
    instruction.kernel = kernel_of_program(draft.lines);
    out_.operands.append(draft.operands);
    out_.instructions.push_back(instruction);
  }

  /// The copies of tapped nodes, which come last, behind what they copy: whoever looks for the first NaN sees them so.
  [[nodiscard]] constexpr List<int> in_order_of_making(const List<int>& members) const {
    if (graph_->taps.empty()) return members;
    List<int> order{};
    const auto copied = [&](int id) {
      for (const graph::TapInfo& tap : graph_->taps)
        if (tap.node == id && graph_->node(id).kind == Kind::cast) return root_of(*graph_, graph_->node(id).input(0));
      return id;
    };
    for (int member : members) {
      order.push_back(member);
      for (std::size_t k = order.size() - 1; k > 0 && copied(order[k - 1]) > copied(member); --k) {
        order[k] = order[k - 1];
        order[k - 1] = member;
      }
    }
    return order;
  }

  constexpr void add_output(Draft& draft, const Unit& unit, int member, int target, int line, List<OperandInfo>& outs,
                            List<Line>& lines) const {
    const Node& node = graph_->node(member);
    const Extents& shape = graph_->node(target).shape;
    AxisMap axes = proper_axes(node.kind == Kind::stack ? graph_->node(node.input(0)).shape : shape);
    if (node.kind == Kind::stack) {
      for (std::int8_t& axis : axes)
        if (axis >= 0) ++axis;
      if (!shape[0].is_one()) axes[step_axis] = 0;
    }
    if (node.kind == Kind::reduce && unit.kind == UnitKind::column) {
      // The reduced dimension does not move: shift the rest past it.
      for (int d = unit.grid.rank - 1; d > unit.column_axis; --d) axes.items[d] = axes.items[d - 1];
      axes.items[unit.column_axis] = -1;
    }
    OperandInfo operand = memory_operand({target, &shape, in_order(draft, axes)});
    operand.writes = true;
    outs.push_back(operand);
    Line out{};
    out.kind = LineKind::out;
    out.dtype = operand.dtype;
    out.arity = 1;
    out.arguments[0] = static_cast<std::int8_t>(line);
    lines.push_back(out);
  }

  [[nodiscard]] constexpr AxisMap in_order(const Draft& draft, const AxisMap& axes) const {
    AxisMap result = no_axes;
    for (std::size_t d = 0; d < result.size(); ++d)
      if (draft.dimensions[d] >= 0) result[d] = axes.items[draft.dimensions[d]];
    return result;
  }

  /// The line that holds node `id` where the grid's dimensions move along its axes as `axes` says; adds what is missing.
  constexpr int line_for(Draft& draft, const Unit& unit, int id, const AxisMap& axes) {
    const Reading reading = read_through(*graph_, id, axes);
    const Node& root = graph_->node(reading.root);
    if (is_leaf(root.kind)) return leaf_line(draft, reading, root);
    const bool inside = units_.unit_of(reading.root) >= 0 && &units_.unit(units_.unit_of(reading.root)) == &unit;
    if (!inside && is_stored(reading.root)) return memory_line(draft, reading);
    AxisMap own = reading.axis_of;
    if (!(*reading.view == root.shape)) own = renumbered(*reading.view, root.shape, own);
    // A member of the unit moves with the grid, whoever reads it: a row's uniform value is read as such.
    if (inside) own = proper_axes(root.shape);
    for (std::size_t i = 0; i < draft.computed.size(); ++i)
      if (draft.computed[i] == reading.root && draft.computed_axes[i] == own) return draft.computed_line[i];
    if (graph::is_copy(root.kind)) return line_for(draft, unit, root.input(0), own);
    Line line{};
    line.dtype = root.dtype;
    line.arity = root.arity;
    AxisMap domain = own;
    if (root.kind == Kind::primitive) {
      line.kind = LineKind::step;
      line.primitive = root.primitive;
    } else if (root.kind == Kind::cast) {
      line.kind = LineKind::cast;
    } else {
      line.kind = unit.kind == UnitKind::column ? LineKind::reduce_columns : LineKind::reduce;
      line.reduction = root.reduction;
      domain = proper_axes(graph_->node(root.inputs[0]).shape);
    }
    for (int i = 0; i < root.arity; ++i)
      line.arguments.items[i] = static_cast<std::int8_t>(line_for(draft, unit, root.input(i), domain));
    draft.lines.push_back(line);
    const int number = static_cast<int>(draft.lines.size()) - 1;
    draft.computed.push_back(reading.root);
    draft.computed_axes.push_back(own);
    draft.computed_line.push_back(number);
    return number;
  }

  /// The same walk in terms of a shape that differs only in extents of one.
  [[nodiscard]] static constexpr AxisMap renumbered(const Extents& from, const Extents& to, const AxisMap& axes) {
    const AxisMap old_axes = proper_axes(from);
    const AxisMap new_axes = proper_axes(to);
    AxisMap result = no_axes;
    for (std::size_t d = 0; d < axes.size(); ++d)
      for (std::size_t i = 0; i < old_axes.size(); ++i)
        if (axes[d] >= 0 && old_axes[i] == axes[d]) result[d] = new_axes[i];
    return result;
  }

  constexpr int memory_line(Draft& draft, const Reading& reading) {
    OperandInfo operand = memory_operand(reading);
    const int proper_rank = graph::proper_rank(*reading.view);
    // Drop extents of one, so that equal programs look equal whatever ones their shapes carry.
    operand.axis_of = in_order(draft, operand.axis_of);
    Line line{};
    line.kind = LineKind::in;
    line.dtype = operand.dtype;
    const int along_row = operand.axis_of.items[draft.rank - 1];
    if (draft.is_scalar) // the kernel of longer rows, so that small weights share a launch with large ones
      line.access = kernel::Access::contiguous;
    else if (along_row < 0)
      line.access = kernel::Access::uniform;
    else
      line.access = along_row == proper_axes(*reading.view)[static_cast<std::size_t>(proper_rank - 1)]
                        ? kernel::Access::contiguous
                        : kernel::Access::strided;
    return add_leaf(draft, line, operand);
  }

  constexpr int leaf_line(Draft& draft, const Reading& reading, const Node& root) {
    Line line{};
    line.dtype = root.dtype;
    OperandInfo operand{};
    operand.dtype = root.dtype;
    if (root.kind == Kind::knob) {
      operand = memory_operand(reading);
      operand.axis_of = no_axes;
      line.access = kernel::Access::uniform;
    } else if (root.kind == Kind::constant) {
      operand.kind = OperandKind::immediate;
      operand.number = root.value;
      operand.over = root.over;
      line.kind = LineKind::immediate;
    } else {
      operand.kind = OperandKind::position;
      operand.view = *reading.view;
      operand.axis_of = in_order(draft, reading.axis_of);
      operand.random = root.index != 0;
      line.kind = LineKind::iota;
    }
    return add_leaf(draft, line, operand);
  }

  constexpr int add_leaf(Draft& draft, const Line& line, const OperandInfo& operand) {
    for (std::size_t i = 0; i < draft.operands.size(); ++i)
      if (draft.operands[i] == operand) return draft.line_of_operand[i];
    draft.operands.push_back(operand);
    draft.lines.push_back(line);
    draft.line_of_operand.push_back(static_cast<int>(draft.lines.size()) - 1);
    return static_cast<int>(draft.lines.size()) - 1;
  }

  constexpr int kernel_of_program(const List<Line>& lines) {
    for (std::size_t k = 0; k < out_.kernels.size(); ++k) {
      const KernelInfo& known = out_.kernels[k];
      if (known.kind == KernelKind::operation || known.line_count != static_cast<int>(lines.size())) continue;
      bool same = true;
      for (std::size_t i = 0; i < lines.size() && same; ++i)
        same = out_.lines[static_cast<std::size_t>(known.first_line) + i] == lines[i];
      if (same) return static_cast<int>(k);
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
  int traced_loop_ = -1;
};

/// The passes that change a traced graph before it becomes tables, whose values name its nodes.
constexpr void simplify_for_lowering(Graph& graph) {
  simplify(graph);
  carry_channels_last(graph);
  legalise(graph);
}

/// Every pass from a traced graph to tables.
[[nodiscard]] constexpr Lowered lower(Graph graph) {
  if (graph.fault.any()) {
    Lowered refused{};
    refused.fault = graph.fault;
    return refused;
  }
  simplify_for_lowering(graph);
  return Lowering{graph}.result();
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
