#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Values of traced functions. A `Value` is the number of a node in the graph under construction. A `Term` is an operand
// as the user wrote it, a value or a plain number, together with the line of its call. A `Scope` names the layer whose
// values are traced: weights have its path in their names, and nodes keep it for messages. Read next:
// graph/operators.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/elementwise/argument.hpp>
#include <twill/graph/graph.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace graph {

/// Prefixes the names of weights made during its life: `const nn::Scope block{x.graph(), "layer", 3};` gives
/// "layer3.weight" for a weight "weight".
class Scope {
public:
  /// Names everything that is traced during its life, below the scopes around it.
  constexpr Scope(Graph& graph, std::string_view name, CallSite site = CallSite::here())
      : graph_{&graph}, previous_path_{graph.path()}, previous_scope_{graph.scope()}, open_{site, graph.open_scope()} {
    Name path = previous_path_;
    path.append(name);
    enter(path);
  }
  /// Adds a number to the name: "layer", 3 gives "layer3".
  constexpr Scope(Graph& graph, std::string_view name, std::int64_t index, CallSite site = CallSite::here())
      : graph_{&graph}, previous_path_{graph.path()}, previous_scope_{graph.scope()}, open_{site, graph.open_scope()} {
    Name path = previous_path_;
    path.append(name);
    path.append_number(index);
    enter(path);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  constexpr ~Scope() {
    graph_->set_path(previous_path_);
    graph_->set_scope(previous_scope_);
    graph_->set_open_scope(open_.outer);
  }

private:
  constexpr void enter(Name& path) {
    path.append(".");
    graph_->set_path(path);
    graph_->enter_scope();
    graph_->set_open_scope(&open_);
  }

  Graph* graph_;
  Name previous_path_;
  int previous_scope_;
  OpenScope open_;
};

using namespace elementwise;

/// A value of a traced function: an id in a graph. Copying it copies no elements, since nothing is computed yet.
class Value : public ArgumentBase<ArgumentKind::value, Value> {
public:
  constexpr Value() = default;
  /// The value of a node.
  constexpr Value(Graph& graph, int id) : graph_{&graph}, id_{id} {}

  /// The graph that it belongs to.
  [[nodiscard]] constexpr Graph& graph() const { return *graph_; }
  /// Its number in that graph.
  [[nodiscard]] constexpr int id() const { return id_; }
  /// The node that computes it.
  [[nodiscard]] constexpr const Node& node() const { return graph_->node(id_); }
  /// Its element type.
  [[nodiscard]] constexpr DType dtype() const { return node().dtype; }
  /// Its extents, which may name symbols.
  [[nodiscard]] constexpr Extents shape() const { return node().shape; }
  /// How many axes it has.
  [[nodiscard]] constexpr int rank() const { return node().shape.rank; }

  /// The extent of an axis (negative: from the end), which has to be known to the compiler.
  [[nodiscard]] TWILL_CONSTEXPR std::int64_t size(int axis, CallSite site = CallSite::here()) const {
    const Extents extents = shape();
    const int position = axis < 0 ? axis + extents.rank : axis;
    if (position < 0 || position >= extents.rank) {
      graph_->refuse(Problem::axis_is_outside_the_rank, axis, extents.rank, site);
      return 1;
    }
    if (!extents[position].is_static())
      graph_->refuse(Problem::extent_is_known_only_at_run_time, axis, extents.rank, site);
    return extents[position].factor;
  }

  /// Does not compile: the elements are known when the compiled program runs.
  template <std::same_as<bool> B> explicit constexpr operator B() const {
    static_assert(sizeof(B) == 0, "twill: a traced value is no condition, its elements are not known while the model "
                                  "is traced; choose between two values with where(condition, a, b)");
    return {};
  }

  // Shapes, as those of tensors. Defined in graph/shape_functions.hpp.

