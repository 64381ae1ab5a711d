#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Who tells a recorder when the launches and copies of a program with several device slots ran. An empty record tells nobody
// anything and costs a branch; the executor has one for each run. Copies stand with the slot that they enter, from the moment
// at which what they wait for is there. On host devices the tasks of the run read the clock themselves; GPUs have a record of
// their own, compile/gpu/slot_record.hpp. Read next: compile/slot_executor.hpp.

#include <twill/compile/run_recorded.hpp>
#include <twill/compile/slot_schedule.hpp>
#include <twill/core/config.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/device/device.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// A copy between slots, in the order of the stream of the device to which it goes. Empty: nobody is told.
template <ComputeDevice D> class TimedCopy {
public:
  TimedCopy() = default;
  TimedCopy(std::shared_ptr<TimedTasks> tasks, std::size_t node) : tasks_{std::move(tasks)}, node_{node} {}

  void begin(const D& device) const {
    if (tasks_ != nullptr) launch(device, [tasks = tasks_, node = node_](const team_t<D>&) { tasks->begin(node); });
  }
  void end(const D& device) const {
    if (tasks_ != nullptr) launch(device, [tasks = tasks_, node = node_](const team_t<D>&) { tasks->end(node); });
  }

  /// The same where the copy waits for events by itself.
  template <class Events> void begin_arrival(const D& device, const Events& ready) const {
    if (tasks_ == nullptr) return;
    for (const auto& event : ready) wait(device, event);
    begin(device);
  }
  void end_arrival(const D& device) const { end(device); }

private:
  std::shared_ptr<TimedTasks> tasks_{};
  std::size_t node_ = 0;
};

template <ComputeDevice D> class SlotRecord {
public:
  SlotRecord() = default;
  SlotRecord(const std::shared_ptr<RunRecorder>& recorder, const std::vector<D>&, RecordedRun run)
      : tasks_{begin_record(*recorder, std::move(run))} {}

  [[nodiscard]] explicit operator bool() const { return tasks_ != nullptr; }

  /// Runs the launches of a step. requires: not empty
  void run(const team_t<D>& team, Binding& binding, const SlotStep& step,
           std::span<const KernelFunctionOn<team_t<D>>> kernels) const {
    run_recorded(team, binding, step.begin, step.end, kernels, *tasks_);
  }
  /// The same for a watcher, recorded or not.
  void run_watched(const team_t<D>& team, const TableView& table, Binding& binding, const SlotStep& step,
                   std::span<const KernelFunctionOn<team_t<D>>> kernels, Watcher& watcher) const {
    if (tasks_ != nullptr)
      run_watched_recorded(team, table, binding, step.begin, step.end, kernels, watcher, *tasks_);
    else
      compile::run_watched(team, table, binding, step.begin, step.end, kernels, watcher);
  }

  /// The copy that a step is.
  [[nodiscard]] TimedCopy<D> copy(const SlotStep& step) const {
    return tasks_ != nullptr ? TimedCopy<D>{tasks_, step.begin} : TimedCopy<D>{};
  }

  /// All of the run was given to its devices.
  void end() { tasks_ = nullptr; }

private:
  std::shared_ptr<TimedTasks> tasks_{};
};

} // namespace twill::inline v0::compile::inline TWILL_ISA
