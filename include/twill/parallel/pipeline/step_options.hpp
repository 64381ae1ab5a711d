#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How a pipeline carries out its steps. Read next: parallel/pipeline/step.hpp.

#include <cstdint>

namespace twill::inline v0::pipeline {

/// Which micro-batches' forward passes stages compute again instead of keeping what gradients need. The last one's backward
/// pass follows at once, so little is won by computing it again.
enum class Checkpointing : std::uint8_t { never, except_last, always };

struct StepOptions {
  int micro_batches = 1;
  Checkpointing checkpointing = Checkpointing::never;
  std::int64_t timeout_ms = 300'000; ///< how long a rank waits for its peers in one call, where a step makes the group
};

} // namespace twill::inline v0::pipeline
