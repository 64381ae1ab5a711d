#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs a table: a loop over bound instructions, given to the device's stream as one task. There is one executor class for
// each device kind, not for each graph. The arena is either kept between runs, so that a steady step allocates nothing, or
// taken from the pool for each run. A task may run late, so an executor outlives its tasks. GPUs have an executor of their
// own, compile/gpu/executor.hpp. Read next: compile/function.hpp.

#include <twill/compile/bindings.hpp>
#include <twill/compile/capture_report.hpp>
#include <twill/compile/integer_bounds.hpp>
#include <twill/compile/ranges.hpp>
#include <twill/compile/rehearse.hpp>
#include <twill/compile/run_groups.hpp>
#include <twill/compile/run_recorded.hpp>
#include <twill/compile/watch.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/device/device.hpp>
#include <twill/memory/buffer.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Whether the arena of temporaries outlives a run.
enum class Arena : bool { for_each_run, kept };

template <ComputeDevice D> class Executor {
public:
  using Kernel = KernelFunctionOn<team_t<D>>;

  Executor(D device, TableView table, std::span<const Kernel> kernels, Arena arena);

  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

  [[nodiscard]] const TableView& table() const { return table_; }
  [[nodiscard]] D device() const { return device_; }

  /// Before the first run: what is changed in each binding.
  void edit(const BindingEdit& edit) { bindings_.edit(&edit); }

  /// The bytes of the arena for these sizes, before anything runs.
  [[nodiscard]] std::size_t arena_bytes(const graph::SymbolValues& symbols);

  /// The bytes that a captured run needs beside the arena.
  [[nodiscard]] std::size_t capture_bytes(const graph::SymbolValues&) const { return 0; }

  void allow(Capture) {}
  [[nodiscard]] CaptureReport capture_report() const;

  /// Runs from now on show what they write, slowly; null: they do not. Waits for the last run. Returns who watched before.
  Watcher* watch(Watcher* watcher);

  /// Returns when the last run is done. throws: what it has thrown
  void wait() { wait_for_last_run(); }

  /// Puts one run into the device's stream.
  /// throws: OutOfMemoryError when the arena does not fit, IndexError for indices, labels and lengths that point outside
  void run(const graph::SymbolValues& symbols, const RunArguments& arguments);

  /// The same for inputs of these shapes. throws: ShapeError when they do not fit the table or each other
  void run_on(std::span<const Dims> shapes, const RunArguments& arguments);

private:
  Bound& bound_for(const graph::SymbolValues& symbols);

  void run_bound(Bound& bound, const RunArguments& arguments);

  /// The same for somebody who records.
  void run_for(RunRecorder& recorder, Bound& bound, const RunArguments& arguments);

  /// Gives the arena up behind a run, one that throws, too.
  struct ArenaOfRun {
    explicit ArenaOfRun(Executor& own) : executor{own} {}
    ArenaOfRun(const ArenaOfRun&) = delete;
    ArenaOfRun& operator=(const ArenaOfRun&) = delete;
    ~ArenaOfRun() {
      if (executor.arena_mode_ == Arena::for_each_run) executor.arena_.reset();
    }
    Executor& executor;
  };

  void wait_for_last_run();

  D device_;
  TableView table_;
  std::span<const Kernel> kernels_;
  Arena arena_mode_;
  std::atomic<bool> running_{false};
  Watcher* watcher_ = nullptr;
  std::vector<std::uint64_t> knobs_; ///< read by tasks
  RankNumbers ranks_;
  Bindings<Bound> bindings_{};
  std::optional<memory::Buffer<D>> arena_{};
};

template <ComputeDevice D>
Executor<D>::Executor(D device, TableView table, std::span<const Kernel> kernels, Arena arena)
    : device_{device},
      table_{table},
      kernels_{kernels},
      arena_mode_{arena},
      knobs_(table.knobs.size()),
      ranks_{table} {}

template <ComputeDevice D> Executor<D>::~Executor() {
  try {
    wait_for_last_run();
  } catch (...) { // whoever waited for the run was told
  }
}

template <ComputeDevice D> std::size_t Executor<D>::arena_bytes(const graph::SymbolValues& symbols) {
  return bound_for(symbols).numbers.arena_bytes;
}

