#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs a table on a GPU. Launches copy their operands, so nothing is waited for between runs. Run-time numbers lie in a block
// of device memory that each run writes first, in stream order; so a step can be captured as a graph and still take a new
// rate, seed or step number each time. With a kept arena the second run of a sort is captured, its inputs are copied to
// fixed places behind the arena, and later runs are two launches: the prologue and the graph. An executor works on one
// stream at a time. Read next: compile/gpu/step_graphs.hpp, kernel/gpu/prologue.hpp.

#include <twill/compile/executor.hpp>
#include <twill/compile/gpu/numbers_block.hpp>
#include <twill/compile/gpu/partial_update.hpp>
#include <twill/compile/gpu/run_joined.hpp>
#include <twill/compile/gpu/run_recorded.hpp>
#include <twill/compile/gpu/step_graphs.hpp>
#include <twill/compile/gpu/watch.hpp>
#include <twill/compile/integer_bounds.hpp>
#include <twill/compile/run_groups.hpp>
#include <twill/compile/run_loops.hpp>
#include <twill/compile/run_recorded.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/kernel/gpu/blocks.hpp>
#include <twill/kernel/gpu/index_sums.hpp>
#include <twill/kernel/gpu/joined.hpp>
#include <twill/kernel/gpu/prologue.hpp>
#include <twill/kernel/gpu/row_orders.hpp>
#include <twill/memory/gpu/capture.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

template <ComputeDevice D>
requires gpu::GpuDevice<D>
class Executor<D> {
  using R = typename D::Runtime;
  using Queue = gpu::Queue<R>;
  using Graph = StepGraph<D>;
  using Progress = detail::UpdateProgress;

public:
  using Kernel = KernelFunctionOn<Queue>;

  Executor(D device, TableView table, std::span<const Kernel> kernels, Arena arena)
      : device_{device},
        table_{table},
        kernels_{kernels},
        arena_mode_{arena},
        numbers_{device, table.knobs.size()},
        ranks_{table} {}

  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  [[nodiscard]] const TableView& table() const { return table_; }
  [[nodiscard]] D device() const { return device_; }

  /// Before the first run: what is changed in each binding.
  void edit(const BindingEdit& edit) { bindings_.edit(&edit); }

  /// The bytes of the arena for these sizes, before anything runs.
  [[nodiscard]] std::size_t arena_bytes(const graph::SymbolValues& symbols) {
    return bound_for(symbols).numbers.arena_bytes;
  }

  /// The bytes of the fixed places of inputs behind the arena, which runs need unless they are never captured.
  [[nodiscard]] std::size_t capture_bytes(const graph::SymbolValues& symbols) {
    const BoundRun& bound = bound_for(symbols);
    return bound.all_bytes - rounded(bound.numbers.arena_bytes);
  }

  /// Whether runs may be captured from now on.
  void allow(Capture capture) { capture_ = capture; }
  [[nodiscard]] CaptureReport capture_report() const { return report_; }

  /// Who computes the products, convolutions and attentions of the last run's sizes, the vendor's libraries or kernels of
  /// twill's; empty before the first run.
  [[nodiscard]] std::vector<LibraryChoice> library_choices() const {
    return choices_ == nullptr ? std::vector<LibraryChoice>{} : *choices_;
  }

  /// Runs from now on show what they write, by way of the host, slowly; null: they do not. Returns who watched before.
  Watcher* watch(Watcher* watcher) { return std::exchange(watcher_, watcher); }

  /// Returns when everything that the current stream was given is done.
  void wait() { synchronize(device_); }

  /// Puts one run into the current stream of the device. throws: OutOfMemoryError when the arena does not fit, GpuError,
  /// PartialUpdateError when launches that change weights had been made by then
  void run(const graph::SymbolValues& symbols, const RunArguments& arguments) {
    run_bound(bound_for(symbols), arguments);
  }

