#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random traced functions from a seed: elementwise chains, reductions, views, casts, draws, matrix products, gradients and
// parameter updates in any order, with a batch extent that is known only at run time. Functions are kept tame (bounded,
// smooth where it matters) so that results can be compared. The same seed makes the same graph at compile time and at run
// time, where numbers to run it on come with it.

#include "tests/support/graph_interpreter.hpp"
#include "tests/support/mersenne.hpp"

#include <twill/graph/gradient.hpp>
#include <twill/graph/random.hpp>
#include <twill/nn/activations.hpp>
#include <twill/ops/matmul.hpp>

#include <string_view>

namespace twill::test {

/// What a random graph may contain.
struct RandomGraphOptions {
  int steps = 20;
  bool gradients = true;
  bool assignments = true;
  bool smooth = false;    ///< without stop_gradient, roundings and narrower types: finite differences mean something
  std::int64_t batch = 3; ///< the run-time extent; 0 gives empty tensors
};

/// A graph, and something to run it on.
struct RandomGraph {
  graph::Graph graph{DType::float64};
  Environment environment{};
  /// The floating scalar whose gradients are in the graph, what it was differentiated by, and those gradients; -1 where
  /// there are none.
  int loss = -1;
  List<int> variables{};
  List<int> gradients{};
};

namespace detail {

class RandomGraphMaker {
public:
  /// Without an environment, only the graph is made.
  constexpr RandomGraphMaker(graph::Graph& graph, RandomGraph* made, std::uint64_t seed,
                             const RandomGraphOptions& options)
      : made_{made}, graph_{graph}, random_{seed}, options_{options} {
    batch_ = graph_.symbol("batch");
    symbols_[0] = options.batch;
    if (made_ != nullptr) made_->environment.symbols = symbols_;
    const int inputs = pick(1, 3);
    for (int i = 0; i < inputs; ++i) add_source(false);
    const int parameters = pick(0, 3);
    for (int i = 0; i < parameters; ++i) add_source(true);
    for (int i = 0; i < options.steps; ++i) step();
    if (options.gradients && chance(60)) add_gradients();
    const int more = pick(0, 6);
    for (int i = 0; i < more; ++i) step();
    if (options.assignments) add_assignments();
    const int outputs = pick(1, 4);
    for (int i = 0; i < outputs; ++i) graph_.outputs.push_back(any().id());
    graph_.outputs.push_back(values_.back().id());
    if (made_ != nullptr)
      for (const graph::RunScalarInfo& run_scalar : graph_.run_scalars)
        made_->environment.run_scalars.push_back(run_scalar.name.view() == "gain" ? 0.75 : 7);
  }

private:
  using Value = graph::Value;

  constexpr int pick(int low, int high) { return random_.between(low, high); }
  constexpr bool chance(int percent) { return pick(1, 100) <= percent; }
  constexpr Value any() {
    // Mostly recent ones, so that chains grow.
    const int count = static_cast<int>(values_.size());
    const int index = chance(60) ? pick(count > 5 ? count - 5 : 0, count - 1) : pick(0, count - 1);
    return values_[static_cast<std::size_t>(index)];
  }
  constexpr graph::Extent extent() {
    if (chance(25)) return batch_;
    return {sizes[pick(0, 4)], 0};
  }
  constexpr void keep(Value value) {
    if (value.shape().elements().evaluate(symbols_) > 4000) return;
    values_.push_back(value);
  }
  /// The numbers of a source; drawn in any case, so that what follows does not depend on who wants them.
  constexpr void numbers(const graph::Extents& shape, DType dtype, std::vector<Array>* to) {
    const Dims dims = shape.evaluate(symbols_);
    if (to != nullptr) to->push_back({dims, {}});
    for (std::int64_t i = 0; i < dims.elements(); ++i) {
      const double number = random_.uniform() * 2 - 1;
      if (to != nullptr) to->back().elements.push_back(rounded(number, dtype));
    }
  }
  constexpr void add_source(bool parameter) {
    graph::Extents shape{};
    const int rank = pick(0, 3);
    for (int axis = 0; axis < rank; ++axis) shape.append(extent());
    const DType dtype = chance(85) || options_.smooth ? DType::float64 : DType::float32;
    if (parameter) {
      const char name[] = {'p', static_cast<char>('0' + graph_.parameters.size())};
      keep({graph_, graph_.add_parameter(std::string_view{name, 2}, dtype, shape, {}, graph::Role::weight, {})});
      numbers(shape, dtype, made_ == nullptr ? nullptr : &made_->environment.parameters);
    } else {
      keep({graph_, graph_.add_input(dtype, shape)});
      numbers(shape, dtype, made_ == nullptr ? nullptr : &made_->environment.inputs);
    }
  }

