#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Loops in a graph. The body is traced in place, between other nodes; nodes that depend on a carry or on a slice of the
// loop run in every step, all others once. The results follow the body: stacks of all steps' values, and the last
// carries. A step ends by writing the new carries over the old ones, in an order in which no overwritten value is read.
// Read next: graph/scan.hpp, graph/loop_gradient.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/shape_functions.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { namespace detail {

/// Marks the nodes that marked ones read, among those from `begin` to before `end`. A step of a loop between them reads
/// what the step before it has left, and all that the loop keeps may be read, so a loop is needed as a whole.
/// needed: for each of these nodes
TWILL_CONSTEXPR void mark_what_is_read(const Graph& graph, int begin, int end, List<char>& needed) {
  List<LoopInfo> inner{};
  for (const LoopInfo& loop : graph.loops)
    if (loop.begin >= begin && loop.end >= 0 && loop.results_end <= end) inner.push_back(loop);
  for (int id = end; id-- > begin;) {
    for (const LoopInfo& loop : inner) {
      if (loop.results_end != id + 1) continue;
      bool is_needed = false;
      for (int result = loop.end; result < loop.results_end; ++result)
        is_needed = is_needed || needed.items[result - begin] != 0;
      for (int result = loop.end; result < loop.results_end && is_needed; ++result) needed.items[result - begin] = 1;
    }
    if (needed.items[id - begin] == 0) continue;
    const Node& node = graph.node(id);
    for (int k = 0; k < node.arity; ++k)
      if (node.input(k) >= begin) needed.items[node.input(k) - begin] = 1;
  }
}

/// The part of a loop's body that runs in every step and is needed. Positions count from the first node of the body.
struct LoopBody {
  List<int> loops{}; ///< the innermost loop in whose steps each node is known; -1 where it does not depend on the step
  int begin = 0;
  int end = 0;

  constexpr LoopBody() = default;
  [[nodiscard]] constexpr bool holds(int id) const { return id >= begin && id < end && loops.items[id - begin] >= 0; }
};

/// The body of a loop. A loop inside of it of which some nodes depend on the step belongs to it as a whole.
[[nodiscard]] TWILL_CONSTEXPR LoopBody loop_body(const Graph& graph, int loop, int begin, int end,
                                                 const List<int>& results) {
  LoopBody body{};
  body.begin = begin;
  body.end = end;
  body.loops = List<int>(static_cast<std::size_t>(end - begin), -1);
  List<char> needed(static_cast<std::size_t>(end - begin), 0);
  for (int id : results)
    if (id >= begin && id < end) needed.items[id - begin] = 1;
  mark_what_is_read(graph, begin, end, needed);
  List<char> runs_in_steps(graph.loops.size(), 0);
  runs_in_steps.items[loop] = 1;
  for (bool finds_loops = true; finds_loops;) {
    finds_loops = false;
    for (int id = begin; id < end; ++id) {
      if (needed.items[id - begin] == 0) continue;
      const Node& node = graph.node(id);
      int innermost = -1; // the inner loop of two is the later one
      for (int k = 0; k < node.arity; ++k)
        if (body.holds(node.input(k)) && body.loops.items[node.input(k) - begin] > innermost)
          innermost = body.loops.items[node.input(k) - begin];
      int own = graph.loop_of(node);
      if (own >= 0 && graph.loops.items[own].begin < begin) own = -1; // of a loop around this one
      if (own >= 0 && innermost >= 0 && runs_in_steps.items[own] == 0) {
        runs_in_steps.items[own] = 1;
        finds_loops = true;
      }
      if (own >= 0 && runs_in_steps.items[own] != 0) {
        innermost = own;
        while (node.kind == Kind::stack || node.kind == Kind::leave) { // known after the loop, in the one around it
          innermost = graph.loops.items[innermost].around;
          if (runs_in_steps.items[innermost] != 0) break;
        }
      }
      body.loops.items[id - begin] = innermost;
    }
  }
  return body;
}

