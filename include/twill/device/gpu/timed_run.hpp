#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A run on a GPU with the time of each launch, as the device itself tells it: a timer stands in the stream before the first
// launch and behind each. They are made before the run begins, since what fails behind its updates could not be made again.
// Nothing waits for them before the trace ends, so runs follow each other as without them; a launch that is shorter than its
// own submission shows the latter. Knows drivers by their tables alone. Read next:
// compile/run/gpu/capture.hpp, profile/trace.hpp.

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

/// A moment that is known on a device and by `steady_seconds`. Waits for the stream.
struct Clock {
  /// Reads both clocks in a stream of a device. throws: GpuError
  Clock(const TimerCalls& calls, int device, AnyStream stream);
  Timer moment;        ///< by the device
  double moment_s = 0; ///< by `steady_seconds`
};

/// Where a run takes place: a device, by its number and its name, and the timers of its driver.
struct TimedDevice {
  const TimerCalls* timers = nullptr; ///< of its driver
  int device = 0;                     ///< its number there
  std::string name{};                 ///< as traces show it
};

/// A run whose launches stand between timers.
class TimedRun final : public PendingRun {
public:
  /// All who record on a device share a clock, which is read in the first one's stream. throws: GpuError
  TimedRun(RunRecorder& recorder, const TimedDevice& place, AnyStream stream, RecordedRun run);

  /// Makes all that so many launches need, however they are interrupted, before anything runs. throws: GpuError, std::bad_alloc
  void reserve(std::size_t launches);
  /// Everything was given to the streams: timers that were not needed go.
  void finish() noexcept { spare_.clear(); }

  /// What follows does not begin where the last launch ended.
  void begin(AnyStream stream) { mark(stream); }
  /// A launch was given to the stream.
  void end(AnyStream stream, std::size_t node);

  /// The run with its times; waits for the timers.    throws: GpuError
  [[nodiscard]] RecordedRun take() override;

private:
  struct Launch {
    std::size_t node = 0;
    std::size_t timer = 0; ///< behind it
  };

  void mark(AnyStream stream);

  const TimerCalls* calls_;
  int device_;
  std::shared_ptr<const Clock> clock_;
  RecordedRun run_;
  std::vector<std::unique_ptr<Timer>> spare_{};
  std::vector<std::unique_ptr<Timer>> timers_{}; ///< in the order in which they stand
  std::vector<Launch> launches_{};
};

}}} // namespace twill::v0::gpu

#if TWILL_HEADER_ONLY
#include <twill/device/gpu/timed_run.ipp>
#endif
