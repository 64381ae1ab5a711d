#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Order of the segments of one run on the devices of its slots. On kinds of device whose launches run in the calling
// thread each segment is a task of the device's worker, which waits for the events of others; a task only ever waits
// for earlier submissions. A run that changes weights begins when all of its tasks are there, so that none of them runs
// without memory for another. On kinds with streams the streams wait, and copies between GPUs run beside the work of
// both. With one device for all slots, segments launch one by one without waits, as inside a submitted task, whose
// own work never waits for a queue: segments given away would come after it. Read next: compile/run/executor.hpp.

#include <twill/compile/run/observer.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/signal.hpp>
#include <twill/device/device.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Whether a launch has run when it returns, in the calling thread.
template <ComputeDevice D> [[nodiscard]] consteval bool launches_in_caller() {
  if constexpr (HostDevice<D> && requires { D::launches_at_once; }) return D::launches_at_once;
  return false;
}

/// Whether the segments on these devices run one after the other, on host devices in the calling thread.
template <ComputeDevice D> [[nodiscard]] bool runs_in_order(std::span<const D> devices) {
  const auto is_first = [&](const D& device) { return device == devices.front(); };
  return std::all_of(devices.begin(), devices.end(), is_first) ||
         (launches_in_caller<D>() && twill::cpu::current_worker != nullptr);
}

