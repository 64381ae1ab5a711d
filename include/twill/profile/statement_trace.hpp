#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Records each launch of eager statements while a trace is taken: what it is, and when it ran. A host's launch stands between
// two looks at the clock, a GPU's between two timers in its stream; one that goes into a graph which the program records is
// not told, as no trace looks into graphs. Where a launch cannot be recorded, for want of memory, it runs all the same, and the
// trace counts it. Read next: kernel/launch_watch.hpp, profile/trace.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/core/text.hpp>
#include <twill/device/gpu/timed_run.hpp>
#include <twill/device/gpu/timers.hpp>
#include <twill/kernel/launch_info.hpp>
#include <twill/kernel/launch_watch.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::profile::detail {

/// The record of a launch that is about to run. throws: std::bad_alloc
[[nodiscard]] RecordedRun launch_record(const kernel::WatchedLaunch& launch, std::string device);

[[nodiscard]] std::string device_of(const kernel::WatchedLaunch& launch);

void record_on_host(RunRecorder& recorder, const kernel::WatchedLaunch& launch);

void record_on_gpu(RunRecorder& recorder, const kernel::WatchedLaunch& launch);

void record_launch(const kernel::WatchedLaunch& launch);

/// Watches the launches of all threads while it lives. requires: a recorder for as long
class WatchingLaunches {
public:
  WatchingLaunches() { kernel::launch_watch.store(&record_launch, std::memory_order_relaxed); }
  WatchingLaunches(const WatchingLaunches&) = delete;
  WatchingLaunches& operator=(const WatchingLaunches&) = delete;
  ~WatchingLaunches();
};

} // namespace twill::inline v0::profile::detail

#if TWILL_HEADER_ONLY
#include <twill/profile/statement_trace.ipp>
#endif