template <ComputeDevice D> CaptureReport Executor<D>::capture_report() const {
  return {.reason = "devices of this kind have no graphs: a run is one task of the stream as it is"};
}

template <ComputeDevice D> Watcher* Executor<D>::watch(Watcher* watcher) {
  wait();
  return std::exchange(watcher_, watcher);
}

template <ComputeDevice D> void Executor<D>::run(const graph::SymbolValues& symbols, const RunArguments& arguments) {
  run_bound(bound_for(symbols), arguments);
}

template <ComputeDevice D> void Executor<D>::run_on(std::span<const Dims> shapes, const RunArguments& arguments) {
  run_bound(bindings_.at(table_, shapes, [this] { wait_for_last_run(); }), arguments);
}

template <ComputeDevice D> Bound& Executor<D>::bound_for(const graph::SymbolValues& symbols) {
  return bindings_.at(table_, symbols, [this] { wait_for_last_run(); });
}

template <ComputeDevice D> void Executor<D>::run_bound(Bound& bound, const RunArguments& arguments) {
  Binding& binding = bound.numbers;
  const ArenaOfRun one_run{*this};
  if (!arena_ || arena_->bytes() < binding.arena_bytes) {
    arena_.reset(); // before the larger one is made, so that the two never exist together
    arena_.emplace(device_, binding.arena_bytes);
  }
  if constexpr (D::has_memory) {
    wait_for_last_run();
    std::copy(arguments.knobs.begin(), arguments.knobs.end(), knobs_.begin());
    if (!ranks_.is_empty()) ranks_.write(knobs_, arguments.groups);
    if (bound.arena == &bound.numbers) place_numbers(bound, knobs_.data());
    place_operands(bound, arena_->data(), arguments);
    if constexpr (requires { requires D::launches_at_once; })
      if (!table_.bounds.empty()) // the inputs are there when a launch begins
        launch(device_, [&](const team_t<D>&) { check_integers(table_, binding.symbols, arguments.inputs); });
    [[maybe_unused]] const RunRange range{table_, binding};
    if (records_runs()) [[unlikely]]
      if (const auto recorder = run_recorder(); recorder != nullptr) return run_for(*recorder, bound, arguments);
    run_between_calls(binding, arguments, [this, &bound, &binding](std::size_t begin, std::size_t end) {
      running_.store(true, std::memory_order_relaxed);
      launch(device_, [this, &bound, &binding, begin, end](const team_t<D>& team) {
        take_working_memory(team, table_, bound, kernels_);
        if (watcher_ != nullptr) [[unlikely]]
          run_watched(team, table_, binding, begin, end, kernels_, *watcher_);
        else
          run_instructions(team, binding, begin, end, kernels_);
        if (end == binding.instructions.size()) running_.store(false, std::memory_order_release);
      });
    });
  }
}

template <ComputeDevice D>
TWILL_COLD void Executor<D>::run_for(RunRecorder& recorder, Bound& bound, const RunArguments& arguments) {
  Binding& binding = bound.numbers;
  const auto describe_run = watcher_ != nullptr ? &new_checked_record : &new_record;
  const auto tasks = begin_record(recorder, describe_run(table_, bound.numbers, {to_string(device_)}));
  run_between_calls(
      binding, arguments,
      [&](std::size_t begin, std::size_t end) {
        running_.store(true, std::memory_order_relaxed);
        launch(device_, [this, &bound, &binding, begin, end, tasks](const team_t<D>& team) {
          take_working_memory(team, table_, bound, kernels_);
          if (watcher_ != nullptr)
            run_watched_recorded(team, table_, binding, begin, end, kernels_, *watcher_, *tasks);
          else
            run_recorded(team, binding, begin, end, kernels_, *tasks);
          if (end == binding.instructions.size()) running_.store(false, std::memory_order_release);
        });
      },
      [&](const BoundInstruction& call) { call_group_recorded(binding, call, arguments.groups, *tasks); });
}

template <ComputeDevice D> void Executor<D>::wait_for_last_run() {
  if (running_.load(std::memory_order_acquire)) synchronize(device_);
}

} // namespace twill::inline v0::compile::inline TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill::inline v0::compile::inline TWILL_ISA {
TWILL_INSTANCE template class Executor<Cpu>;
} // namespace twill::inline v0::compile::inline TWILL_ISA
#endif
