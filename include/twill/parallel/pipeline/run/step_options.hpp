#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How a pipeline carries out its steps. Read next: parallel/pipeline/run/step.hpp.

#include <twill/core/error.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

namespace twill { inline namespace v0 { namespace pipeline {

/// Which micro-batches' forward passes stages compute again instead of keeping what gradients need. The last one's backward
/// pass follows at once, so little is won by computing it again.
enum class Checkpointing : std::uint8_t { never, except_last, always };

/// What each stage does: all the same, `{Checkpointing::always, Checkpointing::never}` one for each, or a function of the
/// stage's number. Gradients have the same bits.
class StageCheckpointing {
public:
  static constexpr int most_stages = 64; ///< whose modes there is room for

  /// The same mode for each stage.
  constexpr StageCheckpointing(Checkpointing all = Checkpointing::never) { modes_.fill(all); }
  /// throws: ValueError for more than 64 stages
  constexpr StageCheckpointing(std::initializer_list<Checkpointing> each) : given_{static_cast<int>(each.size())} {
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

  /// Stages behind the 64th do as that one.
  [[nodiscard]] constexpr Checkpointing operator()(int stage) const {
    return modes_[static_cast<std::size_t>(stage < most_stages ? stage : most_stages - 1)];
  }

  /// throws: ValueError where a mode for each stage was given and there is another number of them
  constexpr void require_stages(int stages) const {
    if (given_ >= 0 && given_ != stages)
      throw ValueError("train_step: checkpointing is given for " + std::to_string(given_) +
                       " stages, the pipeline has " + std::to_string(stages));
  }

private:
  std::array<Checkpointing, most_stages> modes_{};
  int given_ = -1; ///< negative: for any number of stages
};

/// In which order convolutions on hosts find their weights. Their library reads blocks of channels, and to bring the weights
/// into that order costs as much as a few images do: each time, or once for all micro-batches of a step, in memory as large as
/// the weights of convolutions twice. The gradients of these weights are added up in the library's order then, and brought into
/// that of the weights once. Gradients have the same bits. Where a stage is on a device of another kind, and in steps
/// of one micro-batch, nothing is kept.
enum class WeightOrders : std::uint8_t { made_each_time, kept_for_step };

/// How a batch is cut, and what is kept of a micro-batch.
struct StepOptions {
  int micro_batches = 1;                                     ///< how many; they may differ by one row
  StageCheckpointing checkpointing = {};                     ///< of each stage
  WeightOrders weight_orders = WeightOrders::made_each_time; ///< of convolutions on hosts
  /// How long a rank waits for its peers in one call, where a step makes the group; one that hangs keeps the step, see `run_ranks`.
  std::int64_t timeout_ms = 300'000;
};

}}} // namespace twill::v0::pipeline
