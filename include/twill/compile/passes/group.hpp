#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fusion of nodes into kernels. A unit is one launch: a set of elementwise nodes and reductions over one grid, or one
// operation. Nodes are visited in order; each starts a unit and is merged with the units of its operands where the
// grid, the kind of kernel and the order of execution allow it. The recogniser knows no operation called softmax or
// norm: a row unit is any chain of reductions over the last axis with elementwise work around them. Read next:
// compile/passes/order.hpp.

#include <twill/compile/passes/units.hpp>
#include <twill/core/config.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The largest number of steps in one program; beyond it registers spill and compile time grows.
inline constexpr int max_steps = 32;

/// The largest number of steps in a row program: cut in two, it would write and read whole rows between its parts.
inline constexpr int max_row_steps = 48;

/// Divides a graph into units.
class Grouping : public Units {
public:
  constexpr explicit Grouping(const Graph& graph) : Units{graph} {
    const int nodes = graph.size();
    for (int id = 0; id < nodes; ++id) {
      const Node& node = graph.nodes.items[id];
      if (node.kind == Kind::operation)
        add_operation(id);
      else if (node.kind == Kind::result)
        add_result(id);
      else if (node.kind == Kind::primitive || node.kind == Kind::cast || node.kind == Kind::reduce ||
               graph::is_copy(node.kind))
        add_fusable(id);
    }
    join_neighbours();
  }

  /// True when the node has one value for each row of its unit's grid.
  [[nodiscard]] TWILL_CONSTEXPR bool is_uniform(int node, const Unit& unit) const {
    return unit.kind == UnitKind::row && graph::proper_rank(graph_->nodes.items[node].shape) < unit.grid.rank;
  }

  /// The shape of the iteration of a member: of the operand for a reduction, else its own.
  [[nodiscard]] TWILL_CONSTEXPR const Extents& domain(int node) const {
    const Node* const nodes = graph_->nodes.items;
    const Node& n = nodes[node];
    if (n.kind == Kind::primitive || n.kind == Kind::cast) return n.shape;
    return n.kind == Kind::reduce || graph::is_copy(n.kind) ? nodes[n.inputs.items[graph::copied_input(n.kind)]].shape
                                                            : n.shape;
  }

private:
  /// The distinct units whose values a node reads.
  struct Producers {
    graph::Few<int, graph::max_inputs> units{};
    int count = 0;
  };

  TWILL_CONSTEXPR void add_operation(int id) {
    const int unit = add_unit(id);
    units_.items[unit].kind = UnitKind::operation;
    const Node& node = graph_->nodes.items[id];
    for (int i = 0; i < node.arity; ++i) {
      const int root = root_of(*graph_, node.inputs.items[i]);
      note_parameter(root, id);
      if (unit_of(root) >= 0) depend(units_.items[unit], unit_of(root));
      wait_for(unit, node.inputs.items[i]);
    }
  }

  /// A further result belongs to the launch of its operation.
  constexpr void add_result(int id) { add_member(unit_of(graph_->nodes.items[id].inputs.items[0]), id); }

  TWILL_CONSTEXPR void add_fusable(int id) {
    const Node& node = graph_->nodes.items[id];
    int unit = add_unit(id);
    start(units_.items[unit], id);
    const bool overwrites = node.kind == Kind::assign || node.kind == Kind::close;
    if (overwrites) units_.items[unit].assigned.push_back(node.inputs.items[0]);
    const int first = overwrites ? 1 : 0;
    Producers producers{};
    for (int i = first; i < node.arity; ++i) {
      const int root = root_of(*graph_, node.inputs.items[i]);
      note_parameter(root, id);
      wait_for(unit, node.inputs.items[i]);
      if (graph_->nodes.items[root].kind == Kind::iota) units_.items[unit].counts = true;
      const int producer = unit_of(root);
      if (producer < 0) continue;
      bool known = false;
      for (int k = 0; k < producers.count; ++k) known = known || producers.units.items[k] == producer;
      if (!known) producers.units.items[producers.count++] = producer;
    }
    if (node.kind == Kind::close && unit_of(node.inputs.items[0]) >= 0)
      depend(units_.items[unit], unit_of(node.inputs.items[0]));
    // A parameter may be overwritten only after all reads.
    if (overwrites)
      for (int reader : readers_of(node.inputs.items[0]))
        if (unit_of(reader) != unit) depend(units_.items[unit], unit_of(reader));
    const bool reads_memory = node.kind == Kind::close && node.axis != 0;
    for (int i = reads_memory ? 0 : producers.count; i-- > 0;) {
      const int producer = find(producers.units.items[i]);
      if (producer != unit && try_merge(unit, producer, id, producers)) producers.units.items[i] = unit;
    }
    for (int i = 0; i < producers.count; ++i)
      if (const int producer = find(producers.units.items[i]); producer != unit) depend(units_.items[unit], producer);
  }

