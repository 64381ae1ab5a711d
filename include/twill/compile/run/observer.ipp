#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run/observer.hpp.

#include <twill/compile/run/observer.hpp>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY void TimedRun::add(const NodeTime& time) {
  const std::lock_guard lock{mutex_};
  run_.times.push_back(time);
}

TWILL_BODY void TimedRun::close() {
  is_closed_.store(true, std::memory_order_release);
  is_closed_.notify_all();
}

TWILL_BODY RecordedRun TimedRun::take() {
  is_closed_.wait(false, std::memory_order_acquire);
  const std::lock_guard lock{mutex_};
  return std::move(run_);
}

TWILL_COLD TWILL_BODY RecordedRun new_record(const TableView& table, Binding& binding, std::vector<std::string> devices,
                                             bool is_watched) {
  describe(table, binding);
  RecordedRun run{};
  run.nodes =
      is_watched ? std::make_shared<const std::vector<NodeInfo>>(instruction_infos(table, binding)) : binding.nodes;
  run.devices = std::move(devices);
  run.is_update = updates_weights(table);
  run.is_checked = is_watched;
  std::size_t count = 0;
  for (const Segment& segment : binding.segments.list) count += launches_of(binding, segment, is_watched);
  run.times.reserve(count); // so that none fails half-way
  return run;
}

TWILL_COLD TWILL_BODY std::shared_ptr<TimedRun> begin_record(RunRecorder& recorder, RecordedRun record) {
  const auto run = std::make_shared<TimedRun>(std::move(record));
  // The tasks' pointer ends the run with the last of them; the recorder's keeps its memory.
  std::shared_ptr<TimedRun> tasks{run.get(), [run](TimedRun*) { run->close(); }};
  recorder.add(run);
  return tasks;
}

TWILL_COLD TWILL_BODY void run_observed(const Team& team, const TableView& table, Binding& binding,
                                        const Segment& segment, std::span<const KernelFunction> kernels,
                                        TimedRun* times, Watcher* watcher) {
  struct See {
    const TableView& table;
    const Binding& binding;
    TimedRun* times;
    Watcher* watcher;
    double since = steady_seconds(); ///< the end of the last launch, so that none waits for the clock to be read

    [[nodiscard]] bool watches() const { return watcher != nullptr; }
    void begin() {
      if (watches()) since = steady_seconds();
    }
    void end(std::size_t instruction) {
      if (times == nullptr) return;
      const double now = steady_seconds();
      times->add({instruction, since, now});
      since = now;
    }
    void show(int value, const void* data) const { watcher->see(table, binding.symbols, value, data); }
  };
  run_observed(team, table, binding, segment, kernels, See{table, binding, times, watcher});
}

}}}} // namespace twill::v0::compile::TWILL_ISA
