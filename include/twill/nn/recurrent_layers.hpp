#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers over sequences, `rnn`, `lstm` and `gru`: several layers, one direction or both, dropout between
// layers, rows of different lengths in one padded batch. Shapes, options and results are PyTorch's, with lengths those
// of packed sequences, unpacked again. A row of length 0, which PyTorch refuses, gives zeros and keeps its initial
// state; a batch without rows has no results, and zero gradients of the weights. Read next: nn/recurrent.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/recurrent.hpp>
#include <twill/ops/concatenate.hpp>

#include <optional>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of an RNN, LSTM or GRU: layers, directions and biases.
struct RecurrentOptions {
  int layers = 1;                ///< stacked on each other
  bool is_bidirectional = false; ///< whether each layer also runs from the last element to the first
  bool batch_first = false;      ///< sequences are (rows, steps, features), not (steps, rows, features)
  bool bias = true;              ///< one number for each gate and unit
  double dropout = 0;            ///< between layers; its run-time number is called "dropout"
  Value lengths{};               ///< (rows): later steps of a row are not read, leave its state and give zeros
  std::int64_t total_length = 0; ///< the output's number of steps, with zeros at the end; 0: the input's
  Value hidden{};                ///< (layers * directions, rows, hidden): the initial states, zeros by default
  Value cell{};                  ///< the initial cells of an LSTM
  RnnFunction function = RnnFunction::tanh; ///< of an `rnn`
};

