#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Events in the order of a stream's work. Handles are cheap to copy; the driver's event returns to its device with the
// last handle and is reused. An event without a device has passed. Read next: device/gpu/stream.hpp.

#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/scope.hpp>

#include <atomic>
#include <utility>

namespace twill { inline namespace v0 { namespace gpu {

/// A point in the order of a stream's work, shared by its copies.
template <Runtime R> class Event {
public:
  /// An event that has passed.
  Event() = default;

  /// Marks the work given to a stream so far. throws: GpuError
  Event(DeviceState<R>& state, typename R::Stream stream) : Event{} { // whatever fails, the destructor runs
    const Using<R> scope{state.index()};
    state_ = &state;
    record_ = state.take_event();
    check<R>(R::record_event(record_->event, stream), "record_event", state.index());
  }

  Event(const Event& other) noexcept : state_{other.state_}, record_{other.record_} {
    if (record_ != nullptr) record_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Event(Event&& other) noexcept : state_{other.state_}, record_{std::exchange(other.record_, nullptr)} {}
  Event& operator=(Event other) noexcept {
    std::swap(state_, other.state_);
    std::swap(record_, other.record_);
    return *this;
  }
  ~Event() { drop(); }

  /// Whether all work before it is done. throws: GpuError when the device failed meanwhile, CaptureError
  [[nodiscard]] bool is_complete() const {
    if (record_ == nullptr) return true;
    require_no_recording<R>("is_complete", state_->index());
    const Status status = R::query_event(record_->event);
    if (status != 0 && !R::is_not_ready(status)) fail<R>(status, "query_event", state_->index());
    return status == 0;
  }

  /// Whether it has passed; allowed while this thread records a graph. requires: the event is not of recorded work
  [[nodiscard]] bool is_complete_beside_recording() const {
    if (record_ == nullptr) return true;
    const Status status = R::query_event_while_capturing(record_->event);
    if (status != 0 && !R::is_not_ready(status)) fail<R>(status, "query_event", state_->index());
    return status == 0;
  }

  /// Blocks the calling thread until it has passed. throws: GpuError when the device failed meanwhile, CaptureError
  void wait() const {
    if (record_ == nullptr) return;
    require_no_recording<R>("wait", state_->index());
    check<R>(R::synchronize_event(record_->event), "synchronize_event", state_->index());
  }

  /// Makes later work of a stream, of any device of the driver, wait for the event. throws: GpuError
  void hold(typename R::Stream stream, int device) const {
    if (record_ == nullptr) return;
    const Using<R> scope{device}; // a driver's default stream is that of the current device
    check<R>(R::wait_event(stream, record_->event), "wait_event", device);
  }

private:
  void drop() noexcept {
    if (EventRecord<R>* record = std::exchange(record_, nullptr))
      if (record->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) state_->give_back_event(record);
  }

  DeviceState<R>* state_ = nullptr;
  EventRecord<R>* record_ = nullptr;
};

/// Blocks the calling thread until the event has passed.
template <Runtime R> void wait(const Event<R>& event) { event.wait(); }

}}} // namespace twill::v0::gpu
