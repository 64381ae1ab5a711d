#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Programs of training steps: one for each combination of argument types, with its arena and its copy of the run-time
// numbers, and the program of an update by a rule. All steps, on one device or several, check their arguments, write
// their numbers and run their programs here. Read next: training/train_step.hpp.

#include <twill/compile/arguments.hpp>
#include <twill/compile/plan/memory_use.hpp>
#include <twill/compile/run/executor.hpp>
#include <twill/compile/run_scalars.hpp>
#include <twill/compile/table_for.hpp>
#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/network.hpp>
#include <twill/optim/update.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace training { namespace detail { inline namespace TWILL_ISA {

/// `Step<Targets...>` for the arguments that follow the inputs of model M.
template <template <class...> class Step, class M, class... Tensors> struct SourceFor {
  static constexpr std::size_t inputs = std::tuple_size_v<nn::inputs_t<M>>;

  template <std::size_t... I>
  static auto step(std::index_sequence<I...>)
      -> Step<compile::argument_t<std::tuple_element_t<inputs + I, std::tuple<Tensors...>>>...>;
  using type = decltype(step(std::make_index_sequence<sizeof...(Tensors) - inputs>{}));
};

/// A run-time number shared by a program and the model, and its place in both.
struct SharedNumber {
  std::size_t in_program = 0;
  std::size_t in_model = 0;
};

/// The first element of a tensor, or of its row-major copy, which is stored in `copy`.
template <AnyTensor X> [[nodiscard]] void* row_major_address(const X& tensor, std::optional<X>& copy) {
  if (tensor.is_contiguous()) return tensor.data();
  return copy.emplace(tensor.clone()).data();
}

/// The row-major addresses of all arguments. The result type is explicit: clang 16 loses functions of a device's tasks
/// that it meets during its deduction.
template <AnyTensor... Tensors>
[[nodiscard]] std::array<void*, sizeof...(Tensors)> row_major_addresses(std::tuple<std::optional<Tensors>...>& copies,
                                                                        const Tensors&... tensors) {
  using Addresses = std::array<void*, sizeof...(Tensors)>;
  return std::apply([&](auto&... copy) -> Addresses { return Addresses{row_major_address(tensors, copy)...}; }, copies);
}

}}}}} // namespace twill::v0::training::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// `Step<Targets...>` for the arguments that follow the inputs of model M.
template <template <class...> class Step, class M, class... Tensors>
using source_for = typename detail::SourceFor<Step, M, Tensors...>::type;

/// Checks the arguments of a source with several device slots: each argument is in a slot of its own.
template <compile::Source S, ComputeDevice D, AnyTensor... Tensors>
void require_in_slots(std::span<const D> devices, const Tensors&... tensors) {
  if constexpr (compile::TableFor<S, D>::sizes.slots == 1) {
    compile::require_device(S::called(), devices.front(), tensors...);
  } else {
    std::size_t argument = 0;
    const auto check = [&](const auto& tensor) {
      const int slot = compile::TableFor<S, D>::view().inputs[argument].slot;
      if (const D& device = devices[static_cast<std::size_t>(slot)]; !(tensor.device() == device))
        throw DeviceError(join_text({compile::title_of(S::called()), ": ", compile::argument_of(S::called(), argument),
                                     " belongs into slot ", slot, ", which is ", to_string(device), ", and is on ",
                                     to_string(tensor.device()), "; move it with to(device)"}));
      ++argument;
    };
    (check(tensors), ...);
  }
}

/// The places of a rule's numbers among the run-time numbers of a table.
template <optim::Rule R> class RuleNumbers {
public:
  RuleNumbers() = default;
  /// Finds the rule's numbers among the run-time numbers of a program.
  explicit RuleNumbers(const compile::RunScalars& run_scalars) {
    for (std::size_t i = 0; i < R::numbers.size(); ++i) index_[i] = run_scalars.find(R::numbers[i]);
    step_ = run_scalars.find(optim::step_scalar);
  }
  /// Writes the values of the rule's numbers in this step.
  void write(const R& rule, std::int64_t step, compile::RunScalars& run_scalars) const {
    const auto values = rule.values(step);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (index_[i] >= 0) run_scalars.set_at(static_cast<std::size_t>(index_[i]), values[i]);
    if (step_ >= 0) run_scalars.set_at(static_cast<std::size_t>(step_), static_cast<double>(step));
  }

private:
  std::array<int, R::numbers.size()> index_{};
  int step_ = -1;
};

