#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs a table with several device slots: each slot has a device, an arena and a sequence of work, and moves between them are
// copies in the order of the slot that they enter, beside the work of the one that they leave. Devices may repeat. On host
// devices a run returns when all of it is done, elsewhere it has been given to the streams of all devices by then; it is never
// captured as a graph. Programs of one slot have `Executor`. Read next: compile/slot_run.hpp, compile/gpu/slot_numbers.hpp.

#include <twill/compile/executor.hpp>
#include <twill/compile/gpu/partial_update.hpp>
#include <twill/compile/ranges.hpp>
#include <twill/compile/rehearse.hpp>
#include <twill/compile/slot_numbers.hpp>
#include <twill/compile/slot_record.hpp>
#include <twill/compile/slot_run.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

template <ComputeDevice D> class SlotExecutor {
public:
  using Kernel = KernelFunctionOn<team_t<D>>;

  /// requires: a device for each slot
  SlotExecutor(std::span<const D> devices, TableView table, std::span<const Kernel> kernels, Arena arena)
      : devices_(devices.begin(), devices.end()),
        table_{table},
        kernels_{kernels},
        arena_mode_{arena},
        changes_parameters_{detail::changes_parameters(table)},
        numbers_{devices, table},
        arenas_(static_cast<std::size_t>(table.slots)) {} // a program may use fewer than there are

  SlotExecutor(const SlotExecutor&) = delete;
  SlotExecutor& operator=(const SlotExecutor&) = delete;
  ~SlotExecutor() {
    try {
      wait();
    } catch (...) { // whoever waited for the run was told
    }
  }

  [[nodiscard]] const TableView& table() const { return table_; }
  [[nodiscard]] std::span<const D> devices() const { return devices_; }

  /// The bytes of the arena of a slot for these sizes, before anything runs.
  [[nodiscard]] std::size_t arena_bytes(const graph::SymbolValues& symbols, int slot) {
    return bound_for(symbols).numbers.arenas[static_cast<std::size_t>(slot)].bytes;
  }
  /// The same of all slots together.
  [[nodiscard]] std::size_t arena_bytes(const graph::SymbolValues& symbols) {
    std::size_t bytes = 0;
    for (int slot = 0; slot < table_.slots; ++slot) bytes += arena_bytes(symbols, slot);
    return bytes;
  }
  [[nodiscard]] std::size_t capture_bytes(const graph::SymbolValues&) const { return 0; }

  void allow(Capture) {}
  [[nodiscard]] CaptureReport capture_report() const { return {.reason = "the program works in several device slots"}; }

  /// Runs from now on show what they write, slowly, one step after the other; null: they do not. Waits for the last run.
  /// Returns who watched before.
  Watcher* watch(Watcher* watcher) {
    wait();
    return std::exchange(watcher_, watcher);
  }

  /// Returns when the last run is done on all devices.
  void wait() {
    for (const Event<D>& event : std::exchange(last_, {})) event.wait();
  }

  /// Gives one run to the devices.
  /// throws: OutOfMemoryError when an arena does not fit, IndexError for indices, labels and lengths that point outside
  void run(const graph::SymbolValues& symbols, const RunArguments& arguments) {
    run_bound(bound_for(symbols), arguments);
  }

  /// The same for inputs of these shapes. throws: ShapeError when they do not fit the table or each other
  void run_on(std::span<const Dims> shapes, const RunArguments& arguments) {
    run_bound(bindings_.at(table_, shapes, [this] { wait(); }), arguments);
  }

private:
  struct BoundSlots : Bound {
    SlotSchedule schedule{};
    std::size_t first_update = 0; ///< the launch that is the first to change weights
    bool has_schedule = false;
  };

  BoundSlots& bound_for(const graph::SymbolValues& symbols) {
    return bindings_.at(table_, symbols, [this] { wait(); });
  }
  [[nodiscard]] const D& device(int slot) const { return devices_[static_cast<std::size_t>(slot)]; }

  void run_bound(BoundSlots& bound, const RunArguments& arguments) {
    const ArenasOfRun one_run{*this};
    take_arenas(bound.numbers);
    if constexpr (D::has_memory) {
      if constexpr (HostDevice<D>) wait(); // tasks read the operands
      if (!bound.has_schedule) {
        bound.schedule = slot_schedule(table_, bound.numbers.symbols);
        bound.first_update = detail::first_update(table_, bound.numbers);
        bound.has_schedule = true;
      }
      numbers_.write(arguments.knobs);
      place(bound, arguments);
      check_inputs(bound.numbers.symbols, arguments.inputs);
      if constexpr (launches_in_caller<D>()) take_working_memory_of_slots(bound);
      [[maybe_unused]] const RunRange range{table_, bound.numbers};
      SlotRecord<D> record{};
      if (records_runs()) [[unlikely]]
        record = new_record_of(bound);
      detail::run_with_updates(bound.first_update, [&](detail::UpdateProgress& progress) {
        if (watcher_ == nullptr)
          run_steps(bound, record, progress);
        else
          run_watched_steps(bound, record, progress);
        record.end();
      });
    }
  }

  /// Gives the arenas up behind a run, one that throws, too.
  struct ArenasOfRun {
    explicit ArenasOfRun(SlotExecutor& own) : executor{own} {}
    ArenasOfRun(const ArenasOfRun&) = delete;
    ArenasOfRun& operator=(const ArenasOfRun&) = delete;
    ~ArenasOfRun() {
      if (executor.arena_mode_ == Arena::for_each_run)
        for (auto& arena : executor.arenas_) arena.reset();
    }
    SlotExecutor& executor;
  };

  void take_arenas(const Binding& binding) {
    for (std::size_t slot = 0; slot < arenas_.size(); ++slot) {
      const std::size_t bytes = binding.arenas[slot].bytes;
      if (arenas_[slot] && arenas_[slot]->bytes() >= bytes) continue;
      arenas_[slot].reset(); // before the larger one is made, so that the two never exist together
      arenas_[slot].emplace(devices_[slot], bytes);
    }
  }

  /// Tells the operands where everything lies.
  void place(BoundSlots& bound, const RunArguments& arguments) {
    kernel::Operand* const operands = bound.numbers.operands.data();
    for (const OutsideOperand& operand : bound.numbers.inside) {
      const auto value = static_cast<std::size_t>(table_.operands[operand.operand].value);
      const auto slot = static_cast<std::size_t>(table_.values[value].slot);
      const std::size_t offset = operand.index - bound.numbers.arenas[slot].first;
      operands[operand.operand].data = static_cast<std::byte*>(arenas_[slot]->data()) + offset + operand.start;
    }
    place_outside(bound, arguments);
    numbers_.place(bound);
  }

  void check_inputs(const graph::SymbolValues& symbols, std::span<void* const> inputs) {
    // As in programs of one slot: where the inputs are there when a launch begins, and where a GPU's run is watched.
    if (launches_in_caller<D>() || (!HostDevice<D> && watcher_ != nullptr))
      for (const graph::IntegerBounds& bounds : table_.bounds) {
        const auto input = static_cast<std::size_t>(bounds.input);
        const graph::InputInfo& info = table_.inputs[input];
        const auto count = static_cast<std::size_t>(info.shape.elements().evaluate(symbols));
        look_at(device(info.slot), inputs[input], count * size_of(info.dtype),
                [&](const void* data) { detail::check_integers(table_, symbols, bounds, data); });
      }
  }

  /// Lets each slot's device take what the run needs, in the thread that will run it, unless it has it. throws: std::bad_alloc
  void take_working_memory_of_slots(BoundSlots& bound) {
    const bool in_caller = watcher_ != nullptr || runs_in_order<D>(devices_);
    const auto state = [&] {
      return in_caller ? kernel::Scratch::state_of_thread() : kernel::Scratch::state_of_workers();
    };
    if (bound.rehearsed == state()) return;
    if (changes_parameters_) rehearse_slots(bound, in_caller);
    bound.rehearsed = state();
  }
  TWILL_COLD void rehearse_slots(const BoundSlots& bound, bool in_caller) {
    for (int slot = 0; slot < table_.slots; ++slot) {
      const auto rehearse = [&] {
        launch(device(slot),
               [&](const team_t<D>& team) { detail::rehearse(team, table_, bound.numbers, kernels_, slot); });
      };
      if (in_caller)
        rehearse();
      else
        submit(device(slot), rehearse).wait();
    }
  }

  /// Calls `look(data)` where a host can read what lies on a device, behind the work that it was given.
  template <class Look> void look_at(const D& device, const void* data, std::size_t bytes, Look look) {
    if constexpr (HostDevice<D>) {
      launch(device, [=](const team_t<D>&) { look(data); });
    } else {
      copy_.resize(bytes);
      copy_bytes(Cpu{}, copy_.data(), device, data, bytes, CopyOptions{});
      look(copy_.data());
    }
  }

  /// A move: what it copies, from where.
  struct Copy {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0;
    int from_slot = 0;
    int value = 0; ///< that it makes
  };
  [[nodiscard]] Copy copy_of(const Binding& binding, const SlotStep& step) const {
    const std::size_t first = binding.instructions[step.begin].first_operand;
    const auto source = static_cast<std::size_t>(table_.operands[first].value);
    return {binding.operands[first + 1].data, binding.operands[first].data, binding.value_bytes[source],
            table_.values[source].slot, table_.operands[first + 1].value};
  }

  /// Where somebody still records.
  [[nodiscard]] TWILL_COLD SlotRecord<D> new_record_of(BoundSlots& bound) const {
    const auto recorder = run_recorder();
    if (recorder == nullptr) return {};
    std::vector<std::string> names{};
    for (const D& device : devices_) names.push_back(to_string(device));
    const auto describe_run = watcher_ != nullptr ? &new_checked_record : &new_record;
    SlotRecord<D> record{recorder, devices_, describe_run(table_, bound.numbers, std::move(names))};
    if constexpr (!HostDevice<D>) record.reserve(bound.numbers, bound.schedule.steps);
    return record;
  }

  void run_steps(BoundSlots& bound, const SlotRecord<D>& record, detail::UpdateProgress& progress) {
    using Run = SlotRun<D>;
    Run run{devices_, bound.schedule, changes_parameters_ ? Run::Begin::when_all_are_there : Run::Begin::at_once};
    for (std::size_t s = 0; s < bound.schedule.steps.size(); ++s) give_step(run, s, bound, record, progress);
    last_ = run.finish();
  }

  void give_step(SlotRun<D>& run, std::size_t number, BoundSlots& bound, const SlotRecord<D>& record,
                 detail::UpdateProgress& progress) {
    Binding& binding = bound.numbers;
    const SlotStep& step = bound.schedule.steps[number];
    if (step.moves) {
      const Copy copy = copy_of(binding, step);
      run.add_move(number, copy.to, copy.from_slot, copy.from, copy.bytes, record.copy(step));
      return;
    }
    run.add_launch(number, [this, &binding, &step, record, &progress](const team_t<D>& team) {
      run_step(team, binding, step, record, progress);
    });
  }

  /// Hosts rehearse, and so need no progress; there it may be over.
  void run_step(const team_t<D>& team, Binding& binding, const SlotStep& step, const SlotRecord<D>& record,
                [[maybe_unused]] detail::UpdateProgress& progress) {
    if constexpr (HostDevice<D>)
      record ? record.run(team, binding, step, kernels_)
             : run_instructions(team, binding, step.begin, step.end, kernels_);
    else
      record ? record.run(team, binding, step, kernels_, progress)
             : run_instructions(team, binding, step.begin, step.end, kernels_, &progress);
  }
  void watch_step(const team_t<D>& team, Binding& binding, const SlotStep& step, const SlotRecord<D>& record,
                  [[maybe_unused]] detail::UpdateProgress& progress) {
    if constexpr (HostDevice<D>)
      record.run_watched(team, table_, binding, step, kernels_, *watcher_);
    else
      record.run_watched(team, table_, binding, step, kernels_, *watcher_, progress);
  }

  /// Step by step; each has run before the next one begins.
  void run_watched_steps(BoundSlots& bound, const SlotRecord<D>& record, detail::UpdateProgress& progress) {
    Binding& binding = bound.numbers;
    for (const SlotStep& step : bound.schedule.steps) {
      if (step.moves) {
        const Copy copy = copy_of(binding, step);
        const auto timed = record.copy(step);
        timed.begin(device(step.slot));
        copy_bytes(device(step.slot), copy.to, device(copy.from_slot), copy.from, copy.bytes, CopyOptions{});
        timed.end(device(step.slot));
        look_at(device(step.slot), copy.to, copy.bytes, [this, &binding, value = copy.value](const void* data) {
          watcher_->see(table_, binding.symbols, value, data);
        });
      } else {
        launch(device(step.slot), [this, &binding, &step, record, &progress](const team_t<D>& team) {
          watch_step(team, binding, step, record, progress);
        });
      }
      if constexpr (!launches_in_caller<D>()) synchronize(device(step.slot));
    }
  }

  std::vector<D> devices_;
  TableView table_;
  std::span<const Kernel> kernels_;
  Arena arena_mode_;
  Watcher* watcher_ = nullptr;
  bool changes_parameters_;
  SlotNumbers<D> numbers_;
  std::vector<std::optional<memory::Buffer<D>>> arenas_;
  std::vector<Event<D>> last_{};  ///< of the last run
  std::vector<std::byte> copy_{}; ///< of what somebody looks at
  Bindings<BoundSlots> bindings_{};
};

/// The executor of programs with so many slots.
template <ComputeDevice D, int Slots> struct ExecutorOf { using type = SlotExecutor<D>; };
template <ComputeDevice D> struct ExecutorOf<D, 1> { using type = Executor<D>; };
template <ComputeDevice D, int Slots> using executor_t = typename ExecutorOf<D, Slots>::type;

/// What such an executor is made with: the devices of its slots, or its only device.
template <int Slots, ComputeDevice D> [[nodiscard]] decltype(auto) places_of(std::span<const D> devices) {
  if constexpr (Slots == 1)
    return devices.front();
  else
    return devices;
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
