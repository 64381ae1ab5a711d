#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Executor of a table: a loop over the segments of a binding, each given to the device of its slot. There is one class
// for each device kind, not for each graph. The arenas are kept between runs, so that a steady step allocates nothing,
// or taken from the pool for each run. Programs of one slot go to the device's stream and may run late, so an executor
// outlives its tasks; those of several slots are done on host devices when a run returns. A GPU adds graphs, timers and
// blocks of numbers (compile/run/gpu/). Read next: compile/plan/segments.hpp, compile/function.hpp.

#include <twill/compile/run/bindings.hpp>
#include <twill/compile/run/capture.hpp>
#include <twill/compile/run/groups.hpp>
#include <twill/compile/run/integer_bounds.hpp>
#include <twill/compile/run/launch.hpp>
#include <twill/compile/run/numbers.hpp>
#include <twill/compile/run/observer.hpp>
#include <twill/compile/run/partial_update.hpp>
#include <twill/compile/run/slots.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/device/device.hpp>
#include <twill/memory/buffer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Runs the programs of one table. `Several`: its values are in several device slots, whose devices may repeat.
template <ComputeDevice D, bool Several = false> class Executor {
  using CaptureOf = RunCapture<D, Several>;

public:
  using Kernel = KernelFunctionOn<team_t<D>>;

  /// requires: a device for each slot
  Executor(std::span<const D> devices, TableView table, std::span<const Kernel> kernels, Arena arena)
      : devices_(devices.begin(), devices.end()),
        table_{table},
        kernels_{kernels},
        arena_mode_{arena},
        changes_parameters_{detail::changes_parameters(table)},
        ranks_{table},
        numbers_{devices_, table},
        capture_{arena},
        arenas_(Several ? static_cast<std::size_t>(table.slots) : 1) {} // a program may use fewer than there are
  Executor(const D& device, TableView table, std::span<const Kernel> kernels, Arena arena) requires(!Several)
      : Executor(std::span<const D>{&device, 1}, table, kernels, arena) {}

  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor() {
    if constexpr (HostDevice<D> || Several) {
      try {
        wait();
      } catch (...) { // the caller that waited for the run has the error
      }
    }
  }

  [[nodiscard]] const TableView& table() const { return table_; }
  [[nodiscard]] std::span<const D> devices() const { return devices_; }

  /// Sets a change of each binding, before the first run.
  void edit(const BindingEdit& edit) { bindings_.edit(&edit); }

  /// The bytes of the arena of a slot for these sizes, before anything runs.
  [[nodiscard]] std::size_t arena_bytes(const graph::SymbolValues& symbols, int slot) {
    return bound_for(symbols).numbers.arenas[static_cast<std::size_t>(slot)].bytes;
  }
  /// The bytes of the arenas of all slots together.
  [[nodiscard]] std::size_t arena_bytes(const graph::SymbolValues& symbols) {
    std::size_t bytes = 0;
    for (const SlotArena& arena : bound_for(symbols).numbers.arenas) bytes += arena.bytes;
    return bytes;
  }
  /// The bytes that a captured run needs besides the arena.
  [[nodiscard]] std::size_t capture_bytes(const graph::SymbolValues& symbols) {
    const BoundRun& bound = bound_for(symbols);
    return CaptureOf::bytes_beside(bound.captured, bound.numbers);
  }

  /// Whether runs may be captured from now on, on devices that have graphs.
  void allow(Capture capture) { capture_.allow(capture); }
  [[nodiscard]] CaptureReport capture_report() const { return capture_.report(); }
  /// Computed by a vendor's libraries or by twill's kernels: the products, convolutions and attentions of the last
  /// run's sizes; empty before the first run.
  [[nodiscard]] auto library_choices() const requires requires(const CaptureOf& capture) { capture.library_choices(); }
  { return capture_.library_choices(); }

  /// Sets a watcher of runs from now on: they show what they write, slowly, one instruction after another; null: they
  /// do not. Returns the watcher before.
  Watcher* watch(Watcher* watcher) {
    if constexpr (HostDevice<D> || Several) wait();
    return std::exchange(watcher_, watcher);
  }

  /// Returns when the last run is done. throws: the run's error
  void wait() {
    if constexpr (Several) {
      for (const event_t<D>& event : std::exchange(last_, {})) event.wait();
    } else if constexpr (HostDevice<D>) {
      if (running_.load(std::memory_order_acquire)) synchronize(devices_.front());
    } else {
      synchronize(devices_.front());
    }
  }

  /// Gives one run to the devices.
  /// throws: OutOfMemoryError when an arena does not fit, IndexError for indices, labels and lengths that point
  /// outside, GpuError, PartialUpdateError when launches that change weights had been made by then
  void run(const graph::SymbolValues& symbols, const RunArguments& arguments) {
    run_bound(bound_for(symbols), arguments);
  }

  /// One run on inputs of these shapes. throws: ShapeError when they do not fit the table or each other
  void run_on(std::span<const Dims> shapes, const RunArguments& arguments) {
    run_bound(prepared(bindings_.at(table_, shapes, [this] { wait(); })), arguments);
  }

private:
  struct BoundRun : Bound {
    typename CaptureOf::OfBinding captured{};
    std::size_t first_update = 0; ///< on GPUs the first launch that changes weights
    bool is_prepared = false;
  };

  BoundRun& bound_for(const graph::SymbolValues& symbols) {
    return prepared(bindings_.at(table_, symbols, [this] { wait(); }));
  }

  BoundRun& prepared(BoundRun& bound) {
    if (bound.is_prepared) return bound;
    numbers_.place(bound.numbers);
    CaptureOf::prepare(bound.captured, table_, bound.numbers);
    if constexpr (!HostDevice<D>)
      bound.first_update = detail::first_update(table_, bound.numbers);
    else if constexpr (D::has_memory)
      resolve_small_launches(bound.numbers, kernels_);
    bound.is_prepared = true;
    return bound;
  }

  [[nodiscard]] const D& device(int slot) const { return devices_[static_cast<std::size_t>(slot)]; }

  void run_bound(BoundRun& bound, const RunArguments& arguments) {
    const ArenasOfRun one_run{*this};
    take_arenas(bound, arguments);
    if constexpr (D::has_memory) {
      if constexpr (HostDevice<D>) wait(); // tasks read the operands
      if (launches_in_caller<D>() || (!HostDevice<D> && watcher_ != nullptr))
        check_integers(std::span<const D>{devices_}, table_, bound.numbers.symbols, arguments.inputs);
      if constexpr (Several) require_plain(bound.numbers, arguments);
      if constexpr (Several && launches_in_caller<D>()) reserve_in_slots(bound);
      [[maybe_unused]] const RunRange range{table_, bound.numbers};
      RunObserver<D> observer = observer_of(bound);
      const std::span<const std::uint64_t> numbers = ranks_.added_to(arguments.run_scalars, arguments.groups);
      if constexpr (HostDevice<D>) {
        numbers_.write(numbers);
        place(bound, arguments);
        run_segments(bound, arguments, observer, nullptr);
      } else {
        capture_.run(
            {devices_.front(), bound.numbers, bound.captured, arenas_.front()->data(), arguments, bound.first_update,
             observer.objection()},
            [&](auto... copies) { numbers_.write(numbers, copies...); },
            [&](const RunArguments& at, detail::UpdateProgress* progress) {
              place(bound, at);
              run_segments(bound, at, observer, progress);
            });
      }
      observer.end();
    }
  }

  /// Gives up the arenas after a run, also after one that throws.
  struct ArenasOfRun {
    explicit ArenasOfRun(Executor& own) : executor{own} {}
    ArenasOfRun(const ArenasOfRun&) = delete;
    ArenasOfRun& operator=(const ArenasOfRun&) = delete;
    ~ArenasOfRun() {
      if (executor.arena_mode_ == Arena::for_each_run)
        for (auto& arena : executor.arenas_) arena.reset();
    }
    Executor& executor;
  };

  void take_arenas(const BoundRun& bound, const RunArguments& arguments) {
    for (std::size_t slot = 0; slot < arenas_.size(); ++slot) {
      const std::size_t bytes =
          Several ? bound.numbers.arenas[slot].bytes : capture_.bytes(bound.captured, bound.numbers, arguments);
      if (arenas_[slot] && arenas_[slot]->bytes() >= bytes) continue;
      arenas_[slot].reset(); // before the larger one is made, so that the two never exist together
      arenas_[slot].emplace(devices_[slot], bytes);
    }
  }

  /// throws: ValueError when a run in several slots would stop for its host or its group
  static void require_plain(const Binding& binding, const RunArguments& arguments) {
    bool calls_groups = false;
    for (const Segment& segment : binding.segments.list)
      calls_groups = calls_groups || segment.kind == Segment::Kind::collective;
    if (calls_groups || arguments.callback != nullptr)
      throw ValueError(
          "run: a program in several device slots takes no calls of groups of ranks and no host callbacks");
  }

  /// Lets each slot's device reserve the memory of the run, in the thread that will run it. throws: std::bad_alloc
  void reserve_in_slots(BoundRun& bound) {
    const bool in_caller = watcher_ != nullptr || runs_in_order<D>(devices_);
    const auto state = [&] {
      return in_caller ? kernel::Scratch::state_of_thread() : kernel::Scratch::state_of_workers();
    };
    if (bound.reserved == state()) return;
    for (int slot = 0; changes_parameters_ && slot < table_.slots; ++slot) {
      const auto reserve = [&] {
        launch(device(slot), [&](const team_t<D>& team) {
          detail::reserve_working_memory(team, table_, bound.numbers, kernels_, slot);
        });
      };
      if (in_caller)
        reserve();
      else
        submit(device(slot), reserve).wait();
    }
    bound.reserved = state();
  }

  [[nodiscard]] RunObserver<D> observer_of(BoundRun& bound) const {
    const auto recorder = records_runs() ? run_recorder() : nullptr;
    if (recorder == nullptr && watcher_ == nullptr) [[likely]]
      return {};
    return {recorder, watcher_, std::span<const D>{devices_}, table_, bound.numbers};
  }

  /// The addresses of all operands but the numbers'.
  void place(BoundRun& bound, const RunArguments& arguments) {
    if constexpr (!Several) return place_operands(bound, arenas_.front()->data(), arguments);
    kernel::Operand* const operands = bound.numbers.operands.data();
    for (const OutsideOperand& operand : bound.numbers.inside) {
      const auto value = static_cast<std::size_t>(table_.operands[operand.operand].value);
      const auto slot = static_cast<std::size_t>(table_.values[value].slot);
      const std::size_t offset = operand.index - bound.numbers.arenas[slot].first;
      operands[operand.operand].data = static_cast<std::byte*>(arenas_[slot]->data()) + offset + operand.start;
    }
    place_outside(bound, arguments);
  }

  /// The order of segments in one slot, which is that of its device.
  struct InOneSlot {
    InOneSlot(std::span<const D>, const Segments&, bool, bool) {}
  };

  /// Gives the segments to the devices one by one, cut where the host acts in between. GPUs count their progress.
  void run_segments(BoundRun& bound, const RunArguments& arguments, const RunObserver<D>& observer,
                    detail::UpdateProgress* progress) {
    Binding& binding = bound.numbers;
    require_groups(binding, arguments.groups);
    HostCallbackPlaces host{arguments.callback, binding};
    using Run = std::conditional_t<Several, SlotRun<D>, InOneSlot>;
    Run run{devices_, binding.segments, changes_parameters_, observer.watches()};
    for (std::size_t number = 0; number < binding.segments.list.size(); ++number) {
      Segment segment = binding.segments.list[number];
      for (; host.is_before(segment.end); host.act()) {
        Segment before = segment;
        before.end = segment.begin = host.next();
        if (before.begin < before.end) run_launches(run, number, bound, before, observer, progress);
      }
      switch (segment.kind) {
      case Segment::Kind::launches:
      case Segment::Kind::loop:
        run_launches(run, number, bound, segment, observer, progress);
        break;
      case Segment::Kind::copy:
        if constexpr (Several) run_copy(run, number, binding, observer);
        break;
      case Segment::Kind::collective:
        observer.time(devices_.front(), segment,
                      [&] { call_group(binding, binding.instructions[segment.begin], arguments.groups); });
        break;
      }
    }
    host.finish();
    if constexpr (Several) last_ = run.finish();
  }

  template <class Run>
  void run_launches([[maybe_unused]] Run& run, [[maybe_unused]] std::size_t number, BoundRun& bound,
                    const Segment& segment, const RunObserver<D>& observer, detail::UpdateProgress* progress) {
    if constexpr (HostDevice<D> && !Several) running_.store(true, std::memory_order_relaxed);
    auto task = [this, &bound, segment, observer, progress](const team_t<D>& team) {
      Binding& binding = bound.numbers;
      if constexpr (HostDevice<D> && !Several) reserve_working_memory(team, table_, bound, kernels_);
      if (observer) [[unlikely]]
        observer.run(team, table_, binding, segment, kernels_, progress);
      else if constexpr (HostDevice<D>)
        run_segment(team, binding, segment, kernels_);
      else
        run_segment(team, binding, segment, kernels_, *progress);
      if constexpr (HostDevice<D> && !Several)
        if (segment.end == binding.instructions.size()) running_.store(false, std::memory_order_release);
    };
    if constexpr (Several)
      run.add_launch(number, std::move(task));
    else
      launch(devices_.front(), std::move(task));
    if constexpr (Several && !launches_in_caller<D>())
      if (observer.watches()) synchronize(device(segment.slot));
  }

  template <class Run>
  void run_copy(Run& run, std::size_t number, const Binding& binding, const RunObserver<D>& observer) {
    const Segment& segment = binding.segments.list[number];
    const std::size_t operand = binding.instructions[segment.begin].first_operand;
    const auto source = static_cast<std::size_t>(table_.operands[operand].value);
    const std::size_t bytes = binding.value_bytes[source];
    void* const to = binding.operands[operand + 1].data;
    run.add_move(number, to, table_.values[source].slot, binding.operands[operand].data, bytes, observer.copy(segment));
    if (!observer.watches()) return;
    if constexpr (!launches_in_caller<D>()) synchronize(device(segment.slot));
    look_at(device(segment.slot), to, bytes,
            [this, &binding, value = table_.operands[operand + 1].value](const void* data) {
              watcher_->see(table_, binding.symbols, value, data);
            });
  }

  std::vector<D> devices_;
  TableView table_;
  std::span<const Kernel> kernels_;
  Arena arena_mode_;
  bool changes_parameters_;
  Watcher* watcher_ = nullptr;
  RankNumbers ranks_;
  RunNumbers<D> numbers_;
  CaptureOf capture_;
  std::vector<std::optional<memory::Buffer<D>>> arenas_;
  std::atomic<bool> running_{false}; ///< a task of the last run, in one slot of a host device
  std::vector<event_t<D>> last_{};   ///< of the last run in several slots
  Bindings<BoundRun> bindings_{};
};

/// The executor of programs with a number of slots.
template <ComputeDevice D, int Slots> using executor_t = Executor<D, (Slots > 1)>;

}}}} // namespace twill::v0::compile::TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {
TWILL_INSTANCE template class Executor<Cpu>;
}}}} // namespace twill::v0::compile::TWILL_ISA
#endif
