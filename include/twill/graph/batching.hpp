#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Batching, graph to graph: a function that was traced for one example becomes one of many. It is traced with one
// element of each batch; then the nodes that depend on such an element are made again with a first axis of examples,
// and the others are shared. The nodes of the one example become dead code. Loops are built again, recomputed parts
// stay recomputed, and random draws are those of one larger tensor, so they differ between examples. Source: Radul et
// al., Automatically Batching Control-Intensive Programs, 2020, section 2. Read next: graph/batching_rules.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/batching_rules.hpp>
#include <twill/graph/loop_copies.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { namespace detail {

/// Builds one batched function: elements of batches first, then the function is traced, `finish` at its end.
class BatchBuilder {
public:
  constexpr BatchBuilder(Graph& graph, Extent batch)
      : graph_{&graph}, batch_{batch}, begin_{graph.size()}, draws_{graph.draws}, region_{graph.open_region} {}

  /// One element of a batch, along its first axis.
  TWILL_CONSTEXPR Value element(Value batch) {
    const Extents shape = batch.shape();
    Node node = node_over(Kind::slice, batch);
    node.index = -1; // of no loop
    node.shape = {};
    for (int axis = 1; axis < shape.rank; ++axis) node.shape.append(shape[axis]);
    const Value one{*graph_, graph_->add(node)};
    elements_.push_back(one.id());
    return one;
  }

  /// The results of all examples, along a new first axis, for those of one.
  [[nodiscard]] TWILL_CONSTEXPR List<int> finish(const List<int>& results) {
    end_ = graph_->size();
    const auto count = static_cast<std::size_t>(end_ - begin_);
    made_ = List<int>(count, -1);
    states_ = List<State>(count, State::shared);
    starts_ = List<int>(count + 1, -1);
    find_needed(results);
    find_states();
    const int scope = graph_->scope();
    for (int id = begin_; id < end_ && !graph_->fault.any();) id = visit(id);
    graph_->set_scope(scope);
    graph_->open_region = region_;
    List<int> found{};
    for (int result : results) {
      const Node node = graph_->node(result);
      found.push_back(graph_->fault.any() ? filled(*graph_, node.dtype, with_batch(batch_, node.shape), 0).id()
                                          : spread(result).id());
    }
    if (!graph_->fault.any()) copy_regions();
    for (TapInfo& tap : graph_->taps)
      if (is_inside(tap.node) && made(tap.node) >= 0) tap.node = made(tap.node);
    return found;
  }

private:
  /// A node of the function: shared by all examples as it is, or made again, as one value or as one for each example.
  enum class State : std::uint8_t { shared, copied, batched };

  struct Renamed {
    int from = 0;
    int to = 0;
  };

  [[nodiscard]] constexpr bool is_inside(int id) const { return id >= begin_ && id < end_; }
  [[nodiscard]] constexpr State state(int id) const {
    return is_inside(id) ? states_.data()[id - begin_] : State::shared;
  }
  [[nodiscard]] constexpr bool is_batched(int id) const { return state(id) == State::batched; }
  [[nodiscard]] constexpr bool is_needed(int id) const { return needed_.data()[id - begin_] != 0; }
  [[nodiscard]] constexpr int made(int id) const { return made_.data()[id - begin_]; }
  /// The node that stands for a node of the example.
  [[nodiscard]] constexpr int now(int id) const { return state(id) == State::shared ? id : made(id); }
  [[nodiscard]] TWILL_CONSTEXPR Value spread(int id) const {
    if (is_batched(id)) return {*graph_, made(id)};
    return BatchedNode::spread(*graph_, batch_, now(id), graph_->node(id).shape);
  }

  /// Marks the nodes that a result or a tap reads.
  TWILL_CONSTEXPR void find_needed(const List<int>& results) {
    needed_ = List<char>(static_cast<std::size_t>(end_ - begin_), 0);
    List<int> open = results;
    for (const TapInfo& tap : graph_->taps) open.push_back(tap.node);
    while (!open.empty()) {
      const int id = open.back();
      open.pop_back();
      if (!is_inside(id) || is_needed(id)) continue;
      needed_.items[id - begin_] = 1;
      const Node& node = graph_->node(id);
      for (int k = 0; k < node.arity; ++k) open.push_back(node.input(k));
      if (node.kind == Kind::carry) // its next value comes after it
        for (int other = id + 1; other < end_; ++other)
          if (graph_->node(other).kind == Kind::close && graph_->node(other).input(0) == id) open.push_back(other);
    }
  }

