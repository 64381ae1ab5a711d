#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fusion: which nodes share a kernel. A unit is one launch: a set of elementwise nodes and reductions over one grid, or
// one operation. Nodes are visited in order; each starts a unit and is merged with the units of its operands where the
// grid, the kind of kernel and the order of execution allow it. The recogniser knows no operation called softmax or norm:
// a row unit is any chain of reductions over the last axis with elementwise work around them. Read next:
// compile/lower.hpp.

#include <twill/compile/reading.hpp>
#include <twill/compile/unit_order.hpp>
#include <twill/core/config.hpp>

#include <cstddef>

namespace twill::inline v0::compile::inline TWILL_ISA {

enum class UnitKind : std::uint8_t { elementwise, row, column, operation };

/// The largest number of steps in one program; beyond it registers spill and compile time grows.
inline constexpr int max_steps = 32;

/// The same of a program that reduces rows: cut in two, it would write and read whole rows between its parts.
inline constexpr int max_row_steps = 48;

struct Unit {
  UnitKind kind = UnitKind::elementwise;
  Extents grid{};           ///< without extents of one; a row unit reduces along its last dimension
  int column_axis = -1;     ///< the grid dimension that a column unit reduces
  int loop = -1;            ///< in whose steps it runs
  int region = 0;           ///< the part of the function that it belongs to
  bool counts = false;      ///< reads the positions of its elements
  List<int> assigned{};     ///< the parameters and carries it overwrites
  List<int> members{};      ///< nodes, in order
  List<int> dependencies{}; ///< units that have to run before

  constexpr Unit() = default;
};

/// The units of a graph, while it is being fused and afterwards.
class Grouping {
public:
  constexpr explicit Grouping(const Graph& graph)
      : graph_{&graph},
        unit_of_(graph.nodes.size(), -1),
        readers_(graph.parameters.size() + graph.carries.size(), List<int>{}),
        loops_{loops_of_nodes(graph)},
        needs_of_loop_(graph.loops.size(), List<int>{}) {
    units_.reserve(graph.nodes.size());
    merged_into_.reserve(graph.nodes.size());
    for (int id = 0; id < graph.size(); ++id) {
      const Node& node = graph.node(id);
      if (node.kind == Kind::operation)
        add_operation(id);
      else if (node.kind == Kind::result)
        add_result(id);
      else if (is_elementwise(node.kind) || node.kind == Kind::reduce || graph::is_copy(node.kind))
        add_fusable(id);
    }
    join_neighbours();
  }

  /// The unit that computes a node, -1 for leaves and views.
  [[nodiscard]] constexpr int unit_of(int node) const {
    int unit = unit_of_.items[node];
    if (unit < 0) return -1;
    const int* const into = merged_into_.items;
    while (into[unit] >= 0) unit = into[unit];
    return unit;
  }
  [[nodiscard]] constexpr const Unit& unit(int id) const { return units_.items[id]; }
  [[nodiscard]] constexpr int size() const { return static_cast<int>(units_.size()); }
  [[nodiscard]] constexpr bool alive(int id) const { return merged_into_.items[id] < 0; }
  [[nodiscard]] constexpr int find(int id) const {
    const int* const into = merged_into_.items;
    while (into[id] >= 0) id = into[id];
    return id;
  }

  /// True when the node has one value for each row of its unit's grid.
  [[nodiscard]] constexpr bool is_uniform(int node, const Unit& unit) const {
    return unit.kind == UnitKind::row && graph::proper_rank(graph_->node(node).shape) < unit.grid.rank;
  }

  /// The shape of what a member iterates over: of the operand for a reduction, else its own.
  [[nodiscard]] constexpr const Extents& domain(int node) const {
    const Node* const nodes = graph_->nodes.items;
    const Node& n = nodes[node];
    if (n.kind == Kind::primitive || n.kind == Kind::cast) return n.shape;
    return n.kind == Kind::reduce || graph::is_copy(n.kind) ? nodes[n.inputs.items[graph::copied_input(n.kind)]].shape
                                                            : n.shape;
  }

  /// Where, among parameters and carries, a node is that is overwritten or may be; -1 for others.
  [[nodiscard]] constexpr int slot_of(int id) const {
    const Node& node = graph_->nodes.items[id];
    if (node.kind == Kind::parameter) return node.index;
    return node.kind == Kind::carry ? static_cast<int>(graph_->parameters.size()) + node.index : -1;
  }

private:
  constexpr Unit& at(int id) { return units_.items[id]; }