/// Results of a recurrent layer: the last layer's states at every step, the last states of every layer and direction.
struct Recurrent {
  Value output{}; ///< (steps, rows, directions * hidden), or rows first
  Value hidden{}; ///< (layers * directions, rows, hidden)
  Value cell{};   ///< (layers * directions, rows, hidden), of an LSTM
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// The parts along a new first axis, any number of them.
[[nodiscard]] TWILL_CONSTEXPR Value stacked_states(List<int> parts, graph::Graph& graph) {
  for (int& part : parts) part = graph::unsqueeze({graph, part}, 0).id();
  while (parts.size() > 1) {
    List<int> joined{};
    for (std::size_t i = 0; i < parts.size();) {
      std::array<Value, graph::max_inputs> group{};
      int count = 0;
      while (i < parts.size() && count < graph::max_inputs)
        group[static_cast<std::size_t>(count++)] = {graph, parts[i++]};
      joined.push_back(count == 1 ? group[0].id() : graph::join(group.data(), count, 0).id());
    }
    parts.swap(joined);
  }
  return {graph, parts.front()};
}

TWILL_CONSTEXPR void check_state(graph::Graph& graph, Value state, std::int64_t count, graph::Extent rows,
                                 std::int64_t hidden, CallSite site) {
  if (state.id() < 0) return;
  const graph::Extents shape = state.shape();
  if (shape.rank != 3 || !(shape[0] == graph::Extent{count, 0}) || !graph::unify(graph, shape[1], rows) ||
      !(shape[2] == graph::Extent{hidden, 0}))
    graph.refuse(graph::Problem::recurrent_state_has_another_shape_than_layers_rows_hidden, shape.rank, count, site);
}

/// Refuses invalid shapes and options.
TWILL_CONSTEXPR void check_recurrent(Value x, std::int64_t hidden, std::int64_t outputs,
                                     const RecurrentOptions& options, CallSite site) {
  using graph::Problem;
  graph::Graph& graph = x.graph();
  if (x.rank() != 3) return graph.refuse(Problem::recurrent_layer_needs_steps_rows_and_features, x.rank(), 3, site);
  for (const std::int64_t features : {hidden, outputs})
    if (features < 1) graph.refuse(Problem::recurrent_layer_has_no_hidden_features, features, 1, site);
  if (!(options.dropout >= 0 && options.dropout <= 1))
    graph.refuse(Problem::dropout_probability_is_outside_0_to_1, graph::shown_as_integer(options.dropout), 1, site);
  if (options.layers < 1) graph.refuse(Problem::recurrent_layer_has_no_layers, options.layers, 1, site);
  const graph::Extent rows = x.shape()[options.batch_first ? 0 : 1];
  const graph::Extent steps = x.shape()[options.batch_first ? 1 : 0];
  const std::int64_t count = options.layers * (options.is_bidirectional ? 2 : 1);
  check_state(graph, options.hidden, count, rows, outputs, site);
  check_state(graph, options.cell, count, rows, hidden, site);
  if (options.lengths.id() >= 0) {
    if (is_floating(options.lengths.dtype()) || options.lengths.dtype() == DType::boolean)
      graph.refuse(Problem::recurrent_lengths_are_not_integers, static_cast<int>(options.lengths.dtype()), 0, site);
    const graph::Extents shape = options.lengths.shape();
    if (shape.rank != 1 || !graph::unify(graph, shape[0], rows))
      graph.refuse(Problem::recurrent_lengths_are_not_one_for_each_row, shape.rank == 1 ? shape[0].factor : -1,
                   rows.is_static() ? rows.factor : -1, site);
  }
  if (options.total_length != 0 && (!steps.is_static() || options.total_length < steps.factor))
    graph.refuse(Problem::recurrent_total_length_is_below_the_number_of_steps, options.total_length,
                 steps.is_static() ? steps.factor : -1, site);
}

/// `projection`: the width of an LSTM's output, if it is projected.
[[nodiscard]] TWILL_CONSTEXPR Recurrent recurrent(Cell cell, Value x, std::int64_t hidden, std::string_view name,
                                                  const RecurrentOptions& options, CallSite site,
                                                  std::optional<std::int64_t> projection = {}) {
  graph::Graph& graph = x.graph();
  check_recurrent(x, hidden, projection.value_or(hidden), options, site);
  if (graph.fault.any()) return {x, x, x};
  const Scope scope{graph, name, site};
  if (options.batch_first) x = graph::transpose(x, {1, 0, 2}, site);
  const graph::Extent steps = x.shape()[0];
  const graph::Extent rows = x.shape()[1];
  Value valid{};
  if (options.lengths.id() >= 0) {
    graph::Extents all{};
    all.append(steps);
    all.append({});
    const Value step = graph::iota(graph, all);
    graph.require_within(options.lengths.id(), {.what = "a length", .may_be_end = true, .end = steps});
    valid = graph::unsqueeze(step < graph::cast(options.lengths, DType::int64), -1);
    // Before the product with the weights, whose gradient would get NaN from 0 * NaN: padding is never read.
    x = graph::where(valid, x, 0.0);
  }
  const auto first = [&](Value given, int number, std::int64_t features) {
    if (given.id() >= 0) return graph::select(given, 0, number, site);
    return graph::broadcast_to(graph::constant(graph, x.dtype(), 0), {rows, {features, 0}});
  };
  const int directions = options.is_bidirectional ? 2 : 1;
  List<int> last_hidden{};
  List<int> last_memory{};
  for (int layer = 0; layer < options.layers; ++layer) {
    if (layer > 0 && options.dropout > 0) x = dropout(x, options.dropout, "dropout", site);
    std::array<Value, 2> outputs{};
    for (int direction = 0; direction < directions; ++direction) {
      graph::Name suffix{"_l"};
      suffix.append_number(layer);
      if (direction == 1) suffix.append("_reverse");
      const CellWeights weights = cell_weights(graph, cell, x.size(-1, site), hidden, suffix.view(), options.bias, site,
                                               projection.value_or(0));
      const int number = layer * directions + direction;
      const CellState initial{first(options.hidden, number, projection.value_or(hidden)),
                              cell == Cell::lstm ? first(options.cell, number, hidden) : Value{}};
      const DirectionResult result = run_direction(cell, weights, x, initial, valid, direction == 1);
      outputs[static_cast<std::size_t>(direction)] = result.output;
      last_hidden.push_back(result.last.hidden.id());
      if (cell == Cell::lstm) last_memory.push_back(result.last.memory.id());
    }
    x = directions == 2 ? graph::concatenate({outputs[0], outputs[1]}, 2, site) : outputs[0];
  }
  if (options.total_length > 0) x = graph::pad(x, 0, {0, options.total_length - steps.factor}, 0, site);
  if (options.batch_first) x = graph::transpose(x, {1, 0, 2}, site);
  return {x, stacked_states(last_hidden, graph), cell == Cell::lstm ? stacked_states(last_memory, graph) : Value{}};
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A recurrent layer of tanh or relu cells: h' = f(W x + b + U h + c).
/// x: (steps, rows, features), or with batch_first (rows, steps, features). cost: one product a layer and direction
/// outside the loop, one a step in it; compile time does not depend on the number of steps
[[nodiscard]] TWILL_CONSTEXPR Recurrent rnn(Value x, std::int64_t hidden, std::string_view name,
                                            const RecurrentOptions& options = {}, CallSite site = CallSite::here()) {
  const bool is_relu = options.function == RnnFunction::relu;
  return detail::recurrent(is_relu ? detail::Cell::relu : detail::Cell::tanh, x, hidden, name, options, site);
}

/// Long short-term memory, gates in the order input, forget, cell, output. Shapes like `rnn`; cost: four times as much.
[[nodiscard]] TWILL_CONSTEXPR Recurrent lstm(Value x, std::int64_t hidden, std::string_view name,
                                             const RecurrentOptions& options = {}, CallSite site = CallSite::here()) {
  return detail::recurrent(detail::Cell::lstm, x, hidden, name, options, site);
}

/// A gated recurrent unit, gates in the order reset, update, new. Shapes as for `rnn`; cost: three times as much.
[[nodiscard]] TWILL_CONSTEXPR Recurrent gru(Value x, std::int64_t hidden, std::string_view name,
                                            const RecurrentOptions& options = {}, CallSite site = CallSite::here()) {
  return detail::recurrent(detail::Cell::gru, x, hidden, name, options, site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
