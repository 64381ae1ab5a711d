#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Step programs of planned training: a compiled program for each combination of argument types, with its arena and its
// copy of the run-time numbers, and the checks and addresses of its arguments. Read next: train/train_step.hpp.

#include <twill/compile/plan/memory_use.hpp>
#include <twill/compile/run/executor.hpp>
#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/core/text.hpp>
#include <twill/train/optimiser.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace train { namespace detail { inline namespace TWILL_ISA {

/// `Step<Targets...>` for the arguments that follow the inputs of model M.
template <template <class...> class Step, class M, class... Tensors> struct SourceFor {
  static constexpr std::size_t inputs = std::tuple_size_v<nn::inputs_t<M>>;

  template <std::size_t... I>
  static auto step(std::index_sequence<I...>)
      -> Step<compile::argument_t<std::tuple_element_t<inputs + I, std::tuple<Tensors...>>>...>;
  using type = decltype(step(std::make_index_sequence<sizeof...(Tensors) - inputs>{}));
};

template <template <class...> class Step, class M, class... Tensors>
using source_for = typename SourceFor<Step, M, Tensors...>::type;

/// A run-time number shared by a program and the model, and its place in both.
struct SharedNumber {
  std::size_t in_program = 0;
  std::size_t in_model = 0;
};

/// A compiled program with this number of device slots, its arenas and its numbers.
template <ComputeDevice D, int Slots = 1> struct StepProgram {
  static constexpr int slots = Slots;

  StepProgram(std::span<const D> devices, compile::TableView table,
              std::span<const compile::KernelFunctionOn<team_t<D>>> kernels, const compile::RunScalars& model)
      : executor{devices, table, kernels, compile::Arena::kept},
        run_scalars{table.run_scalars},
        draws{run_scalars.draws()} {
    for (std::size_t i = 0; i < table.run_scalars.size(); ++i)
      if (const int from = model.find(table.run_scalars[i].name.view()); from >= 0)
        shared.push_back({i, static_cast<std::size_t>(from)});
  }

  /// Takes over the model's current numbers.
  void take(const compile::RunScalars& model) {
    for (const SharedNumber& number : shared) run_scalars.copy_at(number.in_program, model, number.in_model);
  }

  /// throws: ValueError when the program takes more than the budget of its model on inputs of these shapes
  void keep_within(std::int64_t budget_bytes, std::span<const Dims> shapes) {
    const graph::SymbolValues symbols = compile::resolve_symbols(executor.table(), shapes);
    for (const graph::SymbolValues& known : within_budget)
      if (known == symbols) return;
    const std::int64_t bytes = compile::memory_use(executor.table(), symbols).total();
    if (bytes > budget_bytes)
      throw ValueError("fit: on these sizes the program takes " + std::to_string(bytes) + " bytes, its budget is " +
                       std::to_string(budget_bytes) + "; give nn::Fit the largest sizes, or more bytes");
    within_budget.push_back(symbols);
  }

  compile::executor_t<D, Slots> executor;
  compile::RunScalars run_scalars;
  bool draws = false;
  List<SharedNumber> shared{};
  List<graph::SymbolValues> within_budget{}; ///< sizes known to be within it
};

/// The programs of one step, by source. Program is a `StepProgram`, or extends it.
template <class Program> class StepPrograms {
public:
  template <compile::Source S, ComputeDevice D> Program& at(const D& device, const compile::RunScalars& model) {
    return at<S>(std::span<const D>{&device, 1}, model);
  }
  /// The programs of a source on the devices of its slots.
  template <compile::Source S, ComputeDevice D>
  Program& at(std::span<const D> devices, const compile::RunScalars& model) {
    static_assert(compile::TableFor<S, D>::sizes.slots <= Program::slots,
                  "twill: train_step: the loss or the rule works in a device slot that the model does not have");
    using Table = compile::TableFor<S, D>;
    const View key = &Table::view;
    for (const auto& [known, program] : programs_)
      if (known == key) return *program;
    programs_.emplace_back(
        key, std::make_unique<Program>(devices, Table::view(), Table::template kernels<team_t<D>>(), model));
    return *programs_.back().second;
  }
  void clear() { programs_.clear(); }

private:
  using View = compile::TableView (*)(); // one function for each source

  std::vector<std::pair<View, std::unique_ptr<Program>>> programs_{};
};

/// throws: DeviceError naming both devices
template <ComputeDevice D, AnyTensor... Tensors>
void require_on(std::string_view where, const D& device, const Tensors&... tensors) {
  const auto check = [&](const auto& tensor) {
    if (!(tensor.device() == device))
      throw DeviceError(std::string{where} + ": the model lies on " + to_string(device) + ", an argument on " +
                        to_string(tensor.device()) + "; move one with to(device)");
  };
  (check(tensors), ...);
}

/// Checks the arguments of a source with several device slots: each argument is in a slot of its own.
template <compile::Source S, ComputeDevice D, AnyTensor... Tensors>
void require_in_slots(std::string_view where, std::span<const D> devices, const Tensors&... tensors) {
  if constexpr (compile::TableFor<S, D>::sizes.slots == 1) {
    require_on(where, devices.front(), tensors...);
  } else {
    std::size_t argument = 0;
    const auto check = [&](const auto& tensor) {
      const int slot = compile::TableFor<S, D>::view().inputs[argument].slot;
      if (const D& device = devices[static_cast<std::size_t>(slot)]; !(tensor.device() == device))
        throw DeviceError(
            join_text({where, ": argument ", argument, " belongs into slot ", slot, ", which is ", to_string(device),
                       ", and lies on ", to_string(tensor.device()), "; move it with to(device)"}));
      ++argument;
    };
    (check(tensors), ...);
  }
}

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

}}}}} // namespace twill::v0::train::detail::TWILL_ISA
