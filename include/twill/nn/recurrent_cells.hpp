#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Single steps of recurrent layers, for loops of one's own: `rnn_cell`, `lstm_cell` and `gru_cell`. Formulas, order of
// gates, names and initial values of weights are those of torch.nn.RNNCell, LSTMCell and GRUCell. Not in twill.hpp.
// Read next: nn/recurrent_layers.hpp, graph/scan.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/recurrent.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of a recurrent cell.
struct RecurrentCellOptions {
  bool bias = true;                         ///< one number for each gate and unit
  RnnFunction function = RnnFunction::tanh; ///< of an `rnn_cell`
};

/// State of an LSTM's cell.
struct LstmState {
  Value hidden{}; ///< (rows, units), the output
  Value cell{};   ///< (rows, units)
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

[[nodiscard]] TWILL_CONSTEXPR CellState one_step(Cell cell, Value x, const CellState& state, std::string_view name,
                                                 bool has_bias, CallSite site) {
  graph::Graph& graph = x.graph();
  if (x.rank() != 2 || state.hidden.rank() != 2)
    graph.refuse(graph::Problem::recurrent_layer_needs_steps_rows_and_features, x.rank(), 2, site);
  if (graph.fault.any()) return state;
  const Scope scope{graph, name, site};
  const CellWeights weights =
      cell_weights(graph, cell, x.size(-1, site), state.hidden.size(-1, site), "", has_bias, site);
  std::array<Value, most_gates> from_input{};
  for (std::size_t gate = 0; gate < static_cast<std::size_t>(gates_of(cell)); ++gate) {
    from_input[gate] = linear(x, weights.input[gate], site);
    if (has_bias) from_input[gate] = from_input[gate] + weights.input_bias[gate];
  }
  return step_of(cell, weights, state, from_input);
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// h' = tanh(W x + b + U h + c), or relu. x: (rows, features), hidden: (rows, units).
/// Weights: "weight_ih", "weight_hh", "bias_ih", "bias_hh".
[[nodiscard]] TWILL_CONSTEXPR Value rnn_cell(Value x, Value hidden, std::string_view name,
                                             RecurrentCellOptions options = {}, CallSite site = CallSite::here()) {
  const bool is_relu = options.function == RnnFunction::relu;
  return detail::one_step(is_relu ? detail::Cell::relu : detail::Cell::tanh, x, {hidden, {}}, name, options.bias, site)
      .hidden;
}

/// A step of long short-term memory, gates in the order input, forget, cell, output. Shapes and weights are those of
/// `rnn_cell`.
[[nodiscard]] TWILL_CONSTEXPR LstmState lstm_cell(Value x, LstmState state, std::string_view name,
                                                  RecurrentCellOptions options = {}, CallSite site = CallSite::here()) {
  const detail::CellState next =
      detail::one_step(detail::Cell::lstm, x, {state.hidden, state.cell}, name, options.bias, site);
  return {next.hidden, next.memory};
}

/// A step of a gated recurrent unit, gates in the order reset, update, new. Shapes and weights as `rnn_cell`'s.
[[nodiscard]] TWILL_CONSTEXPR Value gru_cell(Value x, Value hidden, std::string_view name,
                                             RecurrentCellOptions options = {}, CallSite site = CallSite::here()) {
  return detail::one_step(detail::Cell::gru, x, {hidden, {}}, name, options.bias, site).hidden;
}

}}}} // namespace twill::v0::nn::TWILL_ISA