  TWILL_CONSTEXPR void raise(int id, State least, bool& changes) {
    State& own = states_.items[id - begin_];
    if (own >= least) return;
    own = least;
    changes = true;
  }

  /// What becomes of each node. A carry that one step makes different for each example is so in all steps.
  TWILL_CONSTEXPR void find_states() {
    for (int element : elements_) states_.items[element - begin_] = State::batched;
    List<char> is_built_again(graph_->loops.size(), 0);
    for (bool changes = true; changes;) {
      changes = false;
      for (int id = begin_; id < end_; ++id) {
        const Node& node = graph_->node(id);
        const bool only_waits = node.kind == Kind::after && node.arity == 2;
        if (node.kind == Kind::iota && node.index > draws_) raise(id, State::batched, changes);
        for (int k = 0; k < node.arity; ++k)
          if (const State of = state(node.input(k)); of != State::shared)
            raise(id, only_waits && k == 1 ? State::copied : of, changes);
        if (node.kind == Kind::assign && is_batched(node.input(1))) return refuse_update(node);
        const int loop = graph_->loop_of(node);
        if (loop < 0 || graph_->loops.items[loop].begin < begin_) continue;
        if (node.kind == Kind::close && is_inside(node.input(0))) raise(node.input(0), state(id), changes);
        if (state(id) != State::shared) is_built_again.items[loop] = 1;
        if (is_built_again.items[loop] != 0) raise(id, State::copied, changes);
      }
    }
  }

  TWILL_CONSTEXPR void refuse_update(const Node& assign) {
    const int buffer = graph_->node(assign.input(0)).index;
    graph_->refuse_parameter(Problem::vmap_of_an_update_of_a_buffer, buffer);
  }

  /// Visits a node, or a loop as a whole; returns the node after it.
  TWILL_CONSTEXPR int visit(int id) {
    starts_.items[id - begin_] = graph_->size();
    for (std::size_t i = loops_.first_inside(); i < graph_->loops.size(); ++i)
      if (graph_->loops.items[i].begin == id && graph_->loops.items[i].results_end > id) {
        const int loop = static_cast<int>(i);
        const LoopInfo info = graph_->loops.items[loop];
        if (!is_built_again(info)) break; // its steps are shared by all examples
        return loops_.copy(*graph_, loop, *this);
      }
    visit_node(id);
    return id + 1;
  }
  [[nodiscard]] TWILL_CONSTEXPR bool is_built_again(const LoopInfo& info) const {
    for (int id = info.end; id < info.results_end; ++id)
      if (state(id) != State::shared && is_needed(id)) return true;
    return false;
  }

  TWILL_CONSTEXPR void visit_node(int id) {
    if (state(id) == State::shared || !is_needed(id) || made(id) >= 0) return;
    const Node node = graph_->node(id); // a copy: emitting moves the nodes
    int& own = made_.items[id - begin_];
    if (is_element(id)) {
      own = node.input(0); // the batch
      return;
    }
    if (node.kind == Kind::result) return; // made with the operation
    graph_->set_scope(node.scope);
    graph_->open_region = region_of_copy(node.region);
    if (!is_batched(id)) {
      own = copied(node);
      for (int other = id + 1; node.kind == Kind::operation && other < end_; ++other)
        if (is_result_of(other, id)) made_.items[other - begin_] = copied(graph_->node(other));
      return;
    }
    if (node.kind == Kind::cast && graph_->node(node.input(0)).dtype == node.dtype) { // memory of a carry
      own = spread(node.input(0)).id();
      return;
    }
    if (node.kind == Kind::slice) { // of a loop around this one, or around the function
      own = sliced(node, exchanged(now(node.input(0))));
      return;
    }
    if (node.shape.rank >= max_rank) return graph_->refuse_node(Problem::vmap_gives_a_value_of_more_than_8_axes, id);
    BatchedNode batched{*graph_, batch_, id};
    for (int k = 0; k < node.arity; ++k) batched.set(k, now(node.input(k)), is_batched(node.input(k)));
    const Value result = batched.made();
    own = result.id();
    if (node.kind != Kind::operation || graph_->fault.any()) return;
    for (int other = id + 1; node.operation->results > 1 && other < end_; ++other)
      if (is_result_of(other, id)) {
        const Node further = graph_->node(other);
        made_.items[other - begin_] = add_further_result(result, further, batched.shape_of_result(further.shape)).id();
      }
    own = batched.unfolded(result, node.shape).id();
    for (int other = id + 1; node.operation->results > 1 && other < end_; ++other)
      if (is_result_of(other, id))
        made_.items[other - begin_] = batched.unfolded({*graph_, made(other)}, graph_->node(other).shape).id();
  }
  [[nodiscard]] TWILL_CONSTEXPR bool is_result_of(int id, int operation) const {
    const Node& node = graph_->node(id);
    return node.kind == Kind::result && node.input(0) == operation && is_needed(id);
  }
  [[nodiscard]] TWILL_CONSTEXPR bool is_element(int id) const {
    for (int element : elements_)
      if (element == id) return true;
    return false;
  }
  [[nodiscard]] TWILL_CONSTEXPR Value add_further_result(Value first, Node further, const Extents& shape) {
    further.inputs.items[0] = first.id();
    further.shape = shape;
    return {*graph_, graph_->add(further)};
  }
  TWILL_CONSTEXPR int sliced(Node node, Value steps) {
    node.inputs.items[0] = steps.id();
    node.index = loops_.now(node.index);
    node.shape = with_batch(batch_, node.shape);
    return graph_->add(node);
  }
  TWILL_CONSTEXPR int copied(Node node) {
    if (node.kind == Kind::slice) node.index = loops_.now(node.index);
    for (int k = 0; k < node.arity; ++k) node.inputs.items[k] = now(node.input(k));
    return graph_->add(node);
  }

