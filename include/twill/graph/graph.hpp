#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Traced functions under construction: nodes in topological order, and lists of everything that has a name. A graph
// exists in constant evaluation only; compile/ freezes it into tables. Every check of a traced function ends in
// `refuse`, which keeps the first fault. Read next: graph/value.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/graph/fault.hpp>
#include <twill/graph/node.hpp>
#include <twill/graph/parameter.hpp>
#include <twill/graph/slots.hpp>
#include <twill/graph/state.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace twill { inline namespace v0 { namespace graph {

/// The record of a traced function: nodes in an order in which operands come first, and facts about inputs and weights.
class Graph : public GraphState {
public:
  List<Node> nodes{};                  ///< operands before those that use them
  List<InputInfo> inputs{};            ///< of the function, in the order of its arguments
  List<ParameterInfo> parameters{};    ///< weights, buffers and states
  List<CallSite> parameter_sites{};    ///< of the calls that made them
  List<RunScalarInfo> run_scalars{};   ///< numbers that may change between runs
  List<Symbol> symbols{};              ///< the dynamic extents
  List<Requirement> requirements{};    ///< conditions on extents, checked at run time
  List<IntegerBounds> bounds{};        ///< limits of integer inputs
  List<int> outputs{};                 ///< node by node, the results
  List<char> channels_last_outputs{};  ///< outputs handed out channels-last, like such inputs; none after its end
  List<TapInfo> taps{};                ///< values that hooks or tables may look at
  List<Name> scopes{};                 ///< the paths of all scopes, in order
  List<LoopInfo> loops{};              ///< see graph/scan.hpp
  List<RegionInfo> regions{};          ///< see graph/checkpoint.hpp
  List<int> stage_boundaries{};        ///< the first node of each stage but the first, see nn/stage_boundary.hpp
  List<int> carries{};                 ///< the loop of each
  List<std::int64_t> attributes{0};    ///< of operations: a count, then the integers
  List<MergedSymbol> merged_symbols{}; ///< that extents no longer name

  constexpr Graph() = default;
  /// An empty graph whose parameters have this element type.
  constexpr explicit Graph(DType element_type) { element = element_type; }

  /// The node of an id that `add` returned.
  [[nodiscard]] constexpr const Node& node(int id) const { return nodes.items[id]; }
  /// The loop of one of its own nodes (carry, slice, stack, close, leave), -1 for others.
  [[nodiscard]] TWILL_CONSTEXPR int loop_of(const Node& own) const {
    switch (own.kind) {
    case Kind::slice:
    case Kind::stack:
      return own.index;
    case Kind::carry:
    case Kind::close:
      return carries.data()[own.index];
    case Kind::leave:
      return carries.data()[node(own.input(0)).index];
    default:
      return -1;
    }
  }
  /// How many nodes there are.
  [[nodiscard]] constexpr int size() const { return static_cast<int>(nodes.size()); }

  /// Appends a node; returns its id.
  TWILL_CONSTEXPR int add(const Node& node) {
    if (!is_model_type(node.dtype))
      refuse(Problem::model_takes_element_types_bool_to_float64_convert_the_tensor, static_cast<int>(node.dtype), 0,
             {});
    const int id = static_cast<int>(nodes.size());
    nodes.push_back(node);
    Node& own = nodes.items[id];
    if (own.scope == 0) own.scope = scope_;
    own.region = open_region;
    static_cast<void>(make_canonical(own.shape));
    if (slots_.has_several()) refuse(Placement::place(id, nodes, parameters), {});
    return id;
  }

  /// The extent with merged symbols replaced.
  [[nodiscard]] TWILL_CONSTEXPR Extent canonical(Extent extent) const {
    if ((extent.symbols & replaced_) != 0)
      for (const MergedSymbol& merged : merged_symbols)
        extent = merged.to < 0 ? extent.fixed(merged.from, merged.value) : extent.replaced(merged.from, merged.to);
    return extent;
  }
  [[nodiscard]] TWILL_CONSTEXPR Extents canonical(Extents shape) const {
    static_cast<void>(make_canonical(shape));
    return shape;
  }
  /// Replaces merged symbols in a shape; true if there was one.
  TWILL_CONSTEXPR bool make_canonical(Extents& shape) const {
    if (replaced_ == 0) return false;
    bool changes = false;
    const int rank = shape.rank;
    for (int axis = 0; axis < rank; ++axis) {
      if ((shape.axes.items[axis].symbols & replaced_) == 0) continue;
      shape.axes.items[axis] = canonical(shape.axes.items[axis]);
      changes = true;
    }
    return changes;
  }

