#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A run of a table on a host device with the time of each launch: the same kernels in the same order, the clock read once
// between two launches; where each result is looked at, the clock stands still meanwhile. All memory of a record is taken
// before the run begins, so that none ends in its midst for want of it. Executors come here only while somebody records. Read
// next: compile/slot_record.hpp, profile/trace.hpp.

#include <twill/compile/node_info.hpp>
#include <twill/compile/run_groups.hpp>
#include <twill/compile/run_joined.hpp>
#include <twill/compile/watch.hpp>
#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/run_recorder.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// A run whose launches report when they ran, in pieces, from any thread.
class TimedRun final : public PendingRun {
public:
  explicit TimedRun(RecordedRun run) : run_{std::move(run)} {}

  /// When a launch ran, behind those before it in its slot. requires: room in the record's times
  void add(const NodeTime& time);
  /// No more will come.
  void end();

  [[nodiscard]] RecordedRun take() override;

private:
  std::mutex mutex_{};
  RecordedRun run_;
  std::atomic<bool> has_ended_{false};
};

/// Holds a run open; every task of it has a copy of the pointer to one, so that it ends with the last of them, run or not.
class TimedTasks {
public:
  TimedTasks(std::shared_ptr<TimedRun> run, std::size_t nodes) : run_{std::move(run)}, starts_(nodes) {}
  TimedTasks(const TimedTasks&) = delete;
  TimedTasks& operator=(const TimedTasks&) = delete;
  ~TimedTasks() { run_->end(); }
  void add(const NodeTime& time) const { run_->add(time); }

  /// A node begins, and another task will tell when it ends.
  void begin(std::size_t node) { starts_[node] = steady_seconds(); }
  void end(std::size_t node) const { add({node, starts_[node], steady_seconds()}); }

private:
  std::shared_ptr<TimedRun> run_;
  std::vector<double> starts_; ///< of nodes that are begun and ended by different tasks
};

/// A record of a run that begins now. The nodes are described once for a binding.
[[nodiscard]] RecordedRun new_record(const TableView& table, Binding& binding, std::vector<std::string> devices);

/// The same of a run that somebody looks into, whose instructions share no launch.
[[nodiscard]] RecordedRun new_checked_record(const TableView& table, Binding& binding,
                                             std::vector<std::string> devices);

/// Hands such a run to who records.
[[nodiscard]] std::shared_ptr<TimedTasks> begin_record(RunRecorder& recorder, RecordedRun record);

/// Runs the instructions from `begin` to before `end` once, and tells when each launch ran.
void run_recorded(const Team& team, Binding& binding, std::size_t begin, std::size_t end,
                  std::span<const KernelFunction> kernels, const TimedTasks& tasks);

/// The same for a watcher, who sees what each instruction has written while its clock stands still.
void run_watched_recorded(const Team& team, const TableView& table, Binding& binding, std::size_t begin,
                          std::size_t end, std::span<const KernelFunction> kernels, Watcher& watcher,
                          const TimedTasks& tasks);

/// Makes a call of a group and tells when.
void call_group_recorded(const Binding& binding, const BoundInstruction& instruction, const kernel::RankGroups* groups,
                         const TimedTasks& tasks);

} // namespace twill::inline v0::compile::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run_recorded.ipp>
#endif
