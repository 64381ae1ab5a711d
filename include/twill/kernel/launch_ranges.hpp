#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Ranges for NVIDIA's profilers (NVTX), one for each launch of an eager statement, named by its operations. A file that
// is compiled with TWILL_WITH_NVTX=1 and launches anything turns them on for the whole program; other files include
// nothing for them. Read next: core/range.hpp, kernel/launch_watch.hpp.

#include <twill/core/config.hpp>
#include <twill/core/range.hpp>

#if defined(TWILL_WITH_NVTX) && TWILL_WITH_NVTX
#include <twill/kernel/launch_info.hpp>
#include <twill/kernel/launch_watch.hpp>

#include <atomic>
#include <string>

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

[[nodiscard]] TWILL_COLD inline std::string range_name(const WatchedLaunch& launch) noexcept {
  try {
    return launch_info(launch).operation;
  } catch (...) { // no memory for a name
    return "launch";
  }
}

TWILL_COLD inline void name_launch(const WatchedLaunch& launch) {
  const ProfilerRange range{range_name(launch).c_str()};
  launch.run(launch);
}

/// Names launches; true when that is on. A trace in progress continues.
[[nodiscard]] inline bool name_launches() {
  launch_range.store(&name_launch, std::memory_order_relaxed);
  LaunchWatch nobody = nullptr;
  static_cast<void>(launch_watch.compare_exchange_strong(nobody, &name_launch, std::memory_order_relaxed));
  return true;
}
inline const bool are_launches_named = name_launches();

}}}} // namespace twill::v0::kernel::detail

#endif