  constexpr bool broadcasts(Value a, Value b) {
    const graph::Extents left = a.shape();
    const graph::Extents right = b.shape();
    for (int i = 1; i <= left.rank && i <= right.rank; ++i) {
      const graph::Extent x = left[left.rank - i];
      const graph::Extent y = right[right.rank - i];
      if (!(x == y) && !x.is_one() && !y.is_one()) return false;
    }
    return true;
  }

  constexpr Value unary(Value x) {
    switch (pick(0, 8)) {
    case 0:
      return graph::tanh(x);
    case 1:
      return graph::sin(x);
    case 2:
      return graph::exp(graph::tanh(x));
    case 3:
      return graph::sigmoid(x);
    case 4:
      return -x;
    case 5:
      return graph::square(graph::tanh(x));
    case 6:
      return graph::sqrt(graph::square(x) + 1.0);
    case 7:
      return x * 0.5 + 0.25;
    default:
      return x * graph::run_scalar(graph_, "gain", 0.75, DType::float64);
    }
  }
  constexpr Value binary(Value a, Value b) {
    switch (pick(0, 6)) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return a / (graph::square(b) + 1.0);
    case 4:
      return graph::maximum(a, b);
    case 5:
      return graph::where(a > b, a, b * 0.5);
    default:
      return graph::where(b < 0.1, 0.0, a);
    }
  }
  constexpr Value reduction(Value x) {
    const int axis = pick(0, x.rank() - 1);
    const auto keep_dims = chance(60) ? graph::KeepDims::yes : graph::KeepDims::no;
    switch (pick(0, 6)) {
    case 0:
    case 1:
      return graph::sum(x, {axis}, keep_dims);
    case 2:
      return graph::mean(x, {axis}, keep_dims);
    case 3:
      return graph::max(graph::tanh(x), {axis}, keep_dims);
    case 4:
      return graph::softmax(x, axis);
    case 5:
      return graph::var(x, {axis}, 0, keep_dims);
    default:
      return graph::log_softmax(x, axis);
    }
  }
  constexpr Value view(Value x) {
    const graph::Extents shape = x.shape();
    switch (pick(0, 4)) {
    case 0:
      if (shape.rank >= 2) return graph::transpose(x);
      return graph::unsqueeze(x, pick(0, shape.rank));
    case 1:
      if (shape.rank == 3) return chance(50) ? graph::transpose(x, {2, 0, 1}) : graph::transpose(x, {1, 0, 2});
      return graph::unsqueeze(x, pick(0, shape.rank));
    case 2: {
      graph::Extents target = shape;
      for (int axis = 0; axis < target.rank; ++axis)
        if (target[axis].is_one()) target[axis] = extent();
      return graph::broadcast_to(x, target);
    }
    case 3: {
      if (shape.rank >= 4) return graph::flatten(x, 1);
      graph::Extents target{};
      target.append(extent());
      for (int axis = 0; axis < shape.rank; ++axis) target.append(shape[axis]);
      return graph::broadcast_to(x, target);
    }
    default: {
      if (shape.rank < 2) return options_.smooth ? graph::tanh(x) : graph::stop_gradient(x);
      const int first = pick(0, shape.rank - 2);
      graph::Extents target{};
      for (int axis = 0; axis < shape.rank; ++axis) {
        if (axis == first + 1)
          target[target.rank - 1] = target[target.rank - 1] * shape[axis];
        else
          target.append(shape[axis]);
      }
      return graph::reshape(x, target);
    }
    }
  }
  constexpr Value product(Value x) {
    const graph::Extents shape = x.shape();
    if (shape.rank != 2) return graph::tanh(x);
    // With its own transpose, so that the extents agree whatever they are.
    return graph::matmul(x, graph::transpose(graph::sin(x))) * 0.25;
  }
  constexpr Value draw(Value x) {
    const Value mask = graph::random_uniform(graph_, x.shape()) < 0.5;
    return graph::where(mask, 0.0, x * 2.0);
  }
  constexpr Value conversion(Value x) {
    if (options_.smooth) return graph::sin(x) * 0.5;
    switch (pick(0, 3)) {
    case 0:
      return graph::cast(graph::cast(x, DType::float32), DType::float64);
    case 1:
      return graph::cast(graph::round(x * 3.0), DType::float64);
    case 2:
      return graph::cast(x > 0.0, DType::float64);
    default:
      return graph::cast(graph::iota(graph_, x.shape()), DType::float64) * 0.01 + x;
    }
  }

