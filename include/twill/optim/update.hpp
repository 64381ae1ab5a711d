#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Interface of update rules: one weight, its gradient and its state as traced values. One rule becomes the staged
// `step()` and the end of a planned training step, and fuses into one pass over each weight. Rates and similar numbers
// are run-time numbers. Rules of rules, such as optim/clip.hpp, change gradients first and may hold a step back. Read
// next: optim/sgd.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/ops/collective.hpp>
#include <twill/ops/move.hpp>
#include <twill/ops/rank_sum.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

using graph::Value;

/// The name of the count of steps among the run-time numbers of an update.
inline constexpr std::string_view step_scalar = "optim.step";

/// Whether a rank updates all elements of each weight, or only its part.
enum class Updated : bool { whole_weights, parts };

/// State of one update over all weights: their gradients before any rule reads them, and whether it happens at all.
struct Updates {
  /// A run-time number, and the value that all weights share.
  struct Number {
    graph::Name name{}; ///< with the prefix of its rule
    Value value{};      ///< of one element type
  };

  graph::Graph* graph = nullptr; ///< of the trace of the update
  List<int> weights{};           ///< nodes of the trainable weights
  List<int> gradients{};         ///< nodes of their gradients, in the same order
  Value keeps{};                 ///< true if this step changes nothing; none: it always does
  Value skipped{};               ///< the number of earlier steps that changed nothing
  Value sum_of_squares{};        ///< of all gradients together, if summed elsewhere
  Value not_finite{};            ///< the number of elements of all gradients that are not finite, if counted elsewhere
  Updated updated = Updated::whole_weights; ///< whole weights, or the part of each that a rank owns
  List<Number> numbers{};                   ///< run-time numbers that rules have asked for

  constexpr Updates() = default;

  /// A sum over the elements of weights, including those updated by other ranks.
  [[nodiscard]] TWILL_CONSTEXPR Value over_all_elements(Value sum) const {
    return updated == Updated::parts ? graph::rank_sum(sum) : sum;
  }

  /// A run-time number in an element type, one node for all weights.
  [[nodiscard]] TWILL_CONSTEXPR Value number(const graph::Name& name, DType dtype, double initial) {
    for (const Number& known : numbers)
      if (known.name.hash == name.hash && known.name == name && known.value.dtype() == dtype) return known.value;
    numbers.push_back({name, {*graph, graph->add_run_scalar(name, dtype, initial)}});
    return numbers.back().value;
  }

  /// `f()`, a number of one weight. If ranks update parts, which differ in length, its launch is no other weight's.
  template <class F> [[nodiscard]] constexpr Value of_one_weight(const F& f) const {
    if (updated == Updated::whole_weights) return f();
    const int outer = graph->open_region;
    graph->open_region = ++graph->regions_named;
    const Value number = f();
    graph->open_region = outer;
    return number;
  }
};

/// One weight under update. Arithmetic is in float32 for half-precision weights, else in the weight's own type.
class Update {
public:
  /// The update of one weight, by nodes of the graph.
  constexpr Update(Updates& all, int weight, int gradient)
      : all_{&all}, graph_{all.graph}, weight_{weight}, gradient_{gradient} {}

  /// float32 for half precision, else the weight's type.
  [[nodiscard]] TWILL_CONSTEXPR DType compute_dtype() const {
    return graph_->node(weight_).dtype == DType::float64 ? DType::float64 : DType::float32;
  }
  /// The weight before the update.
  [[nodiscard]] constexpr Value weight() const { return cast(Value{*graph_, weight_}, compute_dtype()); }
  /// Its gradient, after clipping and scaling.
  [[nodiscard]] constexpr Value gradient() const { return cast(Value{*graph_, gradient_}, compute_dtype()); }

  /// The weight's name in the state dictionary.
  [[nodiscard]] TWILL_CONSTEXPR std::string_view name() const {
    return graph_->parameters[static_cast<std::size_t>(graph_->node(weight_).index)].name.view();
  }
  /// The sum of the squares of all elements of a tensor of the weight's shape, over all ranks that hold parts of it.
  [[nodiscard]] TWILL_CONSTEXPR Value sum_of_squares(Value x) const;

  /// Whether this rank updates all elements of the weight.
  [[nodiscard]] constexpr bool has_whole_weight() const { return all_->updated == Updated::whole_weights; }
  /// The number of the weight's axes.
  [[nodiscard]] constexpr int rank() const { return graph_->node(weight_).shape.rank; }

  /// A tensor of the weight's shape that persists between steps and starts at zero.
  [[nodiscard]] TWILL_CONSTEXPR Value state(std::string_view name) {
    const graph::Node weight = graph_->node(weight_);
    graph::Name full = graph_->parameters[static_cast<std::size_t>(weight.index)].name;
    full.append(".");
    full.append(name);
    return {*graph_,
            graph_->add_parameter(full.view(), compute_dtype(), weight.shape, {}, graph::Role::optimiser_state, {})};
  }

