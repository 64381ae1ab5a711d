#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Device slots for parts of a model: after `x = nn::to(x, nn::Slot{1});` inside `forward`, everything, weights
// included, is on the device of slot 1. A network is given the devices: `nn::Network<Model, Cpu>
// model{std::vector{Cpu{0}, Cpu{1}}};`, host devices or GPUs, all of one kind; one device for all slots gives the same
// bits. Inputs are in slot 0, targets of a loss beside the prediction. Gradients move back, states of optimisers are
// beside their weights, and work on different devices overlaps. Read next: ops/move.hpp, nn/moved.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/move.hpp>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// One of the devices of a model's parts, 0 to 15.
struct Slot {
  int number = 0; ///< in the network's list of devices
};

/// The value in a slot. A value already there is returned unchanged; a weight without an earlier use is put there.
[[nodiscard]] TWILL_CONSTEXPR graph::Value to(graph::Value x, Slot slot, CallSite site = CallSite::here()) {
  return graph::to_slot(x, slot.number, site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
