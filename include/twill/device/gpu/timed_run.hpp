#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Timed run on a GPU, with the device's own time of each launch: a timer is in the stream before the first launch and
// after each. They are made before the run begins, since an error after the updates would come too late. Nothing waits
// for them before the trace ends, so runs follow each other as without them; a launch that is shorter than its own
// submission shows the latter. Knows drivers only by their tables. Read next: compile/run/gpu/capture.hpp,
// profile/trace.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/device/gpu/timers.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace gpu {

/// A moment that is known both on a device and by `steady_seconds`. Waits for the stream.
struct Clock {
  /// Reads both clocks in a stream of a device. throws: GpuError
  Clock(const TimerCalls& calls, int device, AnyStream stream);
  Timer moment;        ///< on the device
  double moment_s = 0; ///< on the clock of `steady_seconds`
};

/// The place of a run: a device, by its number and its name, and the timers of its driver.
struct TimedDevice {
  const TimerCalls* timers = nullptr; ///< of its driver
  int device = 0;                     ///< its number there
  std::string name{};                 ///< its name in traces
};

/// A run with timers around its launches.
class TimedRun final : public PendingRun {
public:
  /// A recorder's runs on a device share a clock, read in the stream of the first. throws: GpuError
  TimedRun(RunRecorder& recorder, const TimedDevice& place, AnyStream stream, RecordedRun run);

  /// Makes all that `launches` launches need, interrupted or not, before they run. throws: GpuError, std::bad_alloc
  void reserve(std::size_t launches);
  /// Called when all work was given to the streams: deletes timers that were not needed.
  void finish() noexcept { spare_.clear(); }

  /// Marks a new beginning: the next launch does not begin where the last one ended.
  void begin(AnyStream stream) { mark(stream); }
  /// Marks the end of a launch that was given to the stream.
  void end(AnyStream stream, std::size_t node);

  /// The run with its times; waits for the timers.    throws: GpuError
  [[nodiscard]] TWILL_BODY RecordedRun take() override;

private:
  struct Launch {
    std::size_t node = 0;
    std::size_t timer = 0; ///< the one after the launch
  };

  void mark(AnyStream stream);

  const TimerCalls* calls_;
  int device_;
  std::shared_ptr<const Clock> clock_;
  RecordedRun run_;
  std::vector<std::unique_ptr<Timer>> spare_{};
  std::vector<std::unique_ptr<Timer>> timers_{}; ///< in stream order
  std::vector<Launch> launches_{};
};

}}} // namespace twill::v0::gpu

#if TWILL_HEADER_ONLY
#include <twill/device/gpu/timed_run.ipp>
#endif