  /// The same for inputs of these shapes. throws: ShapeError when they do not fit the table or each other
  void run_on(std::span<const Dims> shapes, const RunArguments& arguments) {
    run_bound(prepared(bindings_.at(table_, shapes, [] {})), arguments);
  }

private:
  /// An input that is read, and its fixed place, counted from the first byte of the arena.
  struct FixedInput {
    std::size_t index = 0;
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };

  struct BoundRun : Bound {
    std::vector<FixedInput> inputs{};
    std::size_t all_bytes = 0;    ///< of the arena and the fixed places
    std::size_t first_update = 0; ///< the launch that is the first to change weights
    bool is_prepared = false;
    std::shared_ptr<std::vector<LibraryChoice>> choices{}; ///< made in the first run
    StepGraphs<D> graphs{};
  };

  [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) {
    constexpr std::size_t granule = 512; // as the pool rounds
    return (bytes + granule - 1) / granule * granule;
  }

  BoundRun& bound_for(const graph::SymbolValues& symbols) {
    return prepared(bindings_.at(table_, symbols, [] {}));
  }

  BoundRun& prepared(BoundRun& bound) {
    if (bound.is_prepared) return bound;
    bound.inputs.clear(); // of an attempt that failed
    place_numbers(bound, numbers_.data());
    bound.all_bytes = rounded(bound.numbers.arena_bytes);
    for (std::size_t v = 0; v < table_.values.size(); ++v) {
      const ValueInfo& value = table_.values[v];
      if (value.storage != Storage::input || value.first_use < 0) continue;
      bound.inputs.push_back({static_cast<std::size_t>(value.index), bound.all_bytes, bound.numbers.value_bytes[v]});
      bound.all_bytes += rounded(bound.numbers.value_bytes[v]);
    }
    bound.first_update = detail::first_update(table_, bound.numbers);
    bound.is_prepared = true;
    return bound;
  }

  /// Why no run of this executor is captured; empty when they are.
  [[nodiscard]] std::string_view objection() const {
    if (arena_mode_ == Arena::for_each_run) return "the arena is taken from the pool for each run";
    if (capture_ == Capture::never) return "capturing was switched off";
    return {};
  }

  void run_bound(BoundRun& bound, const RunArguments& given) {
    std::vector<std::uint64_t> knobs{};
    RunArguments arguments = given;
    if (!ranks_.is_empty()) {
      knobs.assign(given.knobs.begin(), given.knobs.end());
      ranks_.write(knobs, given.groups);
      arguments.knobs = knobs;
    }
    const std::string_view objects =
        bound.numbers.collectives.empty() ? objection() : "the program calls groups of ranks between its launches";
    const bool copies_inputs = objects.empty() && !arguments.inputs_stay && arguments.interlude == nullptr;
    const std::size_t bytes = copies_inputs ? bound.all_bytes : bound.numbers.arena_bytes;
    if (!arena_ || arena_->bytes() < bytes) {
      arena_.reset(); // before the larger one is made, so that the two never exist together
      arena_.emplace(device_, bytes);
    }
    [[maybe_unused]] const RunRange range{table_, bound.numbers};
    std::optional<gpu::ChoicesOfRun> choosing{};
    if (bound.choices == nullptr) { // no first run is a captured graph's
      bound.choices = std::make_shared<std::vector<LibraryChoice>>();
      choosing.emplace(*bound.choices);
    }
    choices_ = bound.choices;
    launch(device_, [&](const Queue& queue) {
      numbers_.note_stream(queue.stream());
      detail::run_with_updates(bound.first_update, [&](Progress& progress) {
        if (watcher_ != nullptr)
          run_watched(queue, bound, arguments, progress);
        else if (const auto recorder = records_runs() ? run_recorder() : nullptr; recorder != nullptr)
          run_recorded(queue, bound, arguments, *recorder, progress);
        else if (arguments.interlude != nullptr)
          run_plain(queue, bound, arguments, "the host acts in between", progress);
        else if (objects.empty())
          run_captured(queue, bound, arguments, progress);
        else
          run_plain(queue, bound, arguments, objects, progress);
      });
    });
    if (arena_mode_ == Arena::for_each_run) arena_.reset();
  }

