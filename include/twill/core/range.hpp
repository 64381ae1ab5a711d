#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Named ranges for NVIDIA's profilers (NVTX). Files compiled with TWILL_WITH_NVTX=1 have them; other files include
// nothing for them. Read next: compile/run/launch.hpp, kernel/launch_ranges.hpp.

#include <twill/core/config.hpp>

#if defined(TWILL_WITH_NVTX) && TWILL_WITH_NVTX
#include <nvtx3/nvToolsExt.h>

namespace twill { inline namespace v0 {

/// Names a period of this thread for a profiler.
class ProfilerRange {
public:
  explicit ProfilerRange(const char* name) { nvtxRangePushA(name); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
  ~ProfilerRange() { nvtxRangePop(); }
};

}} // namespace twill::v0

#endif