  constexpr void step() {
    const Value x = any();
    const int kind = pick(1, 100);
    if (kind <= 28) {
      keep(unary(x));
    } else if (kind <= 60) {
      Value y = any();
      for (int tries = 0; tries < 8 && !broadcasts(x, y); ++tries) y = any();
      keep(broadcasts(x, y) && x.rank() < 5 ? binary(x, y) : unary(x));
    } else if (kind <= 74) {
      keep(x.rank() > 0 && x.rank() < 5 ? reduction(x) : unary(x));
    } else if (kind <= 86) {
      keep(view(x));
    } else if (kind <= 91) {
      keep(product(x));
    } else if (kind <= 94) {
      keep(draw(x));
    } else {
      keep(conversion(x));
    }
  }

  constexpr void add_gradients() {
    const Value loss = graph::sum(graph::cast(graph::tanh(any()), DType::float64));
    List<int> variables{};
    for (const auto& input : graph_.inputs) variables.push_back(input.node);
    for (const auto& parameter : graph_.parameters) variables.push_back(parameter.node);
    const Value one = graph::constant(graph_, DType::float64, 1);
    const auto gradients = graph::gradients(graph_, {{loss.id(), one.id()}}, variables);
    for (int id : gradients)
      if (id >= 0) values_.push_back({graph_, id});
    keep(loss);
    if (made_ == nullptr) return;
    made_->loss = loss.id();
    made_->variables = variables;
    for (int id : gradients) made_->gradients.push_back(id);
  }
  constexpr void add_assignments() {
    const std::size_t count = graph_.parameters.size();
    for (std::size_t p = 0; p < count; ++p) {
      const Value parameter{graph_, graph_.parameters[p].node};
      for (std::size_t k = values_.size(); k-- > 0;) {
        const Value value = values_[k];
        if (!(value.shape() == parameter.shape()) || value.id() == parameter.id() || !is_floating(value.dtype()))
          continue;
        const Value updated = graph::cast(parameter * 0.9 - value * 0.1, parameter.dtype());
        graph_.add_assign(parameter.id(), updated.id());
        break;
      }
    }
  }

  static constexpr std::int64_t sizes[] = {1, 2, 3, 4, 7};

  RandomGraph* made_;
  graph::Graph& graph_;
  Mersenne random_;
  RandomGraphOptions options_;
  graph::SymbolValues symbols_{};
  graph::Extent batch_{};
  List<Value> values_{};
};

} // namespace detail

inline RandomGraph random_graph(std::uint64_t seed, const RandomGraphOptions& options = {}) {
  RandomGraph made{};
  const detail::RandomGraphMaker maker{made.graph, &made, seed, options};
  return made;
}

/// The graph alone, at compile time too.
constexpr graph::Graph random_graph_alone(std::uint64_t seed, const RandomGraphOptions& options = {}) {
  graph::Graph graph{DType::float64};
  const detail::RandomGraphMaker maker{graph, nullptr, seed, options};
  return graph;
}

} // namespace twill::test