  /// What has to run before a unit: before a unit of a loop also whatever another of them needs from outside.
  constexpr void visit_dependencies(int of, const auto& visit) const {
    for (int on : unit(of).dependencies) visit(find(on));
    if (unit(of).loop < 0) return;
    for (int on : needs_of_loop_.items[unit(of).loop]) visit(find(on));
  }

  constexpr int add_unit() {
    units_.push_back({});
    merged_into_.push_back(-1);
    run_order_.append();
    return size() - 1;
  }

  /// The distinct units whose values a node reads.
  struct Producers {
    graph::Few<int, graph::max_inputs> units{};
    int count = 0;
  };

  constexpr void note_parameter(int root, int reader) {
    if (const int slot = slot_of(root); slot >= 0) readers_.items[slot].push_back(reader);
  }

  constexpr void depend(Unit& unit, int on) {
    for (int known : unit.dependencies)
      if (known == on) return;
    unit.dependencies.push_back(on);
    if (unit.loop < 0 || this->unit(on).loop == unit.loop) return;
    List<int>& needs = needs_of_loop_.items[unit.loop];
    for (int known : needs)
      if (find(known) == on) return;
    needs.push_back(on);
  }

  /// What is read through an `after` is read when its other input is there.
  constexpr void wait_for(int unit, int id) {
    for (; is_view(graph_->node(id).kind); id = graph_->node(id).input(0)) {
      const Node& node = graph_->node(id);
      if (node.kind != Kind::after || node.arity < 2) continue;
      if (const int on = unit_of(root_of(*graph_, node.input(1))); on >= 0 && on != unit) depend(at(unit), on);
    }
  }

  constexpr void add_operation(int id) {
    const int unit = add_unit();
    at(unit).kind = UnitKind::operation;
    at(unit).loop = loops_.computed.items[id];
    at(unit).region = graph_->node(id).region;
    at(unit).members.push_back(id);
    unit_of_.items[id] = unit;
    const Node& node = graph_->node(id);
    for (int i = 0; i < node.arity; ++i) {
      const int root = root_of(*graph_, node.input(i));
      note_parameter(root, id);
      if (unit_of(root) >= 0) depend(at(unit), unit_of(root));
      wait_for(unit, node.input(i));
    }
  }

  /// A further result belongs to the launch of its operation.
  constexpr void add_result(int id) {
    const int unit = unit_of(graph_->node(id).input(0));
    at(unit).members.push_back(id);
    unit_of_.items[id] = unit;
  }

  constexpr void add_fusable(int id) {
    const Node& node = graph_->node(id);
    int unit = add_unit();
    start(at(unit), id);
    at(unit).loop = loops_.computed.items[id];
    at(unit).region = node.region;
    const bool overwrites = node.kind == Kind::assign || node.kind == Kind::close;
    if (overwrites) at(unit).assigned.push_back(node.input(0));
    unit_of_.items[id] = unit;
    const int first = overwrites ? 1 : 0;
    Producers producers{};
    for (int i = first; i < node.arity; ++i) {
      const int root = root_of(*graph_, node.input(i));
      note_parameter(root, id);
      wait_for(unit, node.input(i));
      if (graph_->node(root).kind == Kind::iota) at(unit).counts = true;
      const int producer = unit_of(root);
      if (producer < 0) continue;
      bool known = false;
      for (int k = 0; k < producers.count; ++k) known = known || producers.units.items[k] == producer;
      if (!known) producers.units.items[producers.count++] = producer;
    }
    if (node.kind == Kind::close && unit_of(node.input(0)) >= 0) depend(at(unit), unit_of(node.input(0)));
    // A parameter may be overwritten only when everybody has read it.
    if (overwrites)
      for (int reader : readers_.items[slot_of(node.input(0))])
        if (unit_of(reader) != unit) depend(at(unit), unit_of(reader));
    const bool reads_memory = node.kind == Kind::close && node.axis != 0;
    for (int i = reads_memory ? 0 : producers.count; i-- > 0;) {
      const int producer = find(producers.units.items[i]);
      if (producer != unit && try_merge(unit, producer, id, producers)) producers.units.items[i] = unit;
    }
    for (int i = 0; i < producers.count; ++i)
      if (const int producer = find(producers.units.items[i]); producer != unit) depend(at(unit), producer);
  }