/// A compiled program of a step, with its arenas and its numbers. It knows no model, so that a device kind has one.
template <ComputeDevice D, int Slots> class AnyStepProgram {
public:
  using device_type = D;
  static constexpr int slots = Slots; ///< of devices, most that a source may have

  AnyStepProgram(std::span<const D> devices, compile::TableView table,
                 std::span<const compile::KernelFunctionOn<team_t<D>>> kernels, const compile::RunScalars& model);
  ~AnyStepProgram();

  /// Takes over the model's current numbers for the next run.
  void prepare(const compile::RunScalars& model, compile::Capture capture);

  /// Sets the draw of the next run.
  void set_draw(const RandomDraw& draw) { run_scalars.set_draw(draw.seed, draw.step); }

  /// The values of symbols for tensors of these shapes.
  template <AnyTensor... Tensors> [[nodiscard]] graph::SymbolValues symbols_of(const Tensors&... tensors) const {
    const std::array<Dims, sizeof...(Tensors)> shapes{tensors.shape()...};
    return compile::resolve_symbols(executor.table(), shapes);
  }

  compile::executor_t<D, Slots> executor;
  compile::RunScalars run_scalars;
  bool draws = false;   ///< whether it takes random numbers
  bool has_run = false; ///< since it was prepared

protected:
  /// One run on inputs of these shapes, by the program's numbers; see `StepProgram::run`.
  void run_on(std::span<const Dims> shapes, const nn::LayerHooks* hooks, compile::RunArguments& arguments);

  /// throws: ValueError when the program takes more than the budget on inputs of these shapes
  void keep_within(std::int64_t budget_bytes, std::span<const Dims> shapes);

private:
  List<detail::SharedNumber> shared_{};
  List<graph::SymbolValues> within_budget_{}; ///< sizes known to be within it
};

template <ComputeDevice D, int Slots>
AnyStepProgram<D, Slots>::AnyStepProgram(std::span<const D> devices, compile::TableView table,
                                         std::span<const compile::KernelFunctionOn<team_t<D>>> kernels,
                                         const compile::RunScalars& model)
    : executor{devices, table, kernels, compile::Arena::kept},
      run_scalars{table.run_scalars},
      draws{run_scalars.draws()} {
  for (std::size_t i = 0; i < table.run_scalars.size(); ++i)
    if (const int from = model.find(table.run_scalars[i].name.view()); from >= 0)
      shared_.push_back({i, static_cast<std::size_t>(from)});
}

template <ComputeDevice D, int Slots> AnyStepProgram<D, Slots>::~AnyStepProgram() = default;

template <ComputeDevice D, int Slots>
void AnyStepProgram<D, Slots>::prepare(const compile::RunScalars& model, compile::Capture capture) {
  for (const detail::SharedNumber& number : shared_) run_scalars.copy_at(number.in_program, model, number.in_model);
  executor.allow(capture);
  has_run = false;
}

template <ComputeDevice D, int Slots>
void AnyStepProgram<D, Slots>::run_on(std::span<const Dims> shapes, const nn::LayerHooks* hooks,
                                      compile::RunArguments& arguments) {
  arguments.run_scalars = run_scalars.bits();
  nn::run_with_hooks(executor, hooks, [&] {
    executor.run_on(shapes, arguments);
    has_run = true; // whatever observing hooks do
  });
}

template <ComputeDevice D, int Slots>
void AnyStepProgram<D, Slots>::keep_within(std::int64_t budget_bytes, std::span<const Dims> shapes) {
  const graph::SymbolValues symbols = compile::resolve_symbols(executor.table(), shapes);
  for (const graph::SymbolValues& known : within_budget_)
    if (known == symbols) return;
  const std::int64_t bytes = compile::memory_use(executor.table(), symbols).total();
  if (bytes > budget_bytes)
    throw ValueError("fit: on these sizes the program takes " + std::to_string(bytes) + " bytes, its budget is " +
                     std::to_string(budget_bytes) + "; give nn::Fit the largest sizes, or more bytes");
  within_budget_.push_back(symbols);
}

#if !TWILL_HEADER_ONLY
TWILL_INSTANCE template class AnyStepProgram<Cpu, 1>;
#endif

/// A compiled program of a step of model M.
template <class M, ComputeDevice D, int Slots = 1> class StepProgram : public AnyStepProgram<D, Slots> {
public:
  using AnyStepProgram<D, Slots>::AnyStepProgram;

  /// One run on the tensors, by the program's numbers; layers' values are shown to the hooks, if there are any.
  /// `arguments` are all but inputs and numbers. throws: ValueError if the shapes are too large for the model's budget
  template <AnyTensor... Tensors>
  void run(const nn::LayerHooks* hooks, compile::RunArguments arguments, const Tensors&... tensors) {
    std::tuple<std::optional<Tensors>...> copies{};
    const auto addresses = detail::row_major_addresses(copies, tensors...);
    const std::array<Dims, sizeof...(Tensors)> shapes{tensors.shape()...};
    if constexpr (compile::Budget<M>) this->keep_within(M::budget_bytes, shapes);
    arguments.inputs = addresses;
    this->run_on(shapes, hooks, arguments);
  }
};

