#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Values in memory: which ones are stored. A value that another unit needs is computed again there when that is cheap
// and reads at most one large tensor; else it is stored. Operands of operations and general reshapes are always stored.
// Read next: compile/passes/lower.hpp.

#include <twill/compile/passes/order.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/node.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

using graph::Kind;
using graph::Node;
using graph::Primitive;

/// The cost of recomputing one primitive, in simple arithmetic operations.
[[nodiscard]] TWILL_CONSTEXPR int cost_of(const Node& node) {
  if (node.kind != Kind::primitive) return 1;
  switch (node.primitive) {
  case Primitive::exp:
  case Primitive::expm1:
  case Primitive::log:
  case Primitive::log1p:
  case Primitive::sin:
  case Primitive::cos:
  case Primitive::tan:
  case Primitive::asin:
  case Primitive::acos:
  case Primitive::atan:
  case Primitive::sinh:
  case Primitive::cosh:
  case Primitive::tanh:
  case Primitive::erf:
  case Primitive::exp2:
  case Primitive::log2:
  case Primitive::log10:
  case Primitive::cbrt:
  case Primitive::asinh:
  case Primitive::acosh:
  case Primitive::atanh:
  case Primitive::tanh_accurate:
  case Primitive::erf_accurate:
  case Primitive::hypot:
  case Primitive::fmod:
  case Primitive::remainder:
  case Primitive::power:
  case Primitive::atan2:
    return 4;
  case Primitive::erfc:
  case Primitive::lgamma:
  case Primitive::digamma:
  case Primitive::polygamma:
  case Primitive::erfinv:
  case Primitive::ndtri:
  case Primitive::i0:
  case Primitive::i0e:
  case Primitive::i1:
  case Primitive::i1e:
  case Primitive::bessel_j0:
  case Primitive::bessel_j1:
  case Primitive::gammainc:
  case Primitive::gammaincc:
  case Primitive::betainc:
    return 9; // never twice
  case Primitive::random_uniform:
  case Primitive::random_integer:
    return 3;
  default:
    return 1;
  }
}

/// Recomputation above this cost is worse than a round trip through memory.
inline constexpr int recomputation_limit = 8;

/// A leaf that every program can have at no cost.
[[nodiscard]] TWILL_CONSTEXPR bool is_leaf(Kind kind) {
  return kind == Kind::constant || kind == Kind::run_scalar || kind == Kind::iota;
}

class Stored {
public:
  constexpr Stored(const Graph& graph, const Grouping& units, const List<int>& order)
      : graph_{&graph},
        units_{&units},
        order_{&order},
        stored_(graph.nodes.size(), 0),
        overwritten_at_(graph.parameters.size() + graph.carries.size(), units.size()) {
    find_overwritten();
    store_what_must_be();
    for (std::size_t position = 0; position < order.size(); ++position) {
      position_ = static_cast<int>(position);
      const int unit = order[position];
      const Unit& u = units.unit(unit);
      if (u.kind == UnitKind::operation) continue;
      for (int member : u.members) {
        const Node& node = graph.nodes.items[member];
        if (graph::is_copy(node.kind))
          need(node.inputs.items[graph::copied_input(node.kind)], unit);
        else
          for (int i = 0; i < node.arity; ++i) need(node.inputs.items[i], unit);
      }
    }
  }

  /// True for a value that a unit computes and puts into memory.
  [[nodiscard]] constexpr bool holds(int id) const { return stored_.items[id] != 0; }

private:
  TWILL_CONSTEXPR void find_overwritten() {
    for (std::size_t position = 0; position < order_->size(); ++position) {
      const Unit& unit = units_->unit((*order_)[position]);
      for (int parameter : unit.assigned)
        overwritten_at_.items[units_->variable_of(parameter)] = static_cast<int>(position);
    }
  }