  /// Replaces a symbol by another in all nodes, present and future; a run checks that inputs agree.
  constexpr void merge_symbols(int from, int to) { replace({from, to, 0}); }

  /// Replaces a symbol by a number in all nodes, present and future; a run checks that inputs agree.
  constexpr void fix_symbol(int symbol, std::int64_t value) { replace({symbol, -1, value}); }

  /// Keeps the first fault of the trace; later ones may only follow from it.
  TWILL_CONSTEXPR void refuse(Problem problem, std::int64_t left, std::int64_t right, CallSite site, Named about = {}) {
    if (fault.any()) return;
    if (!loss.empty() && about.kind == Named::Kind::nothing) { // calls within a loss are the library's own
      about = Named::loss(loss);
      site = {};
    }
    fault = {problem, left, right, site, about};
    if (path_.size > 0) fault.set_layer(path_.view().substr(0, path_.size - 1u)); // without the dot
    fault.set_scopes(open_scope_);
  }

  /// Refuses a node, in the layer that made it.
  TWILL_CONSTEXPR void refuse_node(Problem problem, int id, Named about = {}) {
    const int scope = node(id).scope;
    if (!fault.any() && scope > 0) {
      const std::string_view path = scopes[static_cast<std::size_t>(scope) - 1].view();
      fault = {problem, id, 0, {}, about};
      fault.set_layer(path.substr(0, path.size() - 1)); // without the dot
    }
    refuse(problem, id, 0, {}, about);
  }

  /// Refuses a weight by its name, where the call that made it is.
  TWILL_CONSTEXPR void refuse_parameter(Problem problem, int index) {
    const auto at = static_cast<std::size_t>(index);
    refuse(problem, 0, 0, at < parameter_sites.size() ? parameter_sites[at] : CallSite{},
           Named::weight(parameters[at].name.view()));
  }

  /// Refuses an extent below a minimum, now or in the run that makes it so.
  TWILL_CONSTEXPR void require_at_least(Extent extent, std::int64_t minimum, Problem problem, std::string_view what,
                                        CallSite site) {
    extent = canonical(extent);
    if (extent.is_static() && extent.factor < minimum) refuse(problem, extent.factor, minimum, site);
    if (extent.is_static()) return;
    Name layer = path_;
    if (layer.size > 0) layer.shorten(layer.size - 1); // the dot
    requirements.push_back({layer, extent, minimum, what});
  }

  /// Refuses integers outside of bounds in the run that meets them, where they are an input of the function.
  TWILL_CONSTEXPR void require_within(int id, IntegerBounds wanted) {
    while (is_view(node(id).kind) || (node(id).kind == Kind::cast && !is_floating(node(node(id).input(0)).dtype)))
      id = node(id).input(0);
    if (node(id).kind != Kind::input || is_floating(node(id).dtype)) return;
    wanted.layer = path_;
    if (wanted.layer.size > 0) wanted.layer.shorten(wanted.layer.size - 1u); // the dot
    wanted.input = node(id).index;
    for (const IntegerBounds& known : bounds)
      if (known.input == wanted.input && known.end == wanted.end && known.has_exception == wanted.has_exception &&
          known.counts_from_end <= wanted.counts_from_end && known.may_be_end <= wanted.may_be_end)
        return;
    bounds.push_back(wanted);
  }

  /// Adds an input in `input_slot`, or in another slot.
  constexpr int add_input(DType dtype, const Extents& shape) { return add_input(dtype, shape, input_slot); }
  TWILL_CONSTEXPR int add_input(DType dtype, const Extents& shape, int slot) {
    Node node{};
    node.kind = Kind::input;
    node.slot = static_cast<std::int8_t>(slot);
    node.dtype = dtype;
    node.shape = shape;
    node.index = static_cast<int>(inputs.size());
    const int id = add(node);
    inputs.push_back({dtype, shape, id, false, slot});
    return id;
  }

  /// The number of slots in which the function is computed.
  [[nodiscard]] constexpr int slots() const { return slots_.count(); }

  /// Makes room for a slot.
  constexpr void add_slot(int slot, CallSite site) { refuse(slots_.add(slot, nodes, parameters), site); }

  /// The slot of a value, `anywhere` for numbers; an unused weight is put into the slot `wanted`.
  TWILL_CONSTEXPR int settle(int id, int wanted, CallSite site) {
    if (node(id).slot == unplaced) refuse(Placement::settle(id, wanted, nodes, parameters), site);
    return node(id).slot;
  }

  /// Refuses operands of one node that are in different slots.
  TWILL_CONSTEXPR void require_one_slot(int left, int right, CallSite site) {
    if (!slots_.has_several()) return;
    const SlotClash clash{node(left).slot, node(right).slot};
    if (clash.left >= 0 && clash.right >= 0 && clash.left != clash.right) refuse(clash, site);
  }