  TWILL_CONSTEXPR void start(Unit& unit, int id) const {
    const Node& node = graph_->nodes.items[id];
    unit.grid = graph::without_ones(domain(id));
    if (node.kind != Kind::reduce) return;
    int position = 0;
    const Extents& shape = domain(id);
    for (int axis = 0; axis < node.axis; ++axis)
      if (!shape[axis].is_one()) ++position;
    unit.kind = position == unit.grid.rank - 1 ? UnitKind::row : UnitKind::column;
    if (unit.kind == UnitKind::column) unit.column_axis = position;
  }

  /// True where `small` is the grid of one value for each row of `large`.
  [[nodiscard]] static TWILL_CONSTEXPR bool is_rows_of(const Extents& small, const Extents& large) {
    if (small.rank != large.rank - 1) return false;
    for (int axis = 0; axis < small.rank; ++axis)
      if (!(small[axis] == large[axis])) return false;
    return true;
  }

  [[nodiscard]] TWILL_CONSTEXPR bool compatible(const Unit& a, const Unit& b) const {
    if (a.kind == UnitKind::operation || b.kind == UnitKind::operation) return false;
    if (a.loop != b.loop || a.region != b.region || a.slot != b.slot) return false;
    const bool is_row = a.kind == UnitKind::row || b.kind == UnitKind::row;
    if (static_cast<int>(a.members.size() + b.members.size()) > (is_row ? max_row_steps : max_steps)) return false;
    if (a.grid == b.grid) {
      if (a.kind == UnitKind::column && b.kind == UnitKind::column) return a.column_axis == b.column_axis;
      return !(a.kind == UnitKind::column && b.kind == UnitKind::row) &&
             !(a.kind == UnitKind::row && b.kind == UnitKind::column);
    }
    // A position that is constant along a row would still be taken for one that varies.
    return (a.kind == UnitKind::row && b.kind == UnitKind::elementwise && !b.counts && is_rows_of(b.grid, a.grid)) ||
           (b.kind == UnitKind::row && a.kind == UnitKind::elementwise && !a.counts && is_rows_of(a.grid, b.grid));
  }

  /// True when, in a merged unit of this grid, node `id` sees each value of the producer at its own place in the grid.
  [[nodiscard]] TWILL_CONSTEXPR bool aligned(int id, int producer, const Extents& grid) const {
    const Node& node = graph_->nodes.items[id];
    for (int i = first_read(node.kind); i < node.arity; ++i) {
      const int input = node.inputs.items[i];
      if (const int root = root_of(*graph_, input); unit_of(root) != producer)
        continue;
      else if (const Node& read = graph_->nodes.items[root];
               root == input && is_elementwise(read.kind) && read.shape == domain(id))
        continue; // element by element
      const Reading reading = read_through(*graph_, input, proper_axes(domain(id)));
      const Node& root = graph_->nodes.items[reading.root];
      if (root.kind == Kind::reduce && units_.items[producer].kind == UnitKind::column) return false;
      if (!only_moves_ones(*reading.view, root.shape)) return false;
      const AxisMap expected = proper_axes(*reading.view);
      const bool consumer_is_uniform = graph::proper_rank(domain(id)) < grid.rank;
      const bool producer_is_uniform = graph::proper_rank(root.shape) < grid.rank;
      if (consumer_is_uniform && !producer_is_uniform) return false;
      const int dimensions = producer_is_uniform ? grid.rank - 1 : grid.rank;
      for (int d = 0; d < max_rank; ++d)
        if (reading.axis_of.items[d] != (d < dimensions ? expected.items[d] : -1)) return false;
    }
    return true;
  }

