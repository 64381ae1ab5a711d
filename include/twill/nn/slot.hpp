#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Parts of a model on devices of their own: `x = nn::to(x, nn::Slot{1});` inside `forward`, and what follows, its weights
// included, is on the device of slot 1. A network says which devices these are:
// `nn::Network<Model, Cpu> model{std::vector{Cpu{0}, Cpu{1}}};`, host devices or GPUs, all of one kind, and one device for all of
// them gives the same bits. Inputs lie in slot 0, targets of a loss where the prediction lies. Gradients move back, states of
// optimisers lie beside their weights, and work on different devices overlaps. Read next: ops/move.hpp, nn/moved.hpp.

#include <twill/core/config.hpp>
#include <twill/ops/move.hpp>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// One of the devices that a model puts its parts on, 0 to 15.
struct Slot {
  int number = 0; ///< in the list of devices that the network is given
};

/// The value in a slot. What is there already is returned as it is; a weight that nobody has used before is put there.
[[nodiscard]] TWILL_CONSTEXPR graph::Value to(graph::Value x, Slot slot, int line = __builtin_LINE()) {
  return graph::to_slot(x, slot.number, line);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
