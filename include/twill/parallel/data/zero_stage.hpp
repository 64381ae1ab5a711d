#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// ZeRO stages: how much of a training the replicas of a model divide among them (Rajbhandari et al., 2020), the last
// argument of `train_step`: `parallel::zero<1>`. For replicas alone see parallel/data/zero.hpp, for replicas of
// pipelines parallel/pipeline/run/stage_optimisers.hpp.

#include <twill/core/config.hpp>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The states divided over the ranks: none, the optimiser's states, the reduced gradients as well, the weights as well.
template <int Stage> struct Zero {
  static_assert(Stage >= 0 && Stage <= 3,
                "twill: zero: there are stages 1 (states), 2 (gradients as well) and 3 (weights as well)");
  static constexpr int stage = Stage; ///< 1, 2 or 3; 0 divides nothing
};
/// The stage by number: `zero<1>` states, `zero<2>` gradients as well, `zero<3>` weights as well.
template <int Stage> inline constexpr Zero<Stage> zero{};

}}}} // namespace twill::v0::parallel::TWILL_ISA
