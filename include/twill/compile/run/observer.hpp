#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Observers of a run: a recorder gets the times of each launch, a watcher sees the values each instruction has written,
// such as to search for NaN and infinities. They see the kernels of any other run, in the same order, on the same
// numbers; under a watcher each instruction is a launch of its own and the clock stops while it looks. Values written
// in the steps of a loop are not shown. All memory of a record is taken before the run, so that none ends half-way. On
// host devices tasks read the clock; GPUs have compile/run/gpu/observer.hpp. Read next: compile/run/executor.hpp.

#include <twill/compile/report/node_info.hpp>
#include <twill/compile/run/launch.hpp>
#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/device/device.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Sees every value that an instruction has written. Called in the device's task, outside of loops.
struct Watcher {
  virtual void see(const TableView& table, const graph::SymbolValues& symbols, int value, const void* data) = 0;

protected:
  ~Watcher() = default;
};

/// Gives a team or a queue the launches of a segment under an observer, which has `watches()`, `begin()` before a
/// launch, `end(instruction)` after it, and `show(value, data)`.
template <class Target, class Kernels, class See>
void run_observed(const Target& target, const TableView& table, Binding& binding, const Segment& segment,
                  Kernels kernels, See&& see) {
  for_each_launch(binding, segment, [&](const BoundInstruction* launch) {
    if (!see.watches()) {
      see.begin();
      run_launch(target, binding, launch, kernels);
      return see.end(number_of(binding, *launch));
    }
    for (std::size_t m = 0; m < launch->members; ++m) {
      const BoundInstruction& instruction = launch[m];
      see.begin();
      run_alone(target, binding, instruction, kernels);
      see.end(number_of(binding, instruction));
      if (segment.loop >= 0) continue;
      for (std::size_t k = 0; k < instruction.operand_count; ++k) {
        const OperandBinding& operand = table.operands[instruction.first_operand + k];
        if (operand.kind == OperandKind::memory && operand.writes)
          see.show(operand.value, binding.operands[instruction.first_operand + k].data);
      }
    }
  });
}

/// A run whose launches report when they ran, in pieces, from any thread.
class TimedRun final : public PendingRun {
public:
  explicit TimedRun(RecordedRun run) : run_{std::move(run)}, starts_(run_.nodes->size()) {}

  /// The time of a launch, after those before it in its slot. requires: room in the record's times
  void add(const NodeTime& time);
  /// A node begins, and another task will tell when it ends.
  void begin(std::size_t node) { starts_[node] = steady_seconds(); }
  void end(std::size_t node) { add({node, starts_[node], steady_seconds()}); }
  /// Ends the record: no more times follow.
  void close();

  [[nodiscard]] TWILL_BODY RecordedRun take() override;

private:
  std::mutex mutex_{};
  RecordedRun run_;
  std::vector<double> starts_;
  std::atomic<bool> is_closed_{false};
};

/// A record of a run that begins now, with room for the times of its segments. For a watcher no launch is shared.
[[nodiscard]] RecordedRun new_record(const TableView& table, Binding& binding, std::vector<std::string> devices,
                                     bool is_watched);

/// Passes a run to a recorder. It is open until the last task that holds the pointer is gone, run or not.
[[nodiscard]] std::shared_ptr<TimedRun> begin_record(RunRecorder& recorder, RecordedRun record);

/// The names of devices.
template <ComputeDevice D> [[nodiscard]] TWILL_COLD std::vector<std::string> names_of(std::span<const D> devices) {
  std::vector<std::string> names(devices.size());
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = to_string(devices[i]);
  return names;
}

/// Runs the launches of a segment under a recorder, a watcher or both; either may be null.
void run_observed(const Team& team, const TableView& table, Binding& binding, const Segment& segment,
                  std::span<const KernelFunction> kernels, TimedRun* times, Watcher* watcher);

/// The time of a copy between slots, in the order of the stream of the device to which it goes. Empty: none is taken.
template <ComputeDevice D> class TimedCopy {
public:
  TimedCopy() = default;
  TimedCopy(std::shared_ptr<TimedRun> run, std::size_t node) : run_{std::move(run)}, node_{node} {}

  void begin(const D& device) const {
    if (run_ != nullptr) launch(device, [run = run_, node = node_](const team_t<D>&) { run->begin(node); });
  }
  void end(const D& device) const {
    if (run_ != nullptr) launch(device, [run = run_, node = node_](const team_t<D>&) { run->end(node); });
  }

  /// Begins a copy that waits for events by itself.
  template <class Events> void begin_arrival(const D& device, const Events& ready) const {
    if (run_ == nullptr) return;
    for (const auto& event : ready) wait(device, event);
    begin(device);
  }
  void end_arrival(const D& device) const { end(device); }

private:
  std::shared_ptr<TimedRun> run_{};
  std::size_t node_ = 0;
};

/// The observers of one run. Tasks hold copies of it.
template <ComputeDevice D> class RunObserver {
public:
  RunObserver() = default;
  /// Either may be null. throws: std::bad_alloc
  RunObserver(const std::shared_ptr<RunRecorder>& recorder, Watcher* watcher, std::span<const D> devices,
              const TableView& table, Binding& binding)
      : watcher_{watcher} {
    if (recorder != nullptr)
      times_ = begin_record(*recorder, new_record(table, binding, names_of(devices), watcher != nullptr));
  }

  [[nodiscard]] explicit operator bool() const { return watcher_ != nullptr || times_ != nullptr; }
  [[nodiscard]] bool watches() const { return watcher_ != nullptr; }

  /// Runs the launches of a segment. requires: not empty
  void run(const team_t<D>& team, const TableView& table, Binding& binding, const Segment& segment,
           std::span<const KernelFunctionOn<team_t<D>>> kernels, const void*) const {
    run_observed(team, table, binding, segment, kernels, times_.get(), watcher_);
  }

  /// Makes a call of the host in place of a launch.
  template <class F> void time(const D&, const Segment& segment, const F& call) const {
    const double begin = times_ == nullptr ? 0 : steady_seconds();
    call();
    if (times_ != nullptr) times_->add({segment.begin, begin, steady_seconds()});
  }

  /// The copy of a segment that is one.
  [[nodiscard]] TimedCopy<D> copy(const Segment& segment) const {
    return times_ != nullptr ? TimedCopy<D>{times_, segment.begin} : TimedCopy<D>{};
  }

  /// Ends the record after all of the run was given to its devices.
  void end() { times_ = nullptr; }

private:
  Watcher* watcher_ = nullptr;
  std::shared_ptr<TimedRun> times_{};
};

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run/observer.ipp>
#endif
