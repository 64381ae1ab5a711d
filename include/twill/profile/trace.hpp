#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Traces of launches: `auto trace = profile::trace([&] { step(x, y); });` records all runs of all threads on all
// devices of the process meanwhile: compiled programs (training steps, checked ones, inference, replicas, stages of
// pipelines, programs with several device slots) launch by launch and copy by copy, and each kernel of eager statements
// (fused expressions, row programs, reductions, products, fills and copies on a device; not sorts, scans and draws of
// samples). GPUs tell their own times by events, and their runs are not replayed from a graph then. Without a trace, a
// run or statement asks one flag. With the limits of a device beside it, a node's time says how much of the machine it
// used. Read next: profile/trace_report.hpp, profile/measured_peaks.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/core/text.hpp>
#include <twill/device/gpu/timed_run.hpp>
#include <twill/device/gpu/timers.hpp>
#include <twill/kernel/launch_info.hpp>
#include <twill/kernel/launch_watch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// The limits of a device; zero where one is not known.
struct Peaks {
  std::string device{};               ///< "cpu:0"
  double bytes_per_second = 0;        ///< of memory, read and written
  double flops_per_second = 0;        ///< on float32
  double double_flops_per_second = 0; ///< on float64

  /// Operations of arithmetic a second on elements of this type; narrower ones than float32 are compared with float32.
  [[nodiscard]] double arithmetic(DType dtype) const {
    return dtype == DType::float64 ? double_flops_per_second : flops_per_second;
  }
};

/// How much of a limit something used, and which of the two binds.
struct LimitShare {
  double share = 0;           ///< negative where it is not known; above one where data came from caches
  bool is_arithmetic = false; ///< whether arithmetic bounds it rather than memory
};

/// The time that the limits alone would take over the time that it took.
[[nodiscard]] LimitShare limit_share(double bytes, double flops, DType dtype, double seconds, const Peaks& peaks);

/// The runs of some time, in the order in which they were begun.
struct Trace {
  double start_s = 0;              ///< in `steady_seconds`
  double end_s = 0;                ///< in `steady_seconds`
  std::vector<RecordedRun> runs{}; ///< in the order in which they began; statements in which they ended
  std::vector<Peaks> peaks{};      ///< for shares: from `measured_peaks`, of each device or one of its kind
  std::int64_t lost = 0;           ///< launches of statements that ran, but for whose record there was no memory
};

/// The limits of a device: its own, else those of another one of its kind, else unknown ones.
[[nodiscard]] Peaks peaks_of(const Trace& trace, std::string_view device);

namespace detail {

/// Watches the launches of eager statements on all threads while it lives. A host's launch is timed by the clock, a
/// GPU's by timers in its stream; one that the program captures into a graph of its own is not recorded. Where there is
/// no memory for a record, the launch runs all the same, and the trace counts it.    requires: a recorder for as long
class WatchingLaunches {
public:
  WatchingLaunches();
  WatchingLaunches(const WatchingLaunches&) = delete;
  WatchingLaunches& operator=(const WatchingLaunches&) = delete;
  ~WatchingLaunches();
};

} // namespace detail

/// Calls `f()` and records what runs meanwhile; returns when all of it is done.
/// throws: ValueError while another trace is being taken, what f throws
template <class F> [[nodiscard]] Trace trace(F&& f) {
  const auto recorder = std::make_shared<RunRecorder>();
  Trace result{};
  {
    const RecordingRuns recording{recorder};
    const detail::WatchingLaunches watching{};
    result.start_s = steady_seconds();
    std::forward<F>(f)();
  }
  for (const auto& run : recorder->close()) result.runs.push_back(run->take());
  result.end_s = steady_seconds();
  result.lost = recorder->lost();
  return result;
}

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/trace.ipp>
#endif
