#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Captured runs on a GPU. With a kept arena the second run with the same sizes and addresses is recorded as a graph;
// its inputs are copied to fixed places after the arena, and later runs are two launches: the prologue, which writes
// the numbers and copies the inputs, and the graph. Launches copy their operands, so runs do not wait for each other.
// An executor works on one stream at a time. Read next: kernel/gpu/prologue.hpp.

#include <twill/compile/run/capture.hpp>
#include <twill/core/config.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/kernel/gpu/prologue.hpp>
#include <twill/memory/gpu/capture.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace compile {

/// The frozen values of a captured run, besides its numbers' block.
struct FrozenAddresses {
  const void* arena = nullptr;
  std::int64_t first_row = 0; ///< 0 where nothing is drawn
  std::span<void* const> parameters{};
  std::span<void* const> outputs{};
  std::span<void* const> inputs{}; ///< those with fixed addresses; others are copied to fixed places
};

/// One kind of run, and its graph once there is one.
template <gpu::GpuDevice D> class StepGraph {
public:
  enum class State : unsigned char { unseen, seen, ready, refused };

  explicit StepGraph(const FrozenAddresses& frozen)
      : arena_{frozen.arena},
        first_row_{frozen.first_row},
        parameters_(frozen.parameters.begin(), frozen.parameters.end()),
        outputs_(frozen.outputs.begin(), frozen.outputs.end()),
        inputs_(frozen.inputs.begin(), frozen.inputs.end()) {}

  [[nodiscard]] bool is_for(const FrozenAddresses& frozen) const {
    const auto equal = [](const std::vector<void*>& own, std::span<void* const> other) {
      return std::equal(own.begin(), own.end(), other.begin(), other.end());
    };
    return arena_ == frozen.arena && first_row_ == frozen.first_row && equal(parameters_, frozen.parameters) &&
           equal(outputs_, frozen.outputs) && equal(inputs_, frozen.inputs);
  }

  State state = State::unseen;
  gpu::CapturedGraph<D> graph{}; ///< when ready; when refused it gives the reason

private:
  const void* arena_;
  std::int64_t first_row_;
  std::vector<void*> parameters_;
  std::vector<void*> outputs_;
  std::vector<void*> inputs_;
};

/// A few graphs, those that were used last.
template <gpu::GpuDevice D> class StepGraphs {
public:
  /// The record of a kind of run.
  StepGraph<D>& at(const FrozenAddresses& frozen) {
    for (std::size_t i = 0; i < graphs_.size(); ++i)
      if (graphs_[i]->is_for(frozen)) {
        std::rotate(graphs_.begin(), graphs_.begin() + static_cast<std::ptrdiff_t>(i),
                    graphs_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return *graphs_.front();
      }
    if (graphs_.size() == most_graphs) graphs_.pop_back();
    graphs_.insert(graphs_.begin(), std::make_unique<StepGraph<D>>(frozen));
    return *graphs_.front();
  }

private:
  static constexpr std::size_t most_graphs = 32; ///< micro-batches of one step differ in their first row

  std::vector<std::unique_ptr<StepGraph<D>>> graphs_{};
};

}}} // namespace twill::v0::compile

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

template <ComputeDevice D>
requires gpu::GpuDevice<D>
class RunCapture<D, false> {
  using R = typename D::Runtime;
  using Graph = StepGraph<D>;
  using Choices = std::vector<LibraryChoice>;

  /// An input that is read, and its fixed place, counted from the first byte of the arena.
  struct FixedInput {
    std::size_t index = 0;
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };

public:
  struct OfBinding {
    std::vector<FixedInput> inputs{};
    std::size_t all_bytes = 0;          ///< of the arena and the fixed places
    bool calls_groups = false;          ///< of ranks, between launches
    std::shared_ptr<Choices> choices{}; ///< made in the first run
    StepGraphs<D> graphs{};
  };
  using Run = CapturableRun<D, OfBinding>;

  explicit RunCapture(Arena arena) : arena_mode_{arena} {}

  void allow(Capture capture) { capture_ = capture; }
  [[nodiscard]] CaptureReport report() const { return report_; }
  [[nodiscard]] Choices library_choices() const { return choices_ == nullptr ? Choices{} : *choices_; }

  static void prepare(OfBinding& state, const TableView& table, const Binding& binding) {
    state.inputs.clear(); // of an attempt that failed
    state.all_bytes = rounded(binding.arena_bytes);
    for (std::size_t v = 0; v < table.values.size(); ++v) {
      const ValueInfo& value = table.values[v];
      if (value.storage != Storage::input || value.first_use < 0) continue;
      state.inputs.push_back({static_cast<std::size_t>(value.index), state.all_bytes, binding.value_bytes[v]});
      state.all_bytes += rounded(binding.value_bytes[v]);
    }
    for (const Segment& segment : binding.segments.list)
      state.calls_groups = state.calls_groups || segment.kind == Segment::Kind::collective;
  }