/// Whether the backward pass reads the value of a step instead of computing it again.
[[nodiscard]] TWILL_CONSTEXPR bool is_kept_of_steps(Kind kind) {
  return kind == Kind::carry || kind == Kind::operation || kind == Kind::result || kind == Kind::reduce ||
         kind == Kind::stack || kind == Kind::leave;
}

/// Builds one loop: carries and slices first or while the body is traced, `finish` at its end.
class LoopBuilder {
public:
  constexpr LoopBuilder(Graph& graph, Extent count, bool reversed)
      : graph_{&graph}, loop_{static_cast<int>(graph.loops.size())} {
    const int around = graph.open_loop;
    const int depth = around < 0 ? 0 : graph.loops.items[around].depth + 1;
    graph.loops.push_back({count, reversed, graph.size(), -1, -1, around, depth});
    graph.open_loop = loop_;
  }

  TWILL_CONSTEXPR Value carry(Value initial) {
    const Node source = initial.node();
    Node node = derived(Kind::carry, source.dtype, source.shape, initial.id());
    node.index = static_cast<int>(graph_->carries.size());
    graph_->carries.push_back(loop_);
    return {*graph_, graph_->add(node)};
  }

  /// requires: the first axis has as many elements as the loop has steps
  TWILL_CONSTEXPR Value slice(Value stacked) {
    const Node source = stacked.node();
    Extents shape{};
    for (int axis = 1; axis < source.shape.rank; ++axis) shape.append(source.shape[axis]);
    Node node = derived(Kind::slice, source.dtype, shape, stacked.id());
    node.index = loop_;
    return {*graph_, graph_->add(node)};
  }

  /// Stacks `results` and replaces carries by their new values; then `carries` and `results` hold the loop's results.
  TWILL_CONSTEXPR void finish(List<int>& carries, const List<int>& next, List<int>& results) {
    List<int> closing = next;
    List<char> reads_memory(next.size(), 0);
    const List<int> order = closing_order(carries, closing, reads_memory);
    graph_->open_loop = info().around;
    const int begin = info().begin;
    const int end = graph_->size();
    info().end = end;
    List<int> read = closing;
    read.append(results);
    const LoopBody body = loop_body(*graph_, loop_, begin, end, read);
    List<char> is_stacked(static_cast<std::size_t>(end - begin), 0);
    for (int& result : results) {
      if (result >= begin) is_stacked.items[result - begin] = 1;
      result = stack(result);
    }
    for (int id = begin; id < end; ++id)
      if (is_kept(body, id) && is_stacked.items[id - begin] == 0) static_cast<void>(stack(id));
    List<int> closes(carries.size(), -1);
    for (int c : order) {
      const auto position = static_cast<std::size_t>(c);
      const Node carry = graph_->node(carries[position]);
      Node node = derived(Kind::close, carry.dtype, carry.shape, carries[position]);
      node.index = carry.index;
      node.arity = 2;
      node.inputs[1] = closing[position];
      node.axis = reads_memory[position] != 0 ? 1 : 0;
      closes[position] = graph_->add(node);
    }
    for (std::size_t c = 0; c < carries.size(); ++c) {
      const Node carry = graph_->node(carries[c]);
      Node node = derived(Kind::leave, carry.dtype, carry.shape, carries[c]);
      node.arity = 2;
      node.inputs[1] = closes[c];
      carries[c] = graph_->add(node);
    }
    info().results_end = graph_->size();
  }

  [[nodiscard]] constexpr int loop() const { return loop_; }

private:
  [[nodiscard]] static TWILL_CONSTEXPR Node derived(Kind kind, DType dtype, const Extents& shape, int input) {
    Node node{};
    node.kind = kind;
    node.dtype = dtype;
    node.shape = shape;
    node.arity = 1;
    node.inputs[0] = input;
    return node;
  }

  [[nodiscard]] constexpr LoopInfo& info() { return graph_->loops.items[loop_]; }