  /// Exchanges two axes.
  template <int A, int B> [[nodiscard]] constexpr Value transpose(CallSite site = CallSite::here()) const;
  /// All axes in reverse, NumPy's `x.T`.
  template <class = void> [[nodiscard]] constexpr Value transpose(CallSite site = CallSite::here()) const;
  /// Axis i of the result is axis Order[i].
  template <int... Order> [[nodiscard]] constexpr Value permute(CallSite site = CallSite::here()) const;
  /// `x.reshape(2, -1)`: the elements in row-major order under another shape.
  template <std::integral... Numbers> [[nodiscard]] constexpr Value reshape(Numbers... extents) const;
  /// Merges the axes First to Last into one; without arguments all of them.
  template <int First = 0, int Last = -1> [[nodiscard]] constexpr Value flatten(CallSite site = CallSite::here()) const;
  /// Inserts an axis of extent 1 that becomes axis Axis of the result.
  template <int Axis> [[nodiscard]] constexpr Value unsqueeze(CallSite site = CallSite::here()) const;
  /// Drops an axis of extent 1.
  template <int Axis> [[nodiscard]] constexpr Value squeeze(CallSite site = CallSite::here()) const;

private:
  Graph* graph_ = nullptr;
  int id_ = -1;
};

/// An operand and its call. A plain number takes the type of the other operand.
struct Term : ArgumentBase<ArgumentKind::value, Term> {
  Value value{};                   ///< where it is not a plain number
  double number = 0;               ///< where it is one
  bool is_number = false;          ///< whether it is one
  bool is_floating_number = false; ///< whether that one has a fraction, as a float or double
  CallSite site{};                 ///< of the caller, for messages

  /// A traced value.
  constexpr Term(Value operand, CallSite caller = CallSite::here()) : value{operand}, site{caller} {}
  /// A plain number.
  template <class T>
  requires std::integral<T> || std::floating_point<T>
  constexpr Term(T operand, CallSite caller = CallSite::here())
      : number{static_cast<double>(operand)},
        is_number{true},
        is_floating_number{std::floating_point<T>},
        site{caller} {}
  /// An operand that knows its call.
  constexpr Term(const Term& operand, CallSite /*caller*/) : Term{operand} {}
};

/// The axis counted from the front; refuses one outside the rank.
[[nodiscard]] TWILL_CONSTEXPR int checked_axis(Value value, int axis, CallSite site) {
  const int rank = value.rank();
  const int position = axis < 0 ? axis + rank : axis;
  if (position >= 0 && position < rank) return position;
  value.graph().refuse(Problem::axis_is_outside_the_rank, axis, rank, site);
  return 0;
}

/// Whether both extents are, or have to be, the same number. Unnamed symbols are equated, with each other or with a
/// number, and checked at run time. A named one stands for any number, so it meets one only where targets are added to
/// a finished model, whose program is then one for batches of that size.
[[nodiscard]] TWILL_CONSTEXPR bool unify(Graph& graph, Extent left, Extent right) {
  left = graph.canonical(left);
  right = graph.canonical(right);
  if (left == right) return true;
  if (left.factor == right.factor && left.factor != 0) left.factor = right.factor = 1;
  const int first = left.single_symbol();
  const int second = right.single_symbol();
  const auto unnamed = [&](int symbol) {
    return symbol >= 0 && graph.symbols[static_cast<std::size_t>(symbol)].name.size == 0;
  };
  const auto may_fix = [&](int symbol) { return symbol >= 0 && (unnamed(symbol) || graph.may_fix_symbols); };
  if (unnamed(second) && first >= 0)
    graph.merge_symbols(second, first);
  else if (unnamed(first) && second >= 0)
    graph.merge_symbols(first, second);
  else if (may_fix(first) && right.is_static())
    graph.fix_symbol(first, right.factor);
  else if (may_fix(second) && left.is_static())
    graph.fix_symbol(second, left.factor);
  else
    return false;
  return true;
}

}}} // namespace twill::v0::graph