  /// Shows a value under a name.
  TWILL_CONSTEXPR void add_tap(const Name& name, int node, TapKind kind) {
    taps.push_back({name, node, static_cast<int>(taps.size()), kind});
  }

  /// Shows the gradient of a tapped node under the names of the node.
  TWILL_CONSTEXPR void tap_gradient(int node, int gradient) {
    for (std::size_t i = 0; i < taps.size(); ++i) {
      TapInfo tap = taps[i];
      if (tap.node != node || tap.is_gradient || tap.kind == TapKind::layer_input) continue;
      tap.node = gradient;
      tap.is_gradient = true;
      tap.is_copied = false;
      taps.push_back(tap);
    }
  }
  /// Shows the part that one use of a node adds to its gradient, as a part of the gradients of the inputs of the layers
  /// around that scope. The reader adds up the parts, so the sums of the step do not change. Parts from the steps of a
  /// loop are in no tensor and not shown.
  TWILL_CONSTEXPR void tap_share(int node, int gradient, int scope) {
    if (open_loop >= 0 || scope <= 0) return;
    while (this->node(node).kind == Kind::after) node = this->node(node).input(0);
    const std::string_view user = scopes.items[scope - 1].view();
    for (std::size_t i = taps.size(); i-- > 0;) { // inner layers are done first
      TapInfo tap = taps[i];
      if (tap.node != node || tap.is_gradient || tap.kind != TapKind::layer_input) continue;
      const std::string_view layer = tap.name.view();
      if (user.size() <= layer.size() || !user.starts_with(layer) || user[layer.size()] != '.') continue;
      tap.node = gradient;
      tap.is_gradient = true;
      tap.is_copied = false;
      taps.push_back(tap);
    }
  }
  /// Taps a copy of a node as the node itself is tapped.
  TWILL_CONSTEXPR void tap_copy(int node, int copy) {
    for (std::size_t i = 0; i < taps.size(); ++i) {
      TapInfo tap = taps[i];
      if (tap.node != node || tap.is_gradient) continue;
      tap.node = copy;
      tap.is_copied = true;
      taps.push_back(tap);
    }
  }

  /// Keeps the taps of values, or those of gradients.
  TWILL_CONSTEXPR void keep_taps(bool of_gradients) {
    List<TapInfo> kept{};
    for (const TapInfo& tap : taps)
      if (tap.is_gradient == of_gradients) kept.push_back(tap);
    taps.swap(kept);
  }

  /// The symbol of this name; an empty name makes a new, anonymous one.
  TWILL_CONSTEXPR Extent symbol(std::string_view name) {
    std::size_t index = symbols.size();
    if (!name.empty())
      for (std::size_t i = 0; i < symbols.size(); ++i)
        if (symbols[i].name.view() == name) index = i;
    if (index == symbols.size()) symbols.push_back({Name{name}});
    if (index >= max_symbols) {
      refuse(Problem::too_many_symbols, static_cast<std::int64_t>(index), max_symbols, {}, Named::dimension(name));
      return {};
    }
    return Extent::of_symbol(static_cast<int>(index));
  }

  /// Adds a stored tensor under the current scope.
  TWILL_CONSTEXPR int add_parameter(std::string_view name, DType dtype, const Extents& shape, Initialiser initialiser,
                                    Role role, CallSite site) {
    ParameterInfo info{};
    info.name = path_;
    info.name.append(name);
    info.dtype = dtype;
    info.shape = shape;
    info.initialiser = initialiser;
    info.role = role;
    for (int axis = 0; axis < shape.rank; ++axis)
      if (shape[axis].factor < 0)
        refuse(Problem::parameter_extent_is_negative, shape[axis].factor, axis, site, Named::weight(info.name.view()));
    if (info.name.truncated)
      refuse(Problem::name_is_longer_than_63_characters, info.name.size, 63, site, Named::weight(info.name.view()));
    const std::uint64_t hash = info.name.hash;
    std::uint64_t& names = names_.items[hash >> 32 & 63];
    const std::uint64_t name_bit = std::uint64_t{1} << (hash & 63);
    const std::size_t known = (names & name_bit) != 0 ? parameters.size() : 0;
    names |= name_bit;
    for (std::size_t i = 0; i < known; ++i)
      if (parameters.items[i].name.hash == hash && parameters.items[i].name == info.name)
        refuse(Problem::parameter_name_is_used_twice, parameters.items[i].node, size(), site,
               Named::weight(info.name.view()));
    Node node{};
    node.kind = Kind::parameter;
    node.dtype = dtype;
    node.shape = shape;
    node.index = static_cast<int>(parameters.size());
    info.node = add(node);
    parameters.push_back(info);
    parameter_sites.push_back(site);
    return info.node;
  }