  constexpr void start(Unit& unit, int id) const {
    const Node& node = graph_->node(id);
    unit.members.push_back(id);
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
  [[nodiscard]] static constexpr bool is_rows_of(const Extents& small, const Extents& large) {
    if (small.rank != large.rank - 1) return false;
    for (int axis = 0; axis < small.rank; ++axis)
      if (!(small[axis] == large[axis])) return false;
    return true;
  }

  [[nodiscard]] constexpr bool compatible(const Unit& a, const Unit& b) const {
    if (a.kind == UnitKind::operation || b.kind == UnitKind::operation) return false;
    if (a.loop != b.loop || a.region != b.region) return false;
    const bool is_row = a.kind == UnitKind::row || b.kind == UnitKind::row;
    if (static_cast<int>(a.members.size() + b.members.size()) > (is_row ? max_row_steps : max_steps)) return false;
    if (a.grid == b.grid) {
      if (a.kind == UnitKind::column && b.kind == UnitKind::column) return a.column_axis == b.column_axis;
      return !(a.kind == UnitKind::column && b.kind == UnitKind::row) &&
             !(a.kind == UnitKind::row && b.kind == UnitKind::column);
    }
    // A position that is the same all along a row would still be taken for one that varies.
    return (a.kind == UnitKind::row && b.kind == UnitKind::elementwise && !b.counts && is_rows_of(b.grid, a.grid)) ||
           (b.kind == UnitKind::row && a.kind == UnitKind::elementwise && !a.counts && is_rows_of(a.grid, b.grid));
  }

  /// True when, in a merged unit of this grid, node `id` sees each value of the producer at its own place in the grid.
  [[nodiscard]] constexpr bool aligned(int id, int producer, const Extents& grid) const {
    const Node& node = graph_->node(id);
    for (int i = first_read(node.kind); i < node.arity; ++i) {
      const Reading reading = read_through(*graph_, node.input(i), proper_axes(domain(id)));
      if (unit_of(reading.root) != producer) continue;
      const Node& root = graph_->node(reading.root);
      if (root.kind == Kind::reduce && unit(producer).kind == UnitKind::column) return false;
      if (!only_moves_ones(*reading.view, root.shape)) return false;
      const AxisMap expected = proper_axes(*reading.view);
      const bool consumer_is_uniform = graph::proper_rank(domain(id)) < grid.rank;
      const bool producer_is_uniform = graph::proper_rank(root.shape) < grid.rank;
      if (consumer_is_uniform && !producer_is_uniform) return false;
      const int dimensions = producer_is_uniform ? grid.rank - 1 : grid.rank;
      for (int d = 0; d < max_rank; ++d) {
        const auto k = static_cast<std::size_t>(d);
        if (reading.axis_of[k] != (d < dimensions ? expected[k] : -1)) return false;
      }
    }
    return true;
  }

  /// Parameters that `writer` overwrites may share its kernel with readers only if those read the element that is written.
  [[nodiscard]] constexpr bool reads_in_place(int writer, int reader) const {
    for (int parameter : unit(writer).assigned)
      for (int node : readers_.items[slot_of(parameter)])
        if (unit_of(node) == reader && !reads_in_place_at(node, parameter)) return false;
    return true;
  }
  [[nodiscard]] constexpr bool reads_in_place_at(int id, int parameter) const {
    const Node& node = graph_->node(id);
    for (int i = first_read(node.kind); i < node.arity; ++i) {
      const Reading reading = read_through(*graph_, node.input(i), proper_axes(domain(id)));
      if (reading.root == parameter && (!only_moves_ones(*reading.view, graph_->node(parameter).shape) ||
                                        reading.axis_of != proper_axes(*reading.view)))
        return false;
    }
    return true;
  }

  /// Merges two units for node `id` of the consumer where that is possible; the consumer is then the merged unit.
  constexpr bool try_merge(int& consumer, int producer, int id, const Producers& producers) {
    const Unit& a = unit(consumer);
    const Unit& b = unit(producer);
    if (!compatible(a, b)) return false;
    // An older dependency between the two is a reading that could not be fused. Readers of what is assigned are no such.
    if (first_read(graph_->node(id).kind) == 0 && depends_directly(a, producer)) return false;
    if (depends_directly(b, consumer)) return false;
    if (!reads_in_place(consumer, producer) || !reads_in_place(producer, consumer)) return false;
    if (!aligned(id, producer, a.grid.rank > b.grid.rank ? a.grid : b.grid)) return false;
    const auto dependencies = [&](int of, const auto& visit) {
      visit_dependencies(of, visit);
      if (of != consumer) return;
      for (int i = 0; i < producers.count; ++i)
        if (const int on = find(producers.units.items[i]); on != consumer) visit(on);
    };
    const bool in_order = run_order_.is_before(producer, consumer);
    if (!run_order_.join(in_order ? producer : consumer, in_order ? consumer : producer, dependencies)) return false;
    const int merged = merge(consumer, producer);
    run_order_.take_place(merged, merged == consumer ? producer : consumer);
    consumer = merged;
    return true;
  }

  /// Reductions over one grid that read the same tensor, and nothing of each other's, share a launch and the reading: the
  /// gradients of a scale and a shift, for example. Columns also share what one unit has made.
  constexpr void join_neighbours() {
    List<int> reader_of_node(graph_->nodes.size(), -1);
    List<int> reader_of_unit(units_.size(), -1);
    for (int id = 0; id < graph_->size(); ++id) {
      const Node& node = graph_->node(id);
      if (!is_elementwise(node.kind) && node.kind != Kind::reduce) continue;
      for (int i = 0; i < node.arity; ++i) {
        const int root = root_of(*graph_, node.input(i));
        join_readers(reader_of_node.items[root], root, id);
        if (unit(unit_of(id)).kind != UnitKind::column || unit_of(root) < 0) continue;
        join_readers(reader_of_unit.items[unit_of(root)], root, id);
        const Node& made = graph_->node(root); // a column sums what another unit has made of a tensor
        for (int k = 0; k < made.arity && is_elementwise(made.kind); ++k) {
          const int behind = root_of(*graph_, made.input(k));
          join_readers(reader_of_node.items[behind], behind, id);
        }
      }
    }
  }

  constexpr void join_readers(int& reader, int root, int id) {
    const int own = unit_of(id);
    if (unit(own).kind == UnitKind::elementwise || unit_of(root) == own || unit(own).grid.rank == 0) return;
    if (graph::proper_rank(graph_->node(root).shape) != unit(own).grid.rank) return;
    if (reader >= 0 && find(reader) != own) try_join(find(reader), own);
    if (reader < 0 || unit(own).kind == UnitKind::column) reader = own;
  }

  constexpr void try_join(int one, int other) {
    const Unit& a = unit(one);
    const Unit& b = unit(other);
    if (a.kind != b.kind || a.column_axis != b.column_axis || !(a.grid == b.grid) || !compatible(a, b)) return;
    if (!a.assigned.empty() || !b.assigned.empty() || depends_directly(a, other) || depends_directly(b, one)) return;
    const auto dependencies = [&](int of, const auto& visit) { visit_dependencies(of, visit); };
    const bool in_order = run_order_.is_before(one, other);
    if (!run_order_.join(in_order ? one : other, in_order ? other : one, dependencies)) return;
    const int merged = merge(other, one);
    run_order_.take_place(merged, merged == other ? one : other);
  }

  /// The first input of a node that is read; that of an assignment is written.
  [[nodiscard]] static constexpr int first_read(Kind kind) {
    return kind == Kind::assign || kind == Kind::close ? 1 : 0;
  }

  [[nodiscard]] constexpr bool depends_directly(const Unit& unit, int on) const {
    for (int dependency : unit.dependencies)
      if (find(dependency) == on) return true;
    return false;
  }

  /// Merges sorted numbers into others; mostly, all of the second come last.
  static constexpr void join_members(List<int>& into, List<int>& from) {
    if (into.back() < from.front()) return into.append(from);
    List<int> members{};
    members.reserve(into.size() + from.size());
    std::size_t taken = 0;
    for (int member : into) {
      while (taken < from.size() && from[taken] < member) members.push_back(from[taken++]);
      members.push_back(member);
    }
    members.append(from.begin() + taken, from.end());
    into.swap(members);
  }

  /// Makes one unit of two and returns which of them it is: the larger, so that searches for a merged unit stay short.
  constexpr int merge(int consumer, int producer) {
    const bool keeps_producer = unit(producer).members.size() >= unit(consumer).members.size();
    const int kept = keeps_producer ? producer : consumer;
    const int absorbed = keeps_producer ? consumer : producer;
    Unit& into = at(kept);
    Unit& from = at(absorbed);
    if (from.kind != UnitKind::elementwise) {
      into.kind = from.kind;
      into.column_axis = from.column_axis;
    }
    if (from.grid.rank > into.grid.rank) into.grid = from.grid;
    into.counts = into.counts || from.counts;
    join_members(into.members, from.members);
    into.assigned.append(from.assigned);
    for (int dependency : from.dependencies)
      if (const int on = find(dependency); on != kept) depend(into, on);
    merged_into_.items[absorbed] = kept;
    return kept;
  }

  const Graph* graph_;
  List<Unit> units_{};
  List<int> merged_into_{}; ///< for each unit the one that took it over, or -1
  List<int> unit_of_{};
  List<List<int>> readers_{}; ///< for each parameter and carry the nodes that read it
  LoopsOfNodes loops_{};
  List<List<int>> needs_of_loop_{}; ///< for each loop the units outside that its units need
  UnitOrder run_order_{};
};

} // namespace twill::inline v0::compile::inline TWILL_ISA
