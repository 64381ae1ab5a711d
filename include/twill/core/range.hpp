#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Whether launches are named for NVIDIA's profilers (NVTX), and how. Files compiled with TWILL_WITH_NVTX=1 name them, all
// files of a program or none; others include nothing for it. Read next: compile/ranges.hpp, kernel/launch_watch.hpp.

#include <twill/core/config.hpp>

#if defined(TWILL_WITH_NVTX) && TWILL_WITH_NVTX
#include <nvtx3/nvToolsExt.h>

namespace twill::inline v0 {

inline constexpr bool names_launches = true;

/// Names a time of this thread for whoever profiles the program.
class ProfilerRange {
public:
  explicit ProfilerRange(const char* name) { nvtxRangePushA(name); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
  ~ProfilerRange() { nvtxRangePop(); }
};

} // namespace twill::inline v0

#else

namespace twill::inline v0 {
inline constexpr bool names_launches = false;
} // namespace twill::inline v0

#endif
