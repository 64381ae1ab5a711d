#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Programs of units under construction: lines that compute the values that the unit stores and, again, values of other
// units that are not stored; and the operands that the lines read and write, all walked by the grid in one order. Equal
// work on tensors whose shapes differ in extents of one gives equal lines. Read next: compile/passes/lower.hpp.

#include <twill/compile/passes/storage.hpp>
#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Memory as the operand of a kernel.
[[nodiscard]] TWILL_CONSTEXPR OperandBinding memory_operand(const Graph& graph, const List<int>& value_of,
                                                            const Reading& reading) {
  OperandBinding operand{};
  operand.dtype = graph.nodes.items[reading.root].dtype;
  operand.value = value_of.items[reading.root];
  operand.view = *reading.view;
  operand.axis_of = reading.axis_of;
  return operand;
}

class Draft {
public:
  /// value_of: for each node its stored value, -1 for none
  constexpr Draft(const Graph& graph, const Grouping& units, const List<int>& value_of, const Unit& unit)
      : graph_{&graph}, units_{&units}, value_of_{&value_of}, unit_{&unit} {
    rank_ = unit.grid.rank == 0 ? 1 : unit.grid.rank;
    is_scalar_ = unit.grid.rank == 0;
    for (std::size_t d = step_axis; d < walk_axes; ++d) dimensions_[d] = static_cast<std::int8_t>(d);
    grid_ = unit.grid;
    if (unit.grid.rank == 0) grid_.append({});
    // A column program reduces its first dimension.
    for (int d = 0; d < unit.grid.rank; ++d) dimensions_.items[d] = static_cast<std::int8_t>(d);
    if (unit.column_axis > 0) {
      for (int d = unit.column_axis; d > 0; --d) dimensions_.items[d] = static_cast<std::int8_t>(d - 1);
      dimensions_[0] = static_cast<std::int8_t>(unit.column_axis);
      for (int d = 0; d < unit.grid.rank; ++d) grid_[d] = unit.grid[dimensions_.items[d]];
    }
    if (graph.taps.empty()) {
      for (int member : unit.members) add_member(member);
    } else {
      const List<int> members = in_order_of_making(unit.members);
      for (int member : members) add_member(member);
    }
    lines_.append(out_lines_);
    operands_.append(outs_);
  }

  /// False if other units compute again all that the unit does.
  [[nodiscard]] constexpr bool writes() const { return !outs_.empty(); }
  [[nodiscard]] constexpr const List<Line>& lines() const { return lines_; }
  [[nodiscard]] constexpr const List<OperandBinding>& operands() const { return operands_; }
  [[nodiscard]] constexpr const Extents& grid() const { return grid_; }

private:
  [[nodiscard]] constexpr bool is_stored(int id) const { return value_of_->items[id] >= 0; }
  [[nodiscard]] TWILL_CONSTEXPR OperandBinding memory_operand(const Reading& reading) const {
    return compile::memory_operand(*graph_, *value_of_, reading);
  }

  TWILL_CONSTEXPR void add_member(int member) {
    const Node& node = graph_->nodes.items[member];
    if (node.kind == Kind::assign || node.kind == Kind::close || node.kind == Kind::stack) {
      const int copied = node.inputs.items[graph::copied_input(node.kind)];
      const int line = line_for(copied, proper_axes(graph_->nodes.items[copied].shape));
      add_output(member, node.kind == Kind::stack ? member : node.inputs[0], line);
    } else if (is_stored(member)) { // unstored values are computed on the way to stored ones
      add_output(member, member, line_for(member, proper_axes(node.shape)));
    }
  }