  /// Parameters that `writer` overwrites may share its kernel with readers only if those read the written element.
  [[nodiscard]] TWILL_CONSTEXPR bool reads_in_place(int writer, int reader) const {
    if (units_.items[writer].assigned.empty()) return true;
    for (int parameter : units_.items[writer].assigned)
      for (int node : readers_of(parameter))
        if (unit_of(node) == reader && !reads_in_place_at(node, parameter)) return false;
    return true;
  }
  [[nodiscard]] TWILL_CONSTEXPR bool reads_in_place_at(int id, int parameter) const {
    const Node& node = graph_->nodes.items[id];
    for (int i = first_read(node.kind); i < node.arity; ++i) {
      const Reading reading = read_through(*graph_, node.inputs.items[i], proper_axes(domain(id)));
      if (reading.root == parameter && (!only_moves_ones(*reading.view, graph_->nodes.items[parameter].shape) ||
                                        reading.axis_of != proper_axes(*reading.view)))
        return false;
    }
    return true;
  }

  /// Merges two units for node `id` of the consumer where that is possible; the consumer is then the merged unit.
  TWILL_CONSTEXPR bool try_merge(int& consumer, int producer, int id, const Producers& producers) {
    const Unit& a = units_.items[consumer];
    const Unit& b = units_.items[producer];
    if (!compatible(a, b)) return false;
    // An older dependency between the two is a read that could not be fused. Reads of assigned values are not such.
    if (first_read(graph_->nodes.items[id].kind) == 0 && depends_directly(a, producer)) return false;
    if (depends_directly(b, consumer)) return false;
    if (!reads_in_place(consumer, producer) || !reads_in_place(producer, consumer)) return false;
    if (!aligned(id, producer, a.grid.rank > b.grid.rank ? a.grid : b.grid)) return false;
    const int merged = join(producer, consumer, [&](int of, const auto& visit) {
      if (of != consumer) return;
      for (int i = 0; i < producers.count; ++i)
        if (const int on = find(producers.units.items[i]); on != consumer) visit(on);
    });
    if (merged >= 0) consumer = merged;
    return merged >= 0;
  }

  /// Reductions over one grid that read one tensor, and not each other's values, share a launch and the reads: the
  /// gradients of a scale and a shift, for example. Columns also share values made by one unit.
  TWILL_CONSTEXPR void join_neighbours() {
    List<int> reader_of_node(graph_->nodes.size(), -1);
    List<int> reader_of_unit(static_cast<std::size_t>(size()), -1);
    const int nodes = graph_->size();
    for (int id = 0; id < nodes; ++id) {
      const Node& node = graph_->nodes.items[id];
      if (node.kind != Kind::primitive && node.kind != Kind::cast && node.kind != Kind::reduce) continue;
      for (int i = 0; i < node.arity; ++i) {
        const int root = root_of(*graph_, node.inputs.items[i]);
        join_readers(reader_of_node.items[root], root, id);
        if (unit(unit_of(id)).kind != UnitKind::column || unit_of(root) < 0) continue;
        join_readers(reader_of_unit.items[unit_of(root)], root, id);
        const Node& made = graph_->nodes.items[root]; // a column sums a value that another unit has made of a tensor
        for (int k = 0; k < made.arity && is_elementwise(made.kind); ++k) {
          const int behind = root_of(*graph_, made.inputs.items[k]);
          join_readers(reader_of_node.items[behind], behind, id);
        }
      }
    }
  }

  TWILL_CONSTEXPR void join_readers(int& reader, int root, int id) {
    const int own = unit_of(id);
    if (units_.items[own].kind == UnitKind::elementwise || unit_of(root) == own || units_.items[own].grid.rank == 0)
      return;
    if (graph::proper_rank(graph_->nodes.items[root].shape) != units_.items[own].grid.rank) return;
    if (reader >= 0 && find(reader) != own) try_join(find(reader), own);
    if (reader < 0 || units_.items[own].kind == UnitKind::column) reader = own;
  }

  TWILL_CONSTEXPR void try_join(int one, int other) {
    const Unit& a = units_.items[one];
    const Unit& b = units_.items[other];
    if (a.kind != b.kind || a.column_axis != b.column_axis || !(a.grid == b.grid) || !compatible(a, b)) return;
    if (!a.assigned.empty() || !b.assigned.empty() || depends_directly(a, other) || depends_directly(b, one)) return;
    static_cast<void>(join(one, other, [](int, const auto&) {}));
  }

  /// The first input of a node that is read; an assignment writes its first one.
  [[nodiscard]] static TWILL_CONSTEXPR int first_read(Kind kind) {
    return kind == Kind::assign || kind == Kind::close ? 1 : 0;
  }
};

}}}} // namespace twill::v0::compile::TWILL_ISA