  /// Adds a run-time scalar; the same name gives the same run_scalar.
  constexpr int add_run_scalar(std::string_view name, DType dtype, double initial) {
    return add_run_scalar(Name{name}, dtype, initial);
  }
  TWILL_CONSTEXPR int add_run_scalar(const Name& wanted, DType dtype, double initial) {
    const RunScalarInfo* const known = run_scalars.data();
    const std::size_t count = run_scalars.size();
    std::size_t index = 0;
    while (index < count && !(known[index].name.hash == wanted.hash && known[index].name == wanted)) ++index;
    if (index == count) run_scalars.push_back({.name = wanted, .dtype = dtype, .initial = initial});
    Node node{};
    node.kind = Kind::run_scalar;
    node.dtype = dtype;
    node.index = static_cast<int>(index);
    return add(node);
  }

  /// Adds a constant: the number `value` over an extent; returns its id.
  TWILL_CONSTEXPR int add_constant(DType dtype, double value, Extent over = {}) {
    Node node{};
    node.kind = Kind::constant;
    node.dtype = dtype;
    node.value = value;
    node.over = over;
    return add(node);
  }

  /// Writes a value into a parameter when the program ends; returns the id of the assignment.
  TWILL_CONSTEXPR int add_assign(int parameter, int value) {
    Node node{};
    node.kind = Kind::assign;
    node.dtype = this->node(value).dtype;
    node.shape = this->node(value).shape;
    node.arity = 2;
    node.inputs[0] = parameter;
    node.inputs[1] = value;
    return add(node);
  }

  /// The place of these integers among the attributes; equal lists have one place.
  TWILL_CONSTEXPR int add_attributes(std::initializer_list<std::int64_t> numbers) {
    const std::size_t count = numbers.size();
    for (std::size_t at = 0; at < attributes.size(); at += static_cast<std::size_t>(attributes[at]) + 1) {
      bool same = attributes[at] == static_cast<std::int64_t>(count);
      for (std::size_t i = 0; i < count && same; ++i) same = attributes[at + 1 + i] == numbers.begin()[i];
      if (same) return static_cast<int>(at);
    }
    const int place = static_cast<int>(attributes.size());
    attributes.push_back(static_cast<std::int64_t>(count));
    for (std::int64_t number : numbers) attributes.push_back(number);
    return place;
  }
  /// Attribute i of an operation.
  [[nodiscard]] TWILL_CONSTEXPR std::int64_t attribute(const Node& node, int i) const {
    return attributes.items[node.index + 1 + i];
  }

  /// The names of the scopes around what is being traced, joined by dots.
  [[nodiscard]] constexpr const Name& path() const { return path_; }

  /// The scope of the nodes that are added next.
  [[nodiscard]] constexpr int scope() const { return scope_; }
  /// Goes back to a scope that `scope()` returned.
  constexpr void set_scope(int scope) { scope_ = scope; }

  /// The innermost scope that is open, null outside of all.
  [[nodiscard]] constexpr const OpenScope* open_scope() const { return open_scope_; }
  /// Opens a scope, or goes back to one that `open_scope()` returned.
  constexpr void set_open_scope(const OpenScope* scope) { open_scope_ = scope; }

  /// Begins a scope at the present path.
  TWILL_CONSTEXPR void enter_scope() {
    scopes.push_back(path_);
    scope_ = static_cast<int>(scopes.size());
  }
  /// Goes back to a path that `path()` returned.
  constexpr void set_path(const Name& path) { path_ = path; }

private:
  TWILL_CONSTEXPR void refuse(const SlotClash& clash, CallSite site) {
    if (clash.any()) refuse(Problem::operands_lie_in_different_slots_move_one_with_to, clash.left, clash.right, site);
  }

  TWILL_CONSTEXPR void replace(const MergedSymbol& merged) {
    merged_symbols.push_back(merged);
    replaced_ |= std::uint64_t{15} << 4 * merged.from;
    for (Node& node : nodes) {
      static_cast<void>(make_canonical(node.shape));
      node.over = canonical(node.over);
    }
    for (InputInfo& info : inputs) info.shape = canonical(info.shape);
    for (IntegerBounds& bound : bounds) bound.end = canonical(bound.end);
    for (Requirement& requirement : requirements) requirement.extent = canonical(requirement.extent);
    for (LoopInfo& loop : loops) loop.count = canonical(loop.count);
  }

  const OpenScope* open_scope_ = nullptr; ///< the innermost, while the function is traced
};

}}} // namespace twill::v0::graph