  void run_plain(const Queue& queue, BoundRun& bound, const RunArguments& arguments, std::string_view reason,
                 Progress& progress) {
    report_.reason = reason; // before anything runs: it may throw, and a run that was given to the device has been made
    place_operands(bound, arena_->data(), arguments);
    kernel::gpu::enqueue_prologue(queue, arguments.knobs, numbers_.data(), {});
    run_between_calls(bound.numbers, arguments, [&](std::size_t begin, std::size_t end) {
      run_instructions(queue, bound.numbers, begin, end, kernels_, &progress);
    });
    ++report_.plain_runs;
  }

  /// Launch by launch, each behind a timer.
  TWILL_COLD void run_recorded(const Queue& queue, BoundRun& bound, const RunArguments& arguments,
                               RunRecorder& recorder, Progress& progress) {
    gpu::Capturing outer = gpu::Capturing::no;
    gpu::check<R>(R::capturing(queue.stream(), &outer), "capturing", device_.index);
    if (outer != gpu::Capturing::no)
      return run_plain(queue, bound, arguments, "the program itself is recording a graph, which no trace looks into",
                       progress);
    report_.reason = "the run was traced"; // which may throw, as the next ones: before anything runs
    RunPlace place{recorder};
    const auto run = timed_run(recorder, device_, queue, new_record(table_, bound.numbers, {to_string(device_)}));
    run->reserve(launches_between(bound.numbers, 0, bound.numbers.instructions.size()));
    place_operands(bound, arena_->data(), arguments);
    kernel::gpu::enqueue_prologue(queue, arguments.knobs, numbers_.data(), {});
    Binding& binding = bound.numbers;
    run_between_calls(
        binding, arguments,
        [&](std::size_t begin, std::size_t end) {
          run->begin(gpu::AnyStream{queue.stream()});
          for_each_launch(binding, begin, end, [&](const BoundInstruction* launch) {
            run_launch(queue, binding, launch, kernels_);
            progress.given(number_of(binding, *launch));
            run->end(gpu::AnyStream{queue.stream()}, number_of(binding, *launch));
          });
        },
        [&](const BoundInstruction& call) {
          run->begin(gpu::AnyStream{queue.stream()});
          call_group(binding, call, arguments.groups);
          run->end(gpu::AnyStream{queue.stream()}, number_of(binding, call));
        });
    run->finish();
    place.fill(run);
    ++report_.plain_runs;
  }

  /// Launch by launch; what each has written is copied to the host.
  void run_watched(const Queue& queue, BoundRun& bound, const RunArguments& arguments, Progress& progress) {
    gpu::require_no_recording<R>("watch", device_.index);
    place_operands(bound, arena_->data(), arguments);
    kernel::gpu::enqueue_prologue(queue, arguments.knobs, numbers_.data(), {});
    const graph::SymbolValues& symbols = bound.numbers.symbols;
    std::vector<std::byte> copy{};
    for (const graph::IntegerBounds& bounds : table_.bounds) {
      const auto index = static_cast<std::size_t>(bounds.input);
      const graph::InputInfo& input = table_.inputs[index];
      const auto count = static_cast<std::size_t>(input.shape.elements().evaluate(symbols));
      detail::check_integers(table_, symbols, bounds,
                             detail::on_the_host(queue, arguments.inputs[index], count * size_of(input.dtype), copy));
    }
    report_.reason = "the run was watched";
    const auto recorder = records_runs() ? run_recorder() : nullptr;
    std::optional<RunPlace> place{};
    std::shared_ptr<gpu::TimedRun> timed{};
    if (recorder != nullptr) {
      place.emplace(*recorder);
      timed = timed_run(*recorder, device_, queue, new_checked_record(table_, bound.numbers, {to_string(device_)}));
      timed->reserve(launches_between(bound.numbers, 0, bound.numbers.instructions.size()));
    }
    run_between_calls(bound.numbers, arguments, [&](std::size_t begin, std::size_t end) {
      compile::run_watched(queue, table_, bound.numbers, begin, end, kernels_, *watcher_, timed.get(), progress);
    });
    if (timed != nullptr) timed->finish();
    if (place) place->fill(std::move(timed));
    ++report_.plain_runs;
  }

