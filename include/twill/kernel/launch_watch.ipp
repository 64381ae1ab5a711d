#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/launch_watch.hpp.

#include <twill/kernel/launch_watch.hpp>

namespace twill { inline namespace v0 { namespace kernel {

TWILL_BODY void run_in_range(const WatchedLaunch& launch) {
  const LaunchWatch range = launch_range.load(std::memory_order_relaxed);
  (range != nullptr ? range : launch.run)(launch);
}

TWILL_COLD TWILL_BODY void hand_over(const WatchedLaunch& launch) {
  const LaunchWatch watch = launch_watch.load(std::memory_order_relaxed);
  (watch != nullptr ? watch : launch.run)(launch);
}

}}} // namespace twill::v0::kernel
