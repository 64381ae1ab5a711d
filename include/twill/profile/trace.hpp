#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// When everything ran: `auto trace = profile::trace([&] { step(x, y); });` records all runs of all threads on all
// devices of the process meanwhile: compiled programs (training steps, checked ones, inference, replicas, stages of pipelines,
// programs with several device slots) launch by launch and copy by copy, and each kernel of eager statements (fused
// expressions, row programs, reductions, products, fills and copies on a device; not sorts, scans and draws of samples). GPUs
// tell their own times by events, and their runs are not replayed from a graph then. Held against the measured limits of a
// device, a node's time says how much of the machine it used. While nobody traces, a run or statement asks one flag. Read
// next: profile/statement_trace.hpp, profile/node_table.hpp, profile/node_trace.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/profile/peaks.hpp>
#include <twill/profile/statement_trace.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::profile {

/// The runs of some time, in the order in which they were begun.
struct Trace {
  double start_s = 0;              ///< in `steady_seconds`
  double end_s = 0;                ///< on the clock of steady time
  std::vector<RecordedRun> runs{}; ///< in the order in which they began; statements in which they ended
  std::vector<Peaks> peaks{};      ///< for shares: what `measured_peaks` has found, of each device or one of its kind
  std::int64_t lost = 0;           ///< launches of statements that ran, but for whose record there was no memory
};

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

/// The limits of a device: its own, else those of another one of its kind, else unknown ones.
[[nodiscard]] Peaks peaks_of(const Trace& trace, std::string_view device);

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/trace.ipp>
#endif
