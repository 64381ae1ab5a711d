#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Type-erased GPU timers of any driver: recorders are compiled once for all kinds of GPUs, and not at all in files that
// only launch. A launch passes the address of a table, and a trace calls through it.
// Read next: device/gpu/timer_calls.hpp, which fills the table, and device/gpu/timed_run.hpp, which uses it.

#include <twill/core/config.hpp>

namespace twill { inline namespace v0 { namespace gpu {

/// A reference to a driver's handle of a stream.
class AnyStream {
public:
  /// No stream.
  AnyStream() = default;
  /// requires: the handle keeps its address
  template <class Stream> explicit AnyStream(const Stream& handle) : handle_{&handle} {}

  /// The handle, for code that knows the driver.
  template <class Stream> [[nodiscard]] const Stream& as() const { return *static_cast<const Stream*>(handle_); }

private:
  const void* handle_ = nullptr;
};

/// The timer functions of a driver.
struct TimerCalls {
  /// Whether work on the stream is being recorded in a graph instead of run. throws: GpuError
  bool (*is_capturing)(int device, AnyStream stream) = nullptr;
  /// Makes a timer that is in no stream yet. throws: GpuError, std::bad_alloc
  void* (*make)(int device) = nullptr;
  /// Places a timer after the work that the stream was given so far. throws: GpuError
  void (*place)(int device, void* timer, AnyStream stream) = nullptr;
  /// Blocks the calling thread until it has passed. throws: GpuError
  void (*wait)(int device, const void* timer) = nullptr;
  /// The seconds from one timer of the device to another, both passed. throws: GpuError
  double (*seconds)(int device, const void* earlier, const void* later) = nullptr;
  void (*release)(int device, void* timer) noexcept = nullptr;
};

/// An event that records its time. Returned when its owner is destroyed.
class Timer {
public:
  /// A timer that is in no stream yet. throws: GpuError, std::bad_alloc
  Timer(const TimerCalls& calls, int device) : calls_{&calls}, device_{device}, timer_{calls.make(device)} {}
  /// A timer after the work that the stream was given so far. throws: GpuError, std::bad_alloc
  Timer(const TimerCalls& calls, int device, AnyStream stream) : Timer{calls, device} { place(stream); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { calls_->release(device_, timer_); }

  /// Places it after the work that the stream was given so far. throws: GpuError
  void place(AnyStream stream) { calls_->place(device_, timer_, stream); }

  /// Blocks the calling thread until it has passed. throws: GpuError
  void wait() const { calls_->wait(device_, timer_); }

  /// The seconds from another timer of the device to this one, both passed. throws: GpuError
  [[nodiscard]] double seconds_since(const Timer& earlier) const {
    return calls_->seconds(device_, earlier.timer_, timer_);
  }

private:
  const TimerCalls* calls_;
  int device_;
  void* timer_;
};

}}} // namespace twill::v0::gpu