  void run_captured(const Queue& queue, BoundRun& bound, const RunArguments& arguments, Progress& progress) {
    gpu::Capturing outer = gpu::Capturing::no;
    gpu::check<R>(R::capturing(queue.stream(), &outer), "capturing", device_.index);
    if (outer != gpu::Capturing::no)
      return run_plain(queue, bound, arguments,
                       "the program itself is recording a graph, which freezes this run's numbers", progress);
    Graph& step = bound.graphs.at({.arena = arena_->data(),
                                   .first_row = bound.numbers.random.empty() ? 0 : arguments.first_row,
                                   .parameters = arguments.parameters,
                                   .outputs = arguments.outputs,
                                   .inputs = arguments.inputs_stay ? arguments.inputs : std::span<void* const>{}});
    if (step.state == Graph::State::unseen) {
      step.state = Graph::State::seen;
      return run_plain(queue, bound, arguments, "the first run with these shapes and addresses is never captured",
                       progress);
    }
    fix_inputs(bound, arguments);
    if (step.state == Graph::State::seen) {
      step.graph = capture(bound, arguments);
      step.state = step.graph ? Graph::State::ready : Graph::State::refused;
      report_.captures += step.graph ? 1 : 0;
    }
    if (step.state == Graph::State::refused) return run_plain(queue, bound, arguments, step.graph.reason(), progress);
    kernel::gpu::enqueue_prologue(queue, arguments.knobs, numbers_.data(), copies_);
    step.graph.launch();
    ++report_.graph_runs;
    report_.reason.clear();
  }

  /// The copies of a run's inputs to their fixed places.
  void fix_inputs(const BoundRun& bound, const RunArguments& arguments) {
    copies_.clear();
    if (arguments.inputs_stay) return;
    for (const FixedInput& input : bound.inputs)
      copies_.push_back({arguments.inputs[input.index], static_cast<std::byte*>(arena_->data()) + input.offset,
                         static_cast<std::int64_t>(input.bytes)});
  }

  /// Records all launches of a run on the fixed inputs. Empty when that is impossible, and then it tells why.
  [[nodiscard]] gpu::CapturedGraph<D> capture(BoundRun& bound, const RunArguments& arguments) {
    std::vector<void*> fixed(arguments.inputs.begin(), arguments.inputs.end());
    for (std::size_t i = 0; i < copies_.size(); ++i) fixed[bound.inputs[i].index] = copies_[i].to;
    RunArguments on_fixed = arguments;
    on_fixed.inputs = fixed;
    place_operands(bound, arena_->data(), on_fixed);
    return gpu::capture(device_, [&] {
      launch(device_, [&](const Queue& recorder) {
        run_instructions(recorder, bound.numbers, 0, bound.numbers.instructions.size(), kernels_);
      });
    });
  }

  D device_;
  TableView table_;
  std::span<const Kernel> kernels_;
  Arena arena_mode_;
  Capture capture_ = Capture::automatic;
  Watcher* watcher_ = nullptr;
  NumbersBlock<D> numbers_;
  RankNumbers ranks_;
  CaptureReport report_{};
  std::shared_ptr<const std::vector<LibraryChoice>> choices_{}; ///< of the last run's sizes
  std::vector<kernel::gpu::CopiedInput> copies_{};              ///< of the run under way
  std::optional<memory::Buffer<D>> arena_{};
  Bindings<BoundRun> bindings_{};
};

} // namespace twill::inline v0::compile::inline TWILL_ISA
