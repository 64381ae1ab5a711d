#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers: tanh or relu cells (Elman, 1990), LSTM (Hochreiter and Schmidhuber, 1997), GRU (Cho et al., 2014).
// Formulas, order of gates, names and initial values of weights are PyTorch's. The products of input and weights are
// computed before the loop, which is traced once for any number of steps; each gate has its own product, so that
// nothing is split between the steps. Read next: nn/recurrent_layers.hpp, graph/scan.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/scan.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/ops/slice.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The function of an `rnn`'s cells.
enum class RnnFunction : std::uint8_t { tanh, relu };

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

enum class Cell : std::uint8_t { tanh, relu, lstm, gru };

[[nodiscard]] constexpr int gates_of(Cell cell) { return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1; }

inline constexpr int most_gates = 4;

/// The weights of one direction of one layer, gate by gate.
struct CellWeights {
  std::array<Value, most_gates> input{};     ///< (hidden, inputs)
  std::array<Value, most_gates> recurrent{}; ///< (hidden, hidden), or (hidden, projected)
  std::array<Value, most_gates> input_bias{};
  std::array<Value, most_gates> recurrent_bias{};
  Value projection{}; ///< (projected, hidden), of an LSTM whose output is projected; else none
  bool has_bias = false;
};

/// Makes "weight_ih", "weight_hh", "bias_ih" and "bias_hh", with a projection also "weight_hr", each with a suffix.
[[nodiscard]] TWILL_CONSTEXPR CellWeights cell_weights(graph::Graph& graph, Cell cell, std::int64_t inputs,
                                                       std::int64_t hidden, std::string_view suffix, bool has_bias,
                                                       CallSite site, std::int64_t projected = 0) {
  const std::int64_t gates = gates_of(cell);
  const Initialiser initialiser = initialise::fan_in_uniform(static_cast<double>(hidden));
  const auto named = [&](std::string_view kind, std::initializer_list<std::int64_t> shape) {
    graph::Name name{kind};
    name.append(suffix);
    return parameter(graph, name.view(), shape, initialiser, Trainable::yes, site);
  };
  const Value of_input = named("weight_ih", {gates * hidden, inputs});
  const Value of_state = named("weight_hh", {gates * hidden, projected > 0 ? projected : hidden});
  CellWeights weights{};
  weights.has_bias = has_bias;
  const Value of_input_bias = has_bias ? named("bias_ih", {gates * hidden}) : Value{};
  const Value of_state_bias = has_bias ? named("bias_hh", {gates * hidden}) : Value{};
  if (projected > 0) weights.projection = named("weight_hr", {projected, hidden});
  const auto part = [&](Value all, int gate) {
    return gates == 1 ? all : graph::narrow(all, 0, gate * hidden, hidden);
  };
  for (int gate = 0; gate < gates; ++gate) {
    const auto g = static_cast<std::size_t>(gate);
    weights.input[g] = part(of_input, gate);
    weights.recurrent[g] = part(of_state, gate);
    if (!has_bias) continue;
    weights.input_bias[g] = part(of_input_bias, gate);
    weights.recurrent_bias[g] = part(of_state_bias, gate);
  }
  return weights;
}

/// The state of a step: the hidden values of every cell, and the memory of an LSTM.
struct CellState {
  Value hidden{};
  Value memory{};
};

/// One step. `from_input` are the gates' sums over the input, with its bias.
[[nodiscard]] TWILL_CONSTEXPR CellState step_of(Cell cell, const CellWeights& weights, const CellState& state,
                                                const std::array<Value, most_gates>& from_input) {
  const auto of_state = [&](std::size_t gate) {
    const Value product = graph::matmul(state.hidden, graph::transpose(weights.recurrent[gate]));
    return weights.has_bias ? product + weights.recurrent_bias[gate] : product;
  };
  const auto total = [&](std::size_t gate) { return from_input[gate] + of_state(gate); };
  if (cell == Cell::lstm) {
    // c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c')
    const Value memory = sigmoid(total(1)) * state.memory + sigmoid(total(0)) * tanh(total(2));
    const Value output = sigmoid(total(3)) * tanh(memory);
    if (weights.projection.id() < 0) return {output, memory};
    return {graph::matmul(output, graph::transpose(weights.projection)), memory};
  }
  if (cell == Cell::gru) {
    // n = tanh(W x + r (U h + b)), h' = (1 - z) n + z h
    const Value fresh = tanh(from_input[2] + sigmoid(total(0)) * of_state(2));
    const Value keep = sigmoid(total(1));
    return {(1 - keep) * fresh + keep * state.hidden, {}};
  }
  return {cell == Cell::relu ? relu(total(0)) : tanh(total(0)), {}};
}

/// The results of one direction of one layer.
struct DirectionResult {
  Value output{}; ///< (steps, rows, hidden)
  CellState last{};
};

/// x: (steps, rows, inputs). `valid`, if given, is (steps, rows, 1): a row's state stays unchanged where it is false.
[[nodiscard]] TWILL_CONSTEXPR DirectionResult run_direction(Cell cell, const CellWeights& weights, Value x,
                                                            const CellState& initial, Value valid, bool reversed) {
  constexpr std::size_t input_count = most_gates + 1;
  const auto gates = static_cast<std::size_t>(gates_of(cell));
  std::array<Value, input_count> stacked{};
  for (std::size_t gate = 0; gate < most_gates; ++gate) {
    stacked[gate] = stacked[0]; // unread slices cost nothing
    if (gate >= gates) continue;
    stacked[gate] = linear(x, weights.input[gate]);
    if (weights.has_bias) stacked[gate] = stacked[gate] + weights.input_bias[gate];
  }
  const bool has_lengths = valid.id() >= 0;
  stacked[most_gates] = has_lengths ? valid : stacked[0];
  const auto advance = [&](const CellState& state, const std::array<Value, most_gates>& from_input, Value is_valid) {
    CellState next = step_of(cell, weights, state, from_input);
    Value seen = next.hidden;
    if (has_lengths) {
      seen = where(is_valid, next.hidden, 0.0);
      next.hidden = where(is_valid, next.hidden, state.hidden);
      if (cell == Cell::lstm) next.memory = where(is_valid, next.memory, state.memory);
    }
    return std::array<Value, 3>{next.hidden, next.memory, seen};
  };
  if (cell == Cell::lstm) {
    const auto result = graph::scan(std::array{initial.hidden, initial.memory}, stacked,
                                    [&](Value h, Value c, Value a, Value b, Value d, Value e, Value is_valid) {
                                      const auto next = advance({h, c}, {a, b, d, e}, is_valid);
                                      return graph::Step<2, 1>{{next[0], next[1]}, {next[2]}};
                                    },
                                    {.reversed = reversed});
    return {result.results[0], {result.carry[0], result.carry[1]}};
  }
  const auto result = graph::scan(std::array{initial.hidden}, stacked,
                                  [&](Value h, Value a, Value b, Value d, Value e, Value is_valid) {
                                    const auto next = advance({h, {}}, {a, b, d, e}, is_valid);
                                    return graph::Step<1, 1>{{next[0]}, {next[2]}};
                                  },
                                  {.reversed = reversed});
  return {result.results[0], {result.carry[0], {}}};
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA
