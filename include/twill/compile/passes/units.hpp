#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Units of a graph: sets of nodes, each of which becomes one launch, and their dependencies. Two units become one only
// where an order of execution is left in which every unit comes after its dependencies; compile/passes/group.hpp
// decides whether they may share a kernel. Read next: compile/passes/group.hpp.

#include <twill/compile/passes/reading.hpp>
#include <twill/compile/passes/unit_order.hpp>
#include <twill/core/config.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

enum class UnitKind : std::uint8_t { elementwise, row, column, operation };

struct Unit {
  UnitKind kind = UnitKind::elementwise;
  Extents grid{};           ///< without extents of one; a row unit reduces along its last dimension
  int column_axis = -1;     ///< the grid dimension that a column unit reduces
  int loop = -1;            ///< in whose steps it runs
  int region = 0;           ///< the part of the function that it belongs to
  int slot = 0;             ///< of the device that it runs on
  bool counts = false;      ///< reads the positions of its elements
  List<int> assigned{};     ///< the parameters and carries it overwrites
  List<int> members{};      ///< nodes, in order
  List<int> dependencies{}; ///< units that have to run before

  constexpr Unit() = default;
};

/// The units of a graph, while it is being fused and afterwards.
class Units {
public:
  /// The unit that computes a node, -1 for leaves and views.
  [[nodiscard]] TWILL_CONSTEXPR int unit_of(int node) const {
    int unit = unit_of_.items[node];
    if (unit < 0) return -1;
    const int* const into = merged_into_.items;
    while (into[unit] >= 0) unit = into[unit];
    return unit;
  }
  [[nodiscard]] constexpr const Unit& unit(int id) const { return units_.items[id]; }
  [[nodiscard]] constexpr int size() const { return static_cast<int>(units_.size()); }
  [[nodiscard]] constexpr bool alive(int id) const { return merged_into_.items[id] < 0; }
  [[nodiscard]] TWILL_CONSTEXPR int find(int id) const {
    const int* const into = merged_into_.items;
    while (into[id] >= 0) id = into[id];
    return id;
  }

  /// The loops of all nodes.
  [[nodiscard]] constexpr const LoopsOfNodes& loops() const { return loops_; }

  /// The place among parameters and carries of a node that is or may be overwritten; -1 for others.
  [[nodiscard]] TWILL_CONSTEXPR int variable_of(int id) const {
    const Node& node = graph_->nodes.items[id];
    if (node.kind == Kind::parameter) return node.index;
    return node.kind == Kind::carry ? static_cast<int>(graph_->parameters.size()) + node.index : -1;
  }

protected:
  constexpr explicit Units(const Graph& graph)
      : graph_{&graph},
        unit_of_(graph.nodes.size(), -1),
        readers_(graph.parameters.size() + graph.carries.size(), List<int>{}),
        loops_{graph},
        needs_of_loop_(graph.loops.size(), List<int>{}) {
    units_.reserve(graph.nodes.size());
    merged_into_.reserve(graph.nodes.size());
  }

  constexpr Unit& at(int id) { return units_.items[id]; }

  /// Makes a unit of one node.
  TWILL_CONSTEXPR int add_unit(int node) {
    units_.push_back({});
    merged_into_.push_back(-1);
    run_order_.append();
    const int number = static_cast<int>(units_.size()) - 1;
    unit_of_.items[node] = number;
    Unit& unit = units_.items[number];
    unit.members.push_back(node);
    unit.loop = loops_.computed(node);
    unit.region = graph_->nodes.items[node].region;
    unit.slot = graph_->nodes.items[node].slot;
    return number;
  }

  /// Makes a node a member of a unit whose members are all older.
  TWILL_CONSTEXPR void add_member(int unit, int node) {
    units_.items[unit].members.push_back(node);
    unit_of_.items[node] = unit;
  }

