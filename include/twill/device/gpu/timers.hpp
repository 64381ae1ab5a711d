#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Timers of any driver behind one type: what records runs is compiled once for all kinds of GPUs, and not at all in files
// that only launch. A launch hands over the address of a table, and who traces calls through it. Read next:
// device/gpu/timer_calls.hpp, which fills the table, and device/gpu/timed_run.hpp, which uses it.

#include <twill/core/config.hpp>

namespace twill { inline namespace v0 { namespace gpu {

/// A reference to a driver's handle of a stream.
class AnyStream {
public:
  /// None.
  AnyStream() = default;
  /// requires: the handle stays where it is
  template <class Stream> explicit AnyStream(const Stream& handle) : handle_{&handle} {}

  /// The handle, for who knows the driver.
  template <class Stream> [[nodiscard]] const Stream& as() const { return *static_cast<const Stream*>(handle_); }

private:
  const void* handle_ = nullptr;
};

/// What a driver does about timers.
struct TimerCalls {
  /// Whether work on the stream is being recorded in a graph instead of run. throws: GpuError
  bool (*is_capturing)(int device, AnyStream stream) = nullptr;
  /// A timer that stands nowhere yet. throws: GpuError, std::bad_alloc
  void* (*make)(int device) = nullptr;
  /// Lets a timer stand behind what the stream was given so far. throws: GpuError
  void (*place)(int device, void* timer, AnyStream stream) = nullptr;
  /// Blocks the calling thread until it has passed. throws: GpuError
  void (*wait)(int device, const void* timer) = nullptr;
  /// From one timer of the device to another, both passed. throws: GpuError
  double (*seconds)(int device, const void* earlier, const void* later) = nullptr;
  void (*release)(int device, void* timer) noexcept = nullptr;
};

/// An event that notes when it passes. Given back with its owner.
class Timer {
public:
  /// Stands nowhere yet. throws: GpuError, std::bad_alloc
  Timer(const TimerCalls& calls, int device) : calls_{&calls}, device_{device}, timer_{calls.make(device)} {}
  /// Stands behind what the stream was given so far. throws: GpuError, std::bad_alloc
  Timer(const TimerCalls& calls, int device, AnyStream stream) : Timer{calls, device} { place(stream); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { calls_->release(device_, timer_); }

  /// Stands behind what the stream was given so far. throws: GpuError
  void place(AnyStream stream) { calls_->place(device_, timer_, stream); }

  /// Blocks the calling thread until it has passed. throws: GpuError
  void wait() const { calls_->wait(device_, timer_); }

  /// From another timer of the device to this one, both passed. throws: GpuError
  [[nodiscard]] double seconds_since(const Timer& earlier) const;

private:
  const TimerCalls* calls_;
  int device_;
  void* timer_;
};

}}} // namespace twill::v0::gpu

#if TWILL_HEADER_ONLY
#include <twill/device/gpu/timers.ipp>
#endif
