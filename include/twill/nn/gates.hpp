#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Activations with a gate or with weights: the gated linear unit (Dauphin et al., 2017) and the rectifier whose slope
// below zero is learned (He et al., 2015). Definitions, defaults and names are PyTorch's. Not in twill.hpp. Read next:
// elementwise/activations.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/ops/split.hpp>

#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// a * sigmoid(b) of the halves of an axis, which is half as long in the result.
/// errors: an axis of odd extent, or of one known only at run time
[[nodiscard]] TWILL_CONSTEXPR Value glu(Value x, int axis = -1, CallSite site = CallSite::here()) {
  const auto [open, gate] = split<2>(x, axis, site);
  return x.graph().fault.any() ? x : open * sigmoid(gate);
}

/// x where positive, weight * x elsewhere. weight: one number, or one for each channel, those being axis 1 of x.
/// errors: a weight with another number of elements
[[nodiscard]] TWILL_CONSTEXPR Value prelu(Value x, Value weight, CallSite site = CallSite::here()) {
  if (weight.rank() == 1 && x.rank() > 2 && !weight.shape()[0].is_one()) {
    Extents along{};
    along.append(weight.shape()[0]);
    for (int axis = 2; axis < x.rank(); ++axis) along.append({});
    weight = reshape(weight, along, site);
  }
  return where(x > 0, x, multiply(weight, x, site));
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of a rectifier with learned slopes.
struct PreluOptions {
  std::int64_t parameters = 1; ///< 1, or the number of channels of x (batch, channels, ...)
  double start = 0.25;         ///< of each slope
};

/// x where positive, "weight" * x elsewhere; one slope, or one for each channel.
/// errors: a number of slopes that is neither 1 nor that of the channels
[[nodiscard]] TWILL_CONSTEXPR Value prelu(Value x, std::string_view name, PreluOptions options = {},
                                          CallSite site = CallSite::here()) {
  const Scope scope{x.graph(), name, site};
  const Value weight =
      parameter(x.graph(), "weight", {options.parameters}, initialise::constant(options.start), Trainable::yes, site);
  return graph::prelu(x, weight, site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
