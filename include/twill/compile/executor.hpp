#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs a table: a loop over bound instructions, given to the device's stream as one task. There is one executor class for
// each device kind, not for each graph. The arena is either kept between runs, so that a steady step allocates nothing, or
// taken from the pool for each run. Read next: compile/function.hpp.

#include <twill/compile/binding.hpp>
#include <twill/device/device.hpp>
#include <twill/memory/buffer.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace twill::inline v0::compile {

/// Whether the arena of temporaries outlives a run.
enum class Arena : bool { for_each_run, kept };

/// What lies outside the arena in one run. Addresses stand in the order of the table's lists.
struct RunArguments {
  std::span<void* const> inputs{};
  std::span<void* const> parameters{};
  std::span<void* const> outputs{};
  std::span<const std::uint64_t> knobs{};  ///< bit patterns, in the order of the table's list
  std::int64_t first_row = 0;        ///< where this run's rows stand in the whole batch: random draws count from there
};

template <HostDevice D> class Executor {
 public:
  Executor(D device, TableView table, std::span<const KernelFunction> kernels, Arena arena)
      : device_{device}, table_{table}, kernels_{kernels}, arena_mode_{arena}, state_{std::make_shared<State>()} {
    state_->knobs.resize(table.knobs.size());
  }

  [[nodiscard]] const TableView& table() const { return table_; }
  [[nodiscard]] D device() const { return device_; }

  /// The numbers for these sizes; computed once for each and remembered.
  const Binding& bind(const graph::SymbolValues& symbols) {
    for (const auto& binding : bindings_)
      if (binding->symbols == symbols) return *binding;
    bindings_.push_back(std::make_shared<Binding>(compile::bind(table_, kernels_, symbols)));
    return *bindings_.back();
  }

  /// The bytes of the arena for these sizes, before anything runs.
  [[nodiscard]] std::size_t arena_bytes(const graph::SymbolValues& symbols) { return bind(symbols).arena_bytes; }

  /// Puts one run into the device's stream.
  /// throws: OutOfMemoryError when the arena does not fit
  void run(const graph::SymbolValues& symbols, const RunArguments& arguments) {
    bind(symbols);
    std::shared_ptr<Binding> binding{};
    for (const auto& candidate : bindings_)
      if (candidate->symbols == symbols) binding = candidate;
    if (!arena_ || arena_->bytes() < binding->arena_bytes) arena_.emplace(device_, binding->arena_bytes);
    wait_for_last_run();
    if constexpr (D::has_memory) {
      fill_in(*binding, arguments);
      state_->running.store(true, std::memory_order_relaxed);
      launch(device_, [state = state_, binding](const Team& team) {
        for (const BoundInstruction& instruction : binding->instructions)
          instruction.run(team, instruction.grid, binding->operands.data() + instruction.first_operand);
        state->running.store(false, std::memory_order_release);
      });
    }
    if (arena_mode_ == Arena::for_each_run) arena_.reset();
  }

 private:
  /// Shared with tasks that may run late.
  struct State {
    std::atomic<bool> running{false};
    std::vector<std::uint64_t> knobs{};
  };

  void wait_for_last_run() {
    if (state_->running.load(std::memory_order_acquire)) synchronize(device_);
  }

  void fill_in(Binding& binding, const RunArguments& arguments) {
    std::copy(arguments.knobs.begin(), arguments.knobs.end(), state_->knobs.begin());
    auto* arena = static_cast<std::byte*>(arena_->data());
    for (const OutsideOperand& operand : binding.inside) binding.operands[operand.operand].data = arena + operand.index;
    for (const OutsideOperand& operand : binding.outside) {
      void*& data = binding.operands[operand.operand].data;
      switch (operand.storage) {
        case Storage::input: data = arguments.inputs[operand.index]; break;
        case Storage::parameter: data = arguments.parameters[operand.index]; break;
        case Storage::knob: data = &state_->knobs[operand.index]; break;
        default: data = arguments.outputs[operand.index]; break;
      }
    }
    for (const RandomOperand& operand : binding.random)
      binding.operands[operand.operand].bits = static_cast<std::uint64_t>(arguments.first_row * operand.elements_per_row);
  }

  D device_;
  TableView table_;
  std::span<const KernelFunction> kernels_;
  Arena arena_mode_;
  std::shared_ptr<State> state_;
  std::vector<std::shared_ptr<Binding>> bindings_{};
  std::optional<memory::Buffer<D>> arena_{};
};

} // namespace twill::inline v0::compile