  [[nodiscard]] std::size_t bytes(const OfBinding& state, const Binding& binding, const RunArguments& arguments) const {
    const bool copies_inputs = objection(state, arguments).empty() && !arguments.inputs_stay;
    return copies_inputs ? state.all_bytes : binding.arena_bytes;
  }
  [[nodiscard]] static std::size_t bytes_beside(const OfBinding& state, const Binding& binding) {
    return state.all_bytes - rounded(binding.arena_bytes);
  }

  /// Runs by a graph where there is one, else by `write_numbers()` and `launch_all(arguments, progress)`; the numbers
  /// of a graph are written by `write_numbers(copies)`.
  template <class Write, class Launch> void run(const Run& run, const Write& write_numbers, const Launch& launch_all) {
    std::optional<gpu::ChoicesOfRun> choosing{};
    if (run.state.choices == nullptr) { // the first run is never a graph's
      run.state.choices = std::make_shared<Choices>();
      choosing.emplace(*run.state.choices);
    }
    choices_ = run.state.choices;
    const auto run_plain = [&](std::string_view reason) {
      report_.reason = reason; // before anything runs, since this may throw
      detail::run_with_updates(run.first_update, [&](detail::UpdateProgress& progress) {
        write_numbers();
        launch_all(run.arguments, &progress);
      });
      ++report_.plain_runs;
    };
    if (run.objection != nullptr) return run_plain(run.objection);
    if (const std::string_view why = objection(run.state, run.arguments); !why.empty()) return run_plain(why);
    if (is_recorded_by_program(run.device))
      return run_plain("the program itself is recording a graph, which freezes this run's numbers");
    Graph& step = run.state.graphs.at(frozen(run));
    if (step.state == Graph::State::unseen) {
      step.state = Graph::State::seen;
      return run_plain("the first run with these shapes and addresses is never captured");
    }
    fix_inputs(run);
    if (step.state == Graph::State::seen) {
      step.graph = record(run, launch_all);
      step.state = step.graph ? Graph::State::ready : Graph::State::refused;
      report_.captures += step.graph ? 1 : 0;
    }
    if (step.state == Graph::State::refused) return run_plain(step.graph.reason());
    write_numbers(std::span<const kernel::gpu::CopiedInput>{copies_});
    step.graph.launch();
    ++report_.graph_runs;
    report_.reason.clear();
  }

private:
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) {
    constexpr std::size_t granule = 512; // as the pool rounds
    return (bytes + granule - 1) / granule * granule;
  }

  /// The reason why no such run is captured; empty when they are.
  [[nodiscard]] std::string_view objection(const OfBinding& state, const RunArguments& arguments) const {
    if (arguments.callback != nullptr) return "the host acts in between";
    if (state.calls_groups) return "the program calls groups of ranks between its launches";
    if (arena_mode_ == Arena::for_each_run) return "the arena is taken from the pool for each run";
    if (capture_ == Capture::never) return "capturing was switched off";
    return {};
  }

  [[nodiscard]] static bool is_recorded_by_program(const D& device) {
    gpu::Capturing outer = gpu::Capturing::no;
    launch(device, [&](const gpu::Queue<R>& queue) {
      gpu::check<R>(R::capturing(queue.stream(), &outer), "capturing", device.index);
    });
    return outer != gpu::Capturing::no;
  }

  [[nodiscard]] static FrozenAddresses frozen(const Run& run) {
    const RunArguments& arguments = run.arguments;
    return {.arena = run.arena,
            .first_row = run.binding.random.empty() ? 0 : arguments.first_row,
            .parameters = arguments.parameters,
            .outputs = arguments.outputs,
            .inputs = arguments.inputs_stay ? arguments.inputs : std::span<void* const>{}};
  }

  /// The copies of a run's inputs to their fixed places.
  void fix_inputs(const Run& run) {
    copies_.clear();
    if (run.arguments.inputs_stay) return;
    for (const FixedInput& input : run.state.inputs)
      copies_.push_back({run.arguments.inputs[input.index], static_cast<std::byte*>(run.arena) + input.offset,
                         static_cast<std::int64_t>(input.bytes)});
  }

  /// Records all launches of a run on the fixed inputs. Empty when that is impossible, with the reason.
  template <class Launch> [[nodiscard]] gpu::CapturedGraph<D> record(const Run& run, const Launch& launch_all) {
    std::vector<void*> fixed(run.arguments.inputs.begin(), run.arguments.inputs.end());
    for (std::size_t i = 0; i < copies_.size(); ++i) fixed[run.state.inputs[i].index] = copies_[i].to;
    RunArguments on_fixed = run.arguments;
    on_fixed.inputs = fixed;
    detail::UpdateProgress nothing_runs{run.binding.instructions.size()};
    return gpu::capture(run.device, [&] { launch_all(on_fixed, &nothing_runs); });
  }

  Arena arena_mode_;
  Capture capture_ = Capture::automatic;
  CaptureReport report_{};
  std::shared_ptr<const Choices> choices_{};       ///< of the last run's sizes
  std::vector<kernel::gpu::CopiedInput> copies_{}; ///< of the current run
};

}}}} // namespace twill::v0::compile::TWILL_ISA
