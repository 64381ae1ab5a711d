#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Long short-term memory with projected outputs (Sak et al., 2014), torch.nn.LSTM with `proj_size`: a linear function
// makes fewer features of a cell's output, which the next step, the next layer and the result have. Not in twill.hpp.
// Read next: nn/recurrent_layers.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/recurrent_layers.hpp>

#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Long short-term memory whose outputs are projected to `projection` features: h' = W_hr (sigmoid(o) tanh(c')).
/// Options and shapes are those of `lstm`, where output and hidden states have `projection` features in place of
/// `hidden`; cells keep `hidden`. "weight_hr_l0": (projection, hidden), without a bias.
/// errors: those of `lstm`, a projection below 1
[[nodiscard]] TWILL_CONSTEXPR Recurrent projected_lstm(Value x, std::int64_t hidden, std::int64_t projection,
                                                       std::string_view name, const RecurrentOptions& options = {},
                                                       CallSite site = CallSite::here()) {
  return detail::recurrent(detail::Cell::lstm, x, hidden, name, options, site, projection);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
