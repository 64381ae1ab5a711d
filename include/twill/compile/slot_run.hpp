#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One run of the steps of a schedule on the devices of its slots. On kinds of device whose launches run in the calling thread
// each step is a task of the device's worker, which waits for the events of others; a task only ever waits for what was
// submitted before it. A run that changes weights begins when all of its tasks are there, so that none of them runs where there
// is no memory for another. On kinds with streams the streams wait, and copies between GPUs run beside the work of both. Where all
// slots have one device, steps are launched one after the other and nothing waits, and so they are inside a submitted task,
// whose own work never waits for a queue: the steps that it gave away would come behind it. Read next:
// compile/slot_executor.hpp.

#include <twill/compile/slot_record.hpp>
#include <twill/compile/slot_schedule.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/signal.hpp>
#include <twill/device/device.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Whether a launch has run when it returns, in the calling thread.
template <ComputeDevice D> [[nodiscard]] consteval bool launches_in_caller() {
  if constexpr (HostDevice<D> && requires { D::launches_at_once; }) return D::launches_at_once;
  return false;
}

/// Whether the steps on these devices run one after the other, on host devices in the calling thread.
template <ComputeDevice D> [[nodiscard]] bool runs_in_order(std::span<const D> devices) {
  const auto is_first = [&](const D& device) { return device == devices.front(); };
  return std::all_of(devices.begin(), devices.end(), is_first) ||
         (launches_in_caller<D>() && twill::detail::current_worker != nullptr);
}

template <ComputeDevice D> class SlotRun {
public:
  /// Where all or nothing of it is to run, no task begins before the last one has been submitted.
  enum class Begin : bool { at_once, when_all_are_there };

  SlotRun(std::span<const D> devices, const SlotSchedule& schedule, Begin begin = Begin::at_once)
      : is_open_{begin == Begin::at_once},
        devices_{devices},
        schedule_{&schedule},
        is_in_order_{runs_in_order(devices)},
        done_(schedule.steps.size()),
        arrived_(devices.size()) {
    if (is_in_order_) return;
    for (const D& device : devices_) begins_.push_back(record(device));
    tasks_.reserve(schedule.steps.size()); // a task that was submitted is never lost for want of memory
  }
  SlotRun(const SlotRun&) = delete;
  SlotRun& operator=(const SlotRun&) = delete;
  /// Whatever went wrong, no task outlives what it works on.
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
    } catch (...) { // the same
    }
  }

  /// Gives `body(team)` to the device of a step.
  template <class Body> void add_launch(std::size_t number, Body body) {
    const SlotStep& step = schedule_->steps[number];
    const D device = device_of(step.slot);
    if (is_in_order_) return launch(device, std::move(body));
    std::vector<Event<D>> ready = events(step);
    if constexpr (launches_in_caller<D>()) {
      tasks_.push_back(submit(device, [this, device, ready = std::move(ready), body = std::move(body)] {
        unless_failed([&] {
          for (const Event<D>& event : ready) event.wait();
          launch(device, body);
        });
      }));
    } else {
      for (const Event<D>& event : ready) wait(device, event);
      launch(device, std::move(body));
    }
    if (step.is_awaited) done_[number] = record(device);
  }

  /// Gives the copy that a step is to the devices between which it goes, and tells who records, if anybody.
  void add_move(std::size_t number, void* to, int from_slot, const void* from, std::size_t bytes, TimedCopy<D> timed) {
    const SlotStep& step = schedule_->steps[number];
    const D target = device_of(step.slot);
    const D source = device_of(from_slot);
    if (is_in_order_) {
      timed.begin(target);
      copy_bytes(target, to, source, from, bytes, {.non_blocking = !launches_in_caller<D>()});
      return timed.end(target);
    }
    std::vector<Event<D>> ready = events(step);
    if constexpr (launches_in_caller<D>()) {
      tasks_.push_back(submit(target, [=, this, ready = std::move(ready)] {
        unless_failed([&] {
          for (const Event<D>& event : ready) event.wait();
          timed.begin(target);
          static_cast<void>(pull_bytes(target, to, source, from, bytes, std::span<const Event<D>>{}));
          timed.end(target);
        });
      }));
      done_[number] = record(target);
    } else if constexpr (requires(std::span<const Event<D>> events) {
                           pull_bytes(target, to, source, from, bytes, events);
                         }) {
      timed.begin_arrival(target, ready);
      done_[number] = pull_bytes(target, to, source, from, bytes, std::span<const Event<D>>{ready});
      timed.end_arrival(target);
      arrived_[static_cast<std::size_t>(step.slot)] = done_[number];
    } else {
      for (const Event<D>& event : ready) wait(target, event);
      timed.begin(target);
      copy_bytes(target, to, source, from, bytes, {.non_blocking = true});
      timed.end(target);
      done_[number] = record(target);
    }
  }

  /// Ends the run. Returns what has passed when all of it is done. throws: what a step has thrown
  [[nodiscard]] std::vector<Event<D>> finish() {
    std::vector<Event<D>> all{};
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
    for (const SlotWait& last : schedule_->at_end)
      wait(device_of(last.slot), done_[static_cast<std::size_t>(last.step)]);
    for (std::size_t slot = 0; slot < arrived_.size(); ++slot) wait(devices_[slot], arrived_[slot]);
  }

  void open() {
    if (is_open_.exchange(true, std::memory_order_release)) return;
    opened_.notify();
  }

  /// Nothing runs behind a step that threw: what it should have written is not there.
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

  /// What a step waits for on other devices.
  [[nodiscard]] std::vector<Event<D>> events(const SlotStep& step) const {
    std::vector<Event<D>> ready{};
    for (std::size_t k = step.first_wait; k < step.end_wait; ++k) {
      const SlotWait& wait = schedule_->waits[k];
      ready.push_back(wait.step < 0 ? begins_[static_cast<std::size_t>(wait.slot)]
                                    : done_[static_cast<std::size_t>(wait.step)]);
    }
    return ready;
  }

  std::atomic<bool> has_failed_{false};
  std::atomic<bool> is_open_; ///< tasks may begin
  twill::detail::Signal opened_{};
  std::span<const D> devices_;
  const SlotSchedule* schedule_;
  bool is_in_order_;               ///< one step after the other, none of them waits
  std::vector<Event<D>> begins_{}; ///< what each slot's device was given before
  std::vector<Event<D>> done_;     ///< behind the steps that somebody waits for
  std::vector<Event<D>> arrived_;  ///< behind the last copy into each slot
  std::vector<Pending<void>> tasks_{};
};

} // namespace twill::inline v0::compile::inline TWILL_ISA