  /// Notes a reader of a parameter or a carry.
  TWILL_CONSTEXPR void note_parameter(int root, int reader) {
    if (const int variable = variable_of(root); variable >= 0) readers_.items[variable].push_back(reader);
  }

  TWILL_CONSTEXPR void depend(Unit& unit, int on) {
    for (int known : unit.dependencies)
      if (known == on) return;
    unit.dependencies.push_back(on);
    for (int loop = unit.loop; !loops_.holds(loop, units_.items[on].loop); loop = loops_.around(loop))
      add_need(loop, on);
  }
  TWILL_CONSTEXPR void add_need(int loop, int on) {
    List<int>& needs = needs_of_loop_.items[loop];
    for (int known : needs)
      if (find(known) == on) return;
    needs.push_back(on);
  }

  /// A value read through an `after` is read when its other input is there.
  TWILL_CONSTEXPR void wait_for(int unit, int id) {
    const Node* const nodes = graph_->nodes.items;
    for (; (graph::view_kinds >> static_cast<int>(nodes[id].kind) & 1u) != 0; id = nodes[id].inputs.items[0]) {
      const Node& node = nodes[id];
      if (node.kind != Kind::after || node.arity < 2) continue;
      if (const int on = unit_of(root_of(*graph_, node.inputs.items[1])); on >= 0 && on != unit) depend(at(unit), on);
    }
  }

  [[nodiscard]] TWILL_CONSTEXPR const List<int>& readers_of(int variable) const {
    return readers_.items[variable_of(variable)];
  }

  [[nodiscard]] TWILL_CONSTEXPR bool depends_directly(const Unit& unit, int on) const {
    const int* const into = merged_into_.items;
    for (int dependency : unit.dependencies) {
      while (into[dependency] >= 0) dependency = into[dependency];
      if (dependency == on) return true;
    }
    return false;
  }

  /// Makes one unit of two where no third has to run between them. `also(of, visit)` visits further dependencies of a
  /// unit. Returns the merged unit, -1 where that is impossible.
  template <class Also> constexpr int join(int one, int other, const Also& also) {
    const auto dependencies = [&](int of, const auto& visit) {
      visit_dependencies(of, visit);
      also(of, visit);
    };
    const bool in_order = run_order_.is_before(one, other);
    if (!run_order_.join(in_order ? one : other, in_order ? other : one, dependencies)) return -1;
    const int merged = merge(other, one);
    run_order_.take_place(merged, merged == other ? one : other);
    return merged;
  }

  const Graph* graph_;
  List<Unit> units_{};

private:
  /// Visits the units to run before a unit: for a unit of loops also those outside that another of their units needs.
  constexpr void visit_dependencies(int of, const auto& visit) const {
    const Unit& unit = units_.items[of];
    for (int on : unit.dependencies) visit(find(on));
    for (int loop = unit.loop; loop >= 0; loop = loops_.around(loop))
      for (int on : needs_of_loop_.items[loop]) visit(find(on));
  }

  /// Merges sorted numbers into others; mostly, all of the second come last.
  static TWILL_CONSTEXPR void join_members(List<int>& into, List<int>& from) {
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

  /// Makes one unit of two and returns it: the larger one, so that searches for a merged unit stay short.
  TWILL_CONSTEXPR int merge(int consumer, int producer) {
    const bool keeps_producer = units_.items[producer].members.size() >= units_.items[consumer].members.size();
    const int kept = keeps_producer ? producer : consumer;
    const int absorbed = keeps_producer ? consumer : producer;
    Unit& into = units_.items[kept];
    Unit& from = units_.items[absorbed];
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

  List<int> merged_into_{}; ///< for each unit the one that took it over, or -1
  List<int> unit_of_{};
  List<List<int>> readers_{}; ///< for each parameter and carry the nodes that read it
  LoopsOfNodes loops_{};
  List<List<int>> needs_of_loop_{}; ///< for each loop the units outside that its units need
  UnitOrder run_order_{};
};

}}}} // namespace twill::v0::compile::TWILL_ISA
