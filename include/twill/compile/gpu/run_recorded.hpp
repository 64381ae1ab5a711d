#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A run of a table on a GPU with the time of each launch, as the device itself tells it: a timer stands in the stream before
// the first launch and behind each. Nothing waits for them before the trace ends, so runs follow each other as without them; a
// launch that is shorter than its own submission shows the latter. Read next: compile/gpu/executor.hpp.

#include <twill/compile/binding.hpp>
#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/scope.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::compile {

/// An event that notes when it passes. Given back with the last owner.
template <gpu::Runtime R> class GpuTimer {
public:
  /// Stands behind what the stream was given so far. throws: GpuError
  GpuTimer(int device, typename R::Stream stream) : device_{device} {
    gpu::check<R>(R::create_timer(&event_), "create_timer", device);
    if (const gpu::Status status = R::record_event(event_, stream); status != 0) {
      static_cast<void>(R::destroy_event(event_));
      gpu::fail<R>(status, "record_event", device);
    }
  }
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;
  ~GpuTimer() { static_cast<void>(R::destroy_event(event_)); }

  /// Blocks the calling thread until it has passed. throws: GpuError
  void wait() const { gpu::check<R>(R::synchronize_event(event_), "synchronize_event", device_); }

  /// From another timer of the device to this one, both passed. throws: GpuError
  [[nodiscard]] double seconds_since(const GpuTimer& earlier) const {
    float milliseconds = 0;
    gpu::check<R>(R::elapsed_ms(&milliseconds, earlier.event_, event_), "elapsed_ms", device_);
    return 1e-3 * static_cast<double>(milliseconds);
  }

private:
  int device_;
  typename R::Event event_{};
};

/// A moment that is known on a device and by `steady_seconds`. Waits for the stream.
template <gpu::Runtime R> struct GpuClock {
  GpuClock(int device, typename R::Stream stream) : moment{device, stream} {
    moment.wait();
    moment_s = steady_seconds();
  }
  GpuTimer<R> moment;
  double moment_s = 0;
};

/// The clock of a device for all who record there. requires: the device is the current one    throws: GpuError
template <gpu::GpuDevice D>
[[nodiscard]] std::shared_ptr<GpuClock<typename D::Runtime>> clock_of(RunRecorder& recorder, const D& device,
                                                                      typename D::Runtime::Stream stream) {
  using Clock = GpuClock<typename D::Runtime>;
  return recorder.shared<Clock>(to_string(device), [&] { return std::make_shared<Clock>(device.index, stream); });
}

/// A run whose launches stand between timers.
template <gpu::GpuDevice D> class GpuTimedRun final : public PendingRun {
  using R = typename D::Runtime;
  using Stream = typename R::Stream;

public:
  GpuTimedRun(D device, std::shared_ptr<const GpuClock<R>> clock, RecordedRun run)
      : device_{device}, clock_{std::move(clock)}, run_{std::move(run)} {}

  ~GpuTimedRun() override {
    try {
      const gpu::Using<R> scope{device_.index};
      timers_.clear();
    } catch (...) { // the device has failed, and whoever waited for the run was told
    }
  }

  /// What follows does not begin where the last launch ended.
  void begin(Stream stream) { mark(stream); }
  /// A launch was given to the stream.
  void end(Stream stream, std::size_t node) {
    mark(stream);
    launches_.push_back({node, timers_.size() - 1});
  }

  [[nodiscard]] RecordedRun take() override {
    const gpu::Using<R> scope{device_.index};
    if (timers_.empty()) return std::move(run_);
    for (const auto& timer : timers_) timer->wait(); // of several streams, perhaps
    const GpuTimer<R>& first = *timers_.front();
    const double start_s = clock_->moment_s + first.seconds_since(clock_->moment); // the rest by short, exact distances
    const auto time_of = [&](std::size_t timer) { return start_s + timers_[timer]->seconds_since(first); };
    for (const auto& [node, timer] : launches_) run_.times.push_back({node, time_of(timer - 1), time_of(timer)});
    return std::move(run_);
  }

private:
  struct Launch {
    std::size_t node = 0;
    std::size_t timer = 0; ///< behind it
  };

  void mark(Stream stream) { timers_.push_back(std::make_unique<GpuTimer<R>>(device_.index, stream)); }

  D device_;
  std::shared_ptr<const GpuClock<R>> clock_;
  RecordedRun run_;
  std::vector<std::unique_ptr<GpuTimer<R>>> timers_{};
  std::vector<Launch> launches_{};
};

} // namespace twill::inline v0::compile