  /// A number set by the rule before each step.
  [[nodiscard]] TWILL_CONSTEXPR Value number(std::string_view name) {
    graph::Name full = prefix_;
    full.append(name);
    return all_->number(full, compute_dtype(), 0);
  }

  /// Sets the prefix of the names of a rule's numbers for a part of the weights.
  constexpr void set_prefix(const graph::Name& prefix) { prefix_ = prefix; }

  /// Whether a step may change nothing; then `step()` counts on the device, and the caller's count is ahead of it.
  [[nodiscard]] constexpr bool may_skip() const { return all_->skipped.id() >= 0; }

  /// The number of this change of the weights, from 1.
  [[nodiscard]] TWILL_CONSTEXPR Value step() {
    const Value count = all_->number(graph::Name{step_scalar}, compute_dtype(), 1);
    return may_skip() ? count - cast(beside_weight(all_->skipped), compute_dtype()) : count;
  }

  /// Sets the value of a state, got from `state`, after the step.
  constexpr void set_state(Value state, Value value) { graph_->add_assign(state.id(), unless_kept(state, value).id()); }
  /// Sets the value of the weight after the step.
  TWILL_CONSTEXPR void set_weight(Value value) {
    const Value old{*graph_, weight_};
    updated_ = unless_kept(old, cast(value, old.dtype())).id();
    graph_->add_assign(weight_, updated_);
  }
  /// The weight after the step, once it is set.
  [[nodiscard]] constexpr Value updated_weight() const { return cast(Value{*graph_, updated_}, compute_dtype()); }

private:
  [[nodiscard]] TWILL_CONSTEXPR Value unless_kept(Value old, Value fresh) const {
    return all_->keeps.id() >= 0 ? where(beside_weight(all_->keeps), old, fresh) : fresh;
  }
  [[nodiscard]] constexpr Value beside_weight(Value x) const { return graph::beside(x, graph_->node(weight_)); }

  Updates* all_;
  graph::Graph* graph_;
  int weight_;
  int gradient_;
  int updated_ = -1;
  graph::Name prefix_{};
};

}}}} // namespace twill::v0::optim::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

/// Two lists, the first before the second.
template <class T, std::size_t M, std::size_t N>
[[nodiscard]] constexpr std::array<T, M + N> joined(const std::array<T, M>& first, const std::array<T, N>& second) {
  std::array<T, M + N> all{};
  for (std::size_t i = 0; i < M; ++i) all[i] = first[i];
  for (std::size_t i = 0; i < N; ++i) all[M + i] = second[i];
  return all;
}

/// A number of each rank's part of a weight, summed over the ranks that hold the others.
[[nodiscard]] TWILL_CONSTEXPR Value over_all_parts(const graph::Graph& graph, int weight, Value number) {
  const kernel::AxisId& ranks = graph.parameters[static_cast<std::size_t>(graph.node(weight).index)].shard.axis;
  if (ranks.size < 2) return number;
  return graph::on_ranks(graph::all_reduce_operation, number, ranks, number.shape());
}

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// The sum of the squares of all elements, a scalar in float32 at least.
[[nodiscard]] TWILL_CONSTEXPR Value sum_of_squares(Value x) {
  if (x.dtype() != DType::float64) x = cast(x, DType::float32);
  graph::Extents flat{};
  flat.append(x.shape().elements());
  if (x.rank() > 1) x = reshape(x, flat); // one axis, one pass
  return sum(square(x));
}

TWILL_CONSTEXPR Value Update::sum_of_squares(Value x) const {
  return all_->over_all_elements(detail::over_all_parts(*graph_, weight_, optim::sum_of_squares(x)));
}

/// Concept of a rule: it changes one weight, and sets its run-time numbers before step t = 1, 2, ….
template <class R>
concept Rule = requires(const R& rule, Update& update, std::int64_t step) {
  R::update(update);
  { R::numbers.size() } -> std::convertible_to<std::size_t>;
  { rule.values(step) } -> std::same_as<std::array<double, R::numbers.size()>>;
};

/// Applies a rule to all trainable weights of a graph, given their gradients in order. A rule may read all gradients
/// together first (`R::prepare`) and set its own states at the end (`R::finish`).
template <class R>
constexpr void update_all(graph::Graph& graph, std::span<const int> weights, std::span<const int> gradients,
                          Updated updated = Updated::whole_weights, Value sum_of_squares = {}, Value not_finite = {}) {
  Updates all{};
  all.updated = updated;
  all.sum_of_squares = sum_of_squares;
  all.not_finite = not_finite;
  all.graph = &graph;
  all.weights.append(weights.data(), weights.data() + weights.size());
  all.gradients.append(gradients.data(), gradients.data() + gradients.size());
  if constexpr (requires { R::prepare(all); }) R::prepare(all);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Update update{all, all.weights[i], all.gradients[i]};
    R::update(update);
  }
  if constexpr (requires { R::finish(all); }) R::finish(all);
}

}}}} // namespace twill::v0::optim::TWILL_ISA
