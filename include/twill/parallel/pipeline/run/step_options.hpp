#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Options of pipeline steps: micro-batches, checkpointing and weight orders. Read next: parallel/pipeline/run/step.hpp.

#include <twill/core/error.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline {

/// Activation checkpointing: the micro-batches whose forward passes are computed again instead of keeping gradients'
/// operands. The last one's backward pass follows immediately, so its recomputation saves little.
enum class Checkpointing : std::uint8_t { never, except_last, always };

/// The mode of each stage: one for all, `{Checkpointing::always, Checkpointing::never}` one for each, or a function of
/// the stage's number. Gradients have equal bits.
class StageCheckpointing {
public:
  static constexpr int most_stages = 64; ///< the greatest number of modes

  /// One mode for all stages.
  constexpr StageCheckpointing(Checkpointing all = Checkpointing::never) { modes_.fill(all); }
  /// throws: ValueError for more than 64 stages
  constexpr StageCheckpointing(std::initializer_list<Checkpointing> each)
      : StageCheckpointing(std::span{each.begin(), each.size()}) {}
  /// throws: ValueError for more than 64 stages
  explicit constexpr StageCheckpointing(std::span<const Checkpointing> each) : given_{static_cast<int>(each.size())} {
    if (given_ > most_stages)
      throw ValueError("checkpointing: modes are given for at most 64 stages, got " + std::to_string(given_));
    std::size_t stage = 0;
    for (const Checkpointing mode : each) modes_[stage++] = mode;
  }
  /// The mode of each stage, by its number.
  template <std::invocable<int> F>
  requires std::same_as<std::invoke_result_t<F, int>, Checkpointing>
  constexpr StageCheckpointing(F of_stage) {
    for (int stage = 0; stage < most_stages; ++stage) modes_[static_cast<std::size_t>(stage)] = of_stage(stage);
  }

  /// Stages after the 64th have its mode.
  [[nodiscard]] constexpr Checkpointing operator()(int stage) const {
    return modes_[static_cast<std::size_t>(stage < most_stages ? stage : most_stages - 1)];
  }

  /// throws: ValueError if a mode for each stage was given and there is another number of them
  constexpr void require_stages(int stages) const {
    if (given_ >= 0 && given_ != stages)
      throw ValueError("train_step: checkpointing is given for " + std::to_string(given_) +
                       " stages, the pipeline has " + std::to_string(stages));
  }

private:
  std::array<Checkpointing, most_stages> modes_{};
  int given_ = -1; ///< negative: for any number of stages
};

/// Order of the weights of convolutions on hosts. Their library reads blocks of channels, and reordering the weights
/// costs as much as a few images do: each time, or once for all micro-batches of a step, in memory as large as the
/// weights of convolutions twice. The gradients of these weights are then summed in the library's order, and reordered
/// once. Gradients have equal bits. If a stage is on a device of another kind, and in steps of one micro-batch, nothing
/// is kept.
enum class WeightOrders : std::uint8_t { made_each_time, kept_for_step };

/// The division of a batch, and the values kept of a micro-batch.
struct StepOptions {
  int micro_batches = 1;                                     ///< their number; they may differ by one row
  StageCheckpointing checkpointing = {};                     ///< of each stage
  WeightOrders weight_orders = WeightOrders::made_each_time; ///< of convolutions on hosts
  /// A rank's wait for its peers in one call, if a step makes the group; a hanging one keeps the step, see `run_ranks`.
  std::int64_t timeout_ms = 300'000;
};

}}}} // namespace twill::v0::parallel::pipeline
