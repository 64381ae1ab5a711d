#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run_recorded.hpp.

#include <twill/compile/run_recorded.hpp>

namespace twill::inline v0::compile::inline TWILL_ISA {

TWILL_BODY void TimedRun::add(const NodeTime& time) {
  const std::lock_guard lock{mutex_};
  run_.times.push_back(time);
}

TWILL_BODY void TimedRun::end() {
  has_ended_.store(true, std::memory_order_release);
  has_ended_.notify_all();
}

TWILL_BODY RecordedRun TimedRun::take() {
  has_ended_.wait(false, std::memory_order_acquire);
  const std::lock_guard lock{mutex_};
  return std::move(run_);
}

TWILL_COLD TWILL_BODY RecordedRun new_record(const TableView& table, Binding& binding,
                                             std::vector<std::string> devices) {
  describe(table, binding);
  RecordedRun run{};
  run.nodes = binding.nodes;
  run.devices = std::move(devices);
  run.is_update = updates_weights(table);
  run.times.reserve(launches_between(binding, 0, binding.instructions.size())); // so that none fails in the midst
  return run;
}

TWILL_COLD TWILL_BODY RecordedRun new_checked_record(const TableView& table, Binding& binding,
                                                     std::vector<std::string> devices) {
  RecordedRun run = new_record(table, binding, std::move(devices));
  run.nodes = std::make_shared<const std::vector<NodeInfo>>(instruction_infos(table, binding));
  run.is_checked = true;
  std::size_t count = binding.instructions.size();
  for (const BoundLoop& loop : binding.loops)
    count += (loop.end - loop.first) * (static_cast<std::size_t>(loop.count) - 1); // none: it counted once
  run.times.reserve(count);
  return run;
}

TWILL_COLD TWILL_BODY std::shared_ptr<TimedTasks> begin_record(RunRecorder& recorder, RecordedRun record) {
  const std::size_t nodes = record.nodes->size();
  auto run = std::make_shared<TimedRun>(std::move(record));
  auto tasks = std::make_shared<TimedTasks>(run, nodes); // whose end ends the run, so it comes first
  recorder.add(std::move(run));
  return tasks;
}

TWILL_COLD TWILL_BODY void run_recorded(const Team& team, Binding& binding, std::size_t begin, std::size_t end,
                                        std::span<const KernelFunction> kernels, const TimedTasks& tasks) {
  double before = steady_seconds();
  for_each_launch(binding, begin, end, [&](const BoundInstruction* launch) {
    run_launch(team, binding, launch, kernels);
    const double after = steady_seconds();
    tasks.add({static_cast<std::size_t>(launch - binding.instructions.data()), before, after});
    before = after;
  });
}

TWILL_COLD TWILL_BODY void run_watched_recorded(const Team& team, const TableView& table, Binding& binding,
                                                std::size_t begin, std::size_t end,
                                                std::span<const KernelFunction> kernels, Watcher& watcher,
                                                const TimedTasks& tasks) {
  run_one_by_one(
      table, binding, begin, end,
      [&](const BoundInstruction& instruction, const kernel::Call& call) {
        const double before = steady_seconds();
        kernels[instruction.kernel](team, call);
        tasks.add({static_cast<std::size_t>(&instruction - binding.instructions.data()), before, steady_seconds()});
      },
      [&](int value, const void* data) { watcher.see(table, binding.symbols, value, data); });
}

TWILL_COLD TWILL_BODY void call_group_recorded(const Binding& binding, const BoundInstruction& instruction,
                                               const kernel::RankGroups* groups, const TimedTasks& tasks) {
  const double before = steady_seconds();
  call_group(binding, instruction, groups);
  tasks.add({static_cast<std::size_t>(&instruction - binding.instructions.data()), before, steady_seconds()});
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