  TWILL_CONSTEXPR int stack(int id) {
    const Node source = graph_->node(id);
    if (source.shape.rank >= max_rank) {
      graph_->refuse_node(Problem::scan_keeps_a_value_of_more_than_8_axes, id);
      return id;
    }
    Extents shape{};
    shape.append(info().count);
    for (int axis = 0; axis < source.shape.rank; ++axis) shape.append(source.shape[axis]);
    Node node = derived(Kind::stack, source.dtype, shape, id);
    node.index = loop_;
    return graph_->add(node);
  }

  /// Whether the values of a node in all steps are kept for the backward pass. Those in the steps of loops inside are
  /// kept by these, in stacks that are kept in turn; what is not kept is computed again, as are the parts of which that
  /// is asked for.
  [[nodiscard]] TWILL_CONSTEXPR bool is_kept(const LoopBody& body, int id) const {
    const Node& node = graph_->node(id);
    if (body.loops.items[id - body.begin] != loop_ || !is_kept_of_steps(node.kind) || node.shape.rank >= max_rank)
      return false;
    for (const RegionInfo& part : graph_->regions)
      if (part.is_recomputed && part.begin >= body.begin && id >= part.begin && id < part.end) return false;
    return true;
  }

  /// For each node of the body the set of carries that a kernel may read to compute it.
  [[nodiscard]] TWILL_CONSTEXPR List<std::uint64_t> carries_read(const List<int>& carries) const {
    const int begin = graph_->loops.items[loop_].begin;
    List<std::uint64_t> sets(static_cast<std::size_t>(graph_->size() - begin), 0);
    for (std::size_t c = 0; c < carries.size(); ++c)
      sets.items[carries[c] - begin] = std::uint64_t{1} << (c < 63 ? c : 63);
    for (int id = begin; id < graph_->size(); ++id) {
      const Node& node = graph_->node(id);
      if (node.kind != Kind::reduce && is_kept_of_steps(node.kind)) continue; // in memory of its own
      for (int k = 0; k < node.arity; ++k)
        if (node.input(k) >= begin) sets.items[id - begin] |= sets.items[node.input(k) - begin];
    }
    return sets;
  }

  /// The order in which carries are overwritten: a carry that reads another one comes before that one is overwritten.
  /// Where no such order exists, and where a carry becomes what another was, memory takes the new value first.
  TWILL_CONSTEXPR List<int> closing_order(const List<int>& carries, List<int>& next, List<char>& reads_memory) {
    const int count = static_cast<int>(carries.size());
    const int begin = info().begin;
    const List<std::uint64_t> sets = carries_read(carries);
    const auto reads = [&](int reader, int carry) {
      const int id = next.items[reader];
      if (reads_memory.items[reader] != 0 || id < begin) return false;
      return (sets.items[id - begin] >> (carry < 63 ? carry : 63) & 1) != 0;
    };
    const auto through_memory = [&](int c) {
      const Node source = graph_->node(next.items[c]);
      next.items[c] = graph_->add(derived(Kind::cast, source.dtype, source.shape, next.items[c]));
      reads_memory.items[c] = 1;
    };
    for (int c = 0; c < count; ++c) {
      int root = next.items[c];
      while (is_view(graph_->node(root).kind)) root = graph_->node(root).input(0);
      if (graph_->node(root).kind == Kind::carry || c >= 63) through_memory(c);
    }
    List<int> order{};
    List<char> placed(carries.size(), 0);
    while (static_cast<int>(order.size()) < count) {
      int chosen = -1;
      for (int c = 0; c < count && chosen < 0; ++c) {
        bool is_free = placed.items[c] == 0;
        for (int other = 0; other < count && is_free; ++other)
          is_free = other == c || placed.items[other] != 0 || !reads(other, c);
        if (is_free) chosen = c;
      }
      if (chosen < 0) {
        int first = 0;
        while (placed.items[first] != 0 || reads_memory.items[first] != 0) ++first;
        through_memory(first);
        continue;
      }
      placed.items[chosen] = 1;
      order.push_back(chosen);
    }
    return order;
  }

  Graph* graph_;
  int loop_;
};

}}}} // namespace twill::v0::graph::detail