/// The draw of a network's next run of a program; if that fails, it returns to the network, so that a repetition draws
/// equal numbers.
template <class Program> class DrawOfRun {
  using State = nn::NetworkState<typename Program::device_type>;

public:
  DrawOfRun(Program& program, State& network) : program_{&program}, network_{&network} {}
  DrawOfRun(const DrawOfRun&) = delete;
  DrawOfRun& operator=(const DrawOfRun&) = delete;
  ~DrawOfRun() {
    if (taken_ && !program_->has_run) network_->give_back(*taken_);
  }
  /// The draw.
  [[nodiscard]] RandomDraw take() { return taken_.emplace(network_->next_draw()); }

private:
  Program* program_;
  State* network_;
  std::optional<RandomDraw> taken_{};
};

/// The programs of one step, by source. Program is a `StepProgram`, or extends it.
template <class Program> class StepPrograms {
  using D = typename Program::device_type;

public:
  /// The program of a source on the devices of its slots. On other devices than before, all programs are made again.
  template <compile::Source S> Program& at(std::span<const D> devices, const compile::RunScalars& model) {
    static_assert(compile::TableFor<S, D>::sizes.slots <= Program::slots,
                  "twill: train_step: the loss or the rule works in a device slot that the model does not have");
    using Table = compile::TableFor<S, D>;
    if (!std::equal(devices.begin(), devices.end(), devices_.begin(), devices_.end())) {
      programs_.clear();
      last_ = nullptr;
      devices_.assign(devices.begin(), devices.end());
    }
    const View key = &Table::view;
    for (const auto& [known, program] : programs_)
      if (known == key) return *program;
    programs_.emplace_back(
        key, std::make_unique<Program>(devices, Table::view(), Table::template kernels<team_t<D>>(), model));
    return *programs_.back().second;
  }

  /// The program of a source, prepared for the next run.
  template <compile::Source S>
  Program& next(std::span<const D> devices, const compile::RunScalars& model, compile::Capture capture) {
    Program& program = at<S>(devices, model);
    program.prepare(model, capture);
    last_ = &program;
    return program;
  }

  /// The program prepared last; null if there was none.
  [[nodiscard]] const Program* last() const { return last_; }

  /// Whether the last program runs as a captured graph, and if not, why.
  [[nodiscard]] compile::CaptureReport capture_report(std::string_view if_none) const {
    if (last_ == nullptr) return {.reason = std::string{if_none}};
    return last_->executor.capture_report();
  }

private:
  using View = compile::TableView (*)(); // one function for each source

  std::vector<D> devices_{};
  std::vector<std::pair<View, std::unique_ptr<Program>>> programs_{};
  const Program* last_ = nullptr;
};

/// The program of an update of a network by a rule, whose parameters are the weights, then the rule's states.
template <optim::Rule R, compile::Source S, ComputeDevice D, int Slots = 1> class UpdateProgram {
  using Table = compile::TableFor<S, D>;
  using Executor = compile::executor_t<D, Slots>;

public:
  explicit UpdateProgram(compile::Arena arena) : arena_{arena} {}

  /// The compiled program.
  [[nodiscard]] static compile::TableView table() { return Table::view(); }

  /// Update number `step` on the devices of the network. `arguments` are all but the numbers.
  void run(std::span<const D> devices, const R& rule, std::int64_t step, compile::RunArguments arguments,
           compile::Capture capture = compile::Capture::automatic) {
    if (!executor_ || !std::equal(devices.begin(), devices.end(), executor_->devices().begin()))
      executor_ = std::make_unique<Executor>(devices, table(), Table::template kernels<team_t<D>>(), arena_);
    numbers_.write(rule, step, run_scalars);
    arguments.run_scalars = run_scalars.bits();
    executor_->allow(capture);
    executor_->run({}, arguments);
  }

  compile::RunScalars run_scalars{table().run_scalars}; ///< the rule's, which `run` writes, and others

private:
  compile::Arena arena_;
  RuleNumbers<R> numbers_{run_scalars};
  std::unique_ptr<Executor> executor_{};
};

}}}} // namespace twill::v0::training::TWILL_ISA