/// The order of a program in several slots.
template <ComputeDevice D> class SlotRun {
public:
  /// In a run that is `all_or_nothing` no task begins before the last one has been submitted. With `one_by_one` the
  /// caller launches each segment and waits for it.
  SlotRun(std::span<const D> devices, const Segments& segments, bool all_or_nothing, bool one_by_one)
      : is_open_{!all_or_nothing},
        devices_{devices},
        segments_{&segments},
        is_in_order_{one_by_one || runs_in_order(devices)},
        done_(is_in_order_ ? 0 : segments.list.size()),
        arrived_(is_in_order_ ? 0 : devices.size()) {
    if (is_in_order_) return;
    for (const D& device : devices_) begins_.push_back(record(device));
    tasks_.reserve(segments.list.size()); // a submitted task is never lost for lack of memory
  }
  SlotRun(const SlotRun&) = delete;
  SlotRun& operator=(const SlotRun&) = delete;
  /// Lets no task outlive the run, whatever went wrong.
  ~SlotRun() {
    if (!is_open_.load(std::memory_order_relaxed)) has_failed_.store(true, std::memory_order_release);
    open();
    for (Pending<void>& task : tasks_) {
      try {
        task.wait();
      } catch (...) { // the first one was thrown
      }
    }
    try {
      join();
    } catch (...) { // the first one was thrown
    }
  }

  /// Gives `body(team)` to the device of a segment.
  template <class Body> void add_launch(std::size_t number, Body body) {
    const Segment& segment = segments_->list[number];
    const D device = device_of(segment.slot);
    if (is_in_order_) return launch(device, std::move(body));
    std::vector<event_t<D>> ready = events(segment);
    if constexpr (launches_in_caller<D>()) {
      tasks_.push_back(submit(device, [this, device, ready = std::move(ready), body = std::move(body)] {
        unless_failed([&] {
          for (const event_t<D>& event : ready) event.wait();
          launch(device, body);
        });
      }));
    } else {
      for (const event_t<D>& event : ready) wait(device, event);
      launch(device, std::move(body));
    }
    if (segment.is_awaited) done_[number] = record(device);
  }

  /// Gives the copy of a segment that is one to the devices between which it goes.
  void add_move(std::size_t number, void* to, int from_slot, const void* from, std::size_t bytes, TimedCopy<D> timed) {
    const Segment& segment = segments_->list[number];
    const D target = device_of(segment.slot);
    const D source = device_of(from_slot);
    if (is_in_order_) {
      timed.begin(target);
      copy_bytes(target, to, source, from, bytes, {.non_blocking = !launches_in_caller<D>()});
      return timed.end(target);
    }
    std::vector<event_t<D>> ready = events(segment);
    if constexpr (launches_in_caller<D>()) {
      tasks_.push_back(submit(target, [=, this, ready = std::move(ready)] {
        unless_failed([&] {
          for (const event_t<D>& event : ready) event.wait();
          timed.begin(target);
          static_cast<void>(pull_bytes(target, to, source, from, bytes, std::span<const event_t<D>>{}));
          timed.end(target);
        });
      }));
      done_[number] = record(target);
    } else if constexpr (requires(std::span<const event_t<D>> events) {
                           pull_bytes(target, to, source, from, bytes, events);
                         }) {
      timed.begin_arrival(target, ready);
      done_[number] = pull_bytes(target, to, source, from, bytes, std::span<const event_t<D>>{ready});
      timed.end_arrival(target);
      arrived_[static_cast<std::size_t>(segment.slot)] = done_[number];
    } else {
      for (const event_t<D>& event : ready) wait(target, event);
      timed.begin(target);
      copy_bytes(target, to, source, from, bytes, {.non_blocking = true});
      timed.end(target);
      done_[number] = record(target);
    }
  }

  /// Ends the run. Returns the events that pass when all of it is done. throws: what a segment has thrown
  [[nodiscard]] std::vector<event_t<D>> finish() {
    std::vector<event_t<D>> all{};
    open();
    if constexpr (launches_in_caller<D>()) {
      for (Pending<void>& task : tasks_) task.wait();
      tasks_.clear();
    } else {
      join();
      for (const D& device : devices_) all.push_back(record(device));
    }
    return all;
  }

private:
  /// Lets the devices go on when the copies out of their slots and into them are done, once.
  void join() {
    if (launches_in_caller<D>() || std::exchange(is_in_order_, true)) return;
    for (const SegmentWait& last : segments_->at_end)
      wait(device_of(last.slot), done_[static_cast<std::size_t>(last.segment)]);
    for (std::size_t slot = 0; slot < arrived_.size(); ++slot) wait(devices_[slot], arrived_[slot]);
  }

  void open() {
    if (is_open_.exchange(true, std::memory_order_release)) return;
    opened_.notify();
  }

  /// Runs nothing after a segment that threw: its results are missing.
  template <class F> void unless_failed(const F& f) {
    opened_.wait_until([&] { return is_open_.load(std::memory_order_acquire); });
    if (has_failed_.load(std::memory_order_acquire)) return;
    try {
      f();
    } catch (...) {
      has_failed_.store(true, std::memory_order_release);
      throw;
    }
  }

  [[nodiscard]] const D& device_of(int slot) const { return devices_[static_cast<std::size_t>(slot)]; }

  /// The events of other devices that a segment waits for.
  [[nodiscard]] std::vector<event_t<D>> events(const Segment& segment) const {
    std::vector<event_t<D>> ready{};
    for (std::size_t k = segment.first_wait; k < segment.end_wait; ++k) {
      const SegmentWait& wait = segments_->waits[k];
      ready.push_back(wait.segment < 0 ? begins_[static_cast<std::size_t>(wait.slot)]
                                       : done_[static_cast<std::size_t>(wait.segment)]);
    }
    return ready;
  }

  std::atomic<bool> has_failed_{false};
  std::atomic<bool> is_open_; ///< tasks may begin
  twill::cpu::Signal opened_{};
  std::span<const D> devices_;
  const Segments* segments_;
  bool is_in_order_;                 ///< one segment after the other, none of them waits
  std::vector<event_t<D>> begins_{}; ///< the work that each slot's device was given before
  std::vector<event_t<D>> done_;     ///< after the segments that another slot waits for
  std::vector<event_t<D>> arrived_;  ///< after the last copy into each slot
  std::vector<Pending<void>> tasks_{};
};

}}}} // namespace twill::v0::compile::TWILL_ISA