  TWILL_CONSTEXPR void store_what_must_be() {
    for (int output : graph_->outputs) store_root(output);
    for (const graph::TapInfo& tap : graph_->taps) store_root(tap.node);
    const int nodes = graph_->size();
    for (int id = 0; id < nodes; ++id) {
      const Node& node = graph_->nodes.items[id];
      if (node.kind == Kind::result) store_root(id);
      if (node.kind == Kind::operation) {
        store_root(id);
        for (int i = 0; i < node.arity; ++i) store_root(root_of(*graph_, node.inputs.items[i]));
      }
      if (node.kind == Kind::carry || node.kind == Kind::stack) store_root(id);
      if (node.kind == Kind::close && node.axis != 0) store_root(root_of(*graph_, node.inputs.items[1]));
      if (node.kind == Kind::reshape && !only_moves_ones(graph_->nodes.items[node.inputs[0]].shape, node.shape))
        store_root(behind_after(graph_->nodes.data(), node.inputs[0]));
    }
  }

  TWILL_CONSTEXPR void store_root(int root) {
    if (units_->unit_of(root) >= 0) stored_.items[root] = 1;
  }

  TWILL_CONSTEXPR void need(int id, int unit) {
    const int root = root_of(*graph_, id);
    const int producer = units_->unit_of(root);
    if (producer < 0 || producer == unit || holds(root)) return;
    // A value outside a loop is computed again in its steps only where each of them sees elements of its own.
    const int made_in = units_->unit(producer).loop;
    const int read_in = units_->unit(unit).loop;
    const bool is_around = read_in >= 0 && made_in == units_->loops().around(read_in);
    if (made_in != read_in && !(is_around && is_seen_in_steps(id, units_->unit(unit)))) {
      store_root(root);
      return;
    }
    Recomputation recomputation{};
    if (!can_recompute(root, units_->unit(unit), recomputation)) store_root(root);
  }

  /// True where the steps of the unit's loop read different elements, and none of them one value along a row.
  [[nodiscard]] TWILL_CONSTEXPR bool is_seen_in_steps(int id, const Unit& unit) const {
    const Extents& shape = graph_->nodes.items[id].shape;
    const Reading reading = read_through(*graph_, id, proper_axes(shape));
    const int rank = graph::proper_rank(shape);
    if (reading.axis_of[step_axis_of(*graph_, unit.loop)] < 0 || rank != unit.grid.rank) return false;
    for (int d = 0; d < rank; ++d)
      if (reading.axis_of.items[d] < 0) return false;
    return true;
  }

  /// The cost of computing a value again.
  struct Recomputation {
    int cost = 0;
    int large_read = -1; ///< the one tensor of the value's own size that it reads
  };

  /// True when a node follows cheaply from values in memory.
  TWILL_CONSTEXPR bool can_recompute(int id, const Unit& where, Recomputation& so_far) const {
    const Node& node = graph_->nodes.items[id];
    if (!is_elementwise(node.kind)) return false;
    so_far.cost += cost_of(node);
    if (so_far.cost > recomputation_limit) return false;
    for (int i = 0; i < node.arity; ++i) {
      const Reading reading = read_through(*graph_, node.inputs.items[i], proper_axes(node.shape));
      const Node& root = graph_->nodes.items[reading.root];
      if (root.kind == Kind::iota && units_->is_uniform(id, where)) return false;
      if (is_leaf(root.kind)) continue;
      // A value that depends on a parameter cannot be computed again once the parameter is overwritten.
      if (const int variable = units_->variable_of(reading.root);
          variable >= 0 && overwritten_at_.items[variable] <= position_)
        return false;
      if (root.kind == Kind::input || root.kind == Kind::parameter || holds(reading.root)) {
        if (graph::proper_rank(root.shape) < graph::proper_rank(node.shape) || so_far.large_read == reading.root)
          continue;
        if (so_far.large_read >= 0) return false;
        so_far.large_read = reading.root;
        continue;
      }
      if (!only_moves_ones(*reading.view, root.shape) || !can_recompute(reading.root, where, so_far)) return false;
    }
    return true;
  }

  const Graph* graph_;
  const Grouping* units_;
  const List<int>* order_;
  List<char> stored_;
  List<int> overwritten_at_; ///< for each parameter the position in the order
  int position_ = 0;         ///< of the unit whose needs are being decided
};

}}}} // namespace twill::v0::compile::TWILL_ISA