  /// The number of the part that holds the copies of a part's nodes.
  TWILL_CONSTEXPR int region_of_copy(int region) {
    if (region == 0 || region == region_) return region_;
    for (const Renamed& known : regions_)
      if (known.from == region) return known.to;
    regions_.push_back({region, ++graph_->regions_named});
    return graph_->regions_named;
  }
  /// Marks the copies of parts that are computed again.
  TWILL_CONSTEXPR void copy_regions() {
    starts_.items[end_ - begin_] = graph_->size();
    for (int at = end_ - 1; at >= begin_; --at)
      if (starts_.items[at - begin_] < 0) starts_.items[at - begin_] = starts_.items[at - begin_ + 1];
    const std::size_t count = graph_->regions.size();
    for (std::size_t i = 0; i < count; ++i) {
      RegionInfo part = graph_->regions[i];
      if (part.begin < begin_ || part.end > end_) continue;
      part.begin = starts_.items[part.begin - begin_];
      part.end = starts_.items[part.end - begin_];
      if (part.begin < part.end) graph_->regions.push_back(part);
    }
  }

  /// Steps first: (examples, steps, …) as (steps, examples, …), or back.
  [[nodiscard]] TWILL_CONSTEXPR Value exchanged(int id) const { return with_axis_moved({*graph_, id}, 0, 1); }

  // ---- what LoopCopies asks for ------------------------------------------------------------------------------------
  friend class LoopCopies;
  [[nodiscard]] constexpr bool copies(int id) const { return is_needed(id) && state(id) != State::shared; }
  TWILL_CONSTEXPR void set(int id, int copy) { made_.items[id - begin_] = copy; }
  TWILL_CONSTEXPR void start(int id) {
    starts_.items[id - begin_] = graph_->size();
    graph_->open_region = region_of_copy(graph_->node(id).region);
  }
  [[nodiscard]] TWILL_CONSTEXPR Value entering(int id) {
    const Node& node = graph_->node(id);
    const int source = node.input(0);
    if (!is_batched(id)) return {*graph_, now(source)};
    return node.kind == Kind::carry ? spread(source) : exchanged(spread(source).id());
  }
  [[nodiscard]] TWILL_CONSTEXPR int next(int close) {
    const Node& node = graph_->node(close);
    return is_batched(node.input(0)) ? spread(node.input(1)).id() : now(node.input(1));
  }
  [[nodiscard]] TWILL_CONSTEXPR int stacked(int id, int stack) const {
    return is_batched(id) ? exchanged(stack).id() : stack;
  }

  Graph* graph_;
  Extent batch_;
  int begin_;
  int draws_;  ///< how many random tensors were traced before the function
  int region_; ///< the part around it
  int end_ = -1;
  List<int> elements_{};
  List<char> needed_{};
  List<State> states_{};
  List<int> made_{};   ///< the nodes that replace those of the example
  List<int> starts_{}; ///< the first of the nodes made for each
  List<Renamed> regions_{};
  LoopCopies loops_{-1};
};

}}}} // namespace twill::v0::graph::detail
