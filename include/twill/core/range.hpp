#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A range for NVIDIA's profilers (NVTX). Files compiled with TWILL_WITH_NVTX=1 have it; others include nothing for it. Read
// next: compile/run/ranges.hpp, kernel/launch_ranges.hpp.

#include <twill/core/config.hpp>

#if defined(TWILL_WITH_NVTX) && TWILL_WITH_NVTX
#include <nvtx3/nvToolsExt.h>

namespace twill { inline namespace v0 {

/// Names a time of this thread for whoever profiles the program.
class ProfilerRange {
public:
  explicit ProfilerRange(const char* name) { nvtxRangePushA(name); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
  ~ProfilerRange() { nvtxRangePop(); }
};

}} // namespace twill::v0

#endif