  /// The copies of tapped nodes, which come last, after their sources: a search for the first NaN needs this order.
  [[nodiscard]] TWILL_CONSTEXPR List<int> in_order_of_making(const List<int>& members) const {
    List<int> order{};
    const auto copied = [&](int id) {
      for (const graph::TapInfo& tap : graph_->taps)
        if (tap.node == id && graph_->nodes.items[id].kind == Kind::cast)
          return root_of(*graph_, graph_->nodes.items[id].inputs.items[0]);
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

  TWILL_CONSTEXPR void add_output(int member, int target, int line) {
    const Node& node = graph_->nodes.items[member];
    const Extents& shape = graph_->nodes.items[target].shape;
    AxisMap axes = proper_axes(node.kind == Kind::stack ? graph_->nodes.items[node.inputs.items[0]].shape : shape);
    if (node.kind == Kind::stack) {
      for (std::int8_t& axis : axes)
        if (axis >= 0) ++axis;
      if (!shape[0].is_one()) axes[step_axis_of(*graph_, node.index)] = 0;
    }
    if (node.kind == Kind::reduce && unit_->kind == UnitKind::column) {
      // The reduced dimension does not move: shift the rest past it.
      for (int d = unit_->grid.rank - 1; d > unit_->column_axis; --d) axes.items[d] = axes.items[d - 1];
      axes.items[unit_->column_axis] = -1;
    }
    OperandBinding operand = memory_operand({target, &shape, in_order(axes)});
    operand.writes = true;
    outs_.push_back(operand);
    Line out{};
    out.kind = LineKind::output;
    out.type = operand.dtype;
    out.arity = 1;
    out.arguments[0] = line;
    out_lines_.push_back(out);
  }

  [[nodiscard]] TWILL_CONSTEXPR AxisMap in_order(const AxisMap& axes) const {
    AxisMap result = no_axes;
    for (std::size_t d = 0; d < walk_axes; ++d)
      if (dimensions_.items[d] >= 0) result.items[d] = axes.items[dimensions_.items[d]];
    return result;
  }

  /// The line of node `id` where the grid's dimensions move along its axes by `axes`; adds missing lines.
  TWILL_CONSTEXPR int line_for(int id, const AxisMap& axes) {
    const Reading reading = read_through(*graph_, id, axes);
    const Node& root = graph_->nodes.items[reading.root];
    if (is_leaf(root.kind)) return leaf_line(reading, root);
    const int unit = units_->unit_of(reading.root);
    const bool inside = unit >= 0 && &units_->unit(unit) == unit_;
    if (!inside && is_stored(reading.root)) return memory_line(reading);
    // A member of the unit moves with the grid for all its readers: a row's uniform value is read as such.
    AxisMap own = inside ? proper_axes(root.shape) : reading.axis_of;
    if (!inside && !(*reading.view == root.shape)) own = renumbered(*reading.view, root.shape, own);
    const std::size_t computed = computed_.size();
    for (std::size_t i = 0; i < computed; ++i)
      if (computed_.items[i] == reading.root && computed_axes_.items[i] == own) return computed_line_.items[i];
    if (graph::is_copy(root.kind)) return line_for(root.inputs.items[0], own);
    Line line{};
    line.type = root.dtype;
    line.arity = root.arity;
    AxisMap domain = own;
    if (root.kind == Kind::primitive) {
      line.kind = LineKind::step;
      line.primitive = root.primitive;
    } else if (root.kind == Kind::cast) {
      line.kind = LineKind::cast;
    } else {
      line.kind = unit_->kind == UnitKind::column ? LineKind::reduce_columns : LineKind::reduce;
      line.reduction = root.reduction;
      line.in_order = line.kind == LineKind::reduce && root.index == graph::in_order;
      domain = proper_axes(graph_->nodes.items[root.inputs[0]].shape);
    }
    for (int i = 0; i < root.arity; ++i)
      line.arguments[static_cast<std::size_t>(i)] = line_for(root.inputs.items[i], domain);
    lines_.push_back(line);
    const int number = static_cast<int>(lines_.size()) - 1;
    computed_.push_back(reading.root);
    computed_axes_.push_back(own);
    computed_line_.push_back(number);
    return number;
  }

  /// A walk in terms of another shape that differs only in extents of one.
  [[nodiscard]] static TWILL_CONSTEXPR AxisMap renumbered(const Extents& from, const Extents& to, const AxisMap& axes) {
    const AxisMap old_axes = proper_axes(from);
    const AxisMap new_axes = proper_axes(to);
    AxisMap result = no_axes;
    for (std::size_t d = 0; d < walk_axes; ++d)
      for (std::size_t i = 0; i < max_rank && axes.items[d] >= 0; ++i)
        if (old_axes.items[i] == axes.items[d]) result.items[d] = new_axes.items[i];
    return result;
  }

  TWILL_CONSTEXPR int memory_line(const Reading& reading) {
    OperandBinding operand = memory_operand(reading);
    const int proper_rank = graph::proper_rank(*reading.view);
    // Drop extents of one, so that equal programs look equal whatever ones are in their shapes.
    operand.axis_of = in_order(operand.axis_of);
    Line line{};
    line.kind = LineKind::input;
    line.type = operand.dtype;
    const int along_row = operand.axis_of.items[rank_ - 1];
    if (is_scalar_) // the kernel of longer rows, so that small weights share a launch with large ones
      line.access = kernel::Access::contiguous;
    else if (along_row < 0)
      line.access = kernel::Access::uniform;
    else
      line.access = along_row == proper_axes(*reading.view)[static_cast<std::size_t>(proper_rank - 1)]
                        ? kernel::Access::contiguous
                        : kernel::Access::strided;
    return add_leaf(line, operand);
  }

  TWILL_CONSTEXPR int leaf_line(const Reading& reading, const Node& root) {
    Line line{};
    line.type = root.dtype;
    OperandBinding operand{};
    operand.dtype = root.dtype;
    if (root.kind == Kind::run_scalar) {
      operand = memory_operand(reading);
      operand.axis_of = no_axes;
      line.kind = LineKind::input;
      line.access = kernel::Access::uniform;
    } else if (root.kind == Kind::constant) {
      operand.kind = OperandKind::immediate;
      operand.number = root.value;
      operand.over = root.over;
      line.kind = LineKind::immediate;
    } else {
      operand.kind = OperandKind::position;
      operand.view = *reading.view;
      operand.axis_of = in_order(reading.axis_of);
      operand.random = root.index != 0;
      line.kind = LineKind::iota;
    }
    return add_leaf(line, operand);
  }

  TWILL_CONSTEXPR int add_leaf(const Line& line, const OperandBinding& operand) {
    const std::size_t count = operands_.size();
    for (std::size_t i = 0; i < count; ++i)
      if (operands_.items[i].value == operand.value && operands_.items[i] == operand) return line_of_operand_.items[i];
    operands_.push_back(operand);
    lines_.push_back(line);
    line_of_operand_.push_back(static_cast<int>(lines_.size()) - 1);
    return static_cast<int>(lines_.size()) - 1;
  }

  const Graph* graph_;
  const Grouping* units_;
  const List<int>* value_of_;
  const Unit* unit_;
  List<Line> lines_{};
  List<OperandBinding> operands_{};
  List<Line> out_lines_{}; ///< they come last
  List<OperandBinding> outs_{};
  List<int> line_of_operand_{};
  List<int> computed_{}; ///< nodes that have a line ...
  List<AxisMap> computed_axes_{};
  List<int> computed_line_{}; ///< ... and which
  Extents grid_{};
  AxisMap dimensions_ = no_axes; ///< the order of the grid's dimensions
  int rank_ = 0;
  bool is_scalar_ = false; ///< one element in all: its row has length one
};

}}}} // namespace twill::v0::compile::TWILL_ISA
