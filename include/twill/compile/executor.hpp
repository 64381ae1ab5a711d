#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs a table: a loop over bound instructions, given to the device's stream as one task. There is one executor class for
// each device kind, not for each graph. The arena is either kept between runs, so that a steady step allocates nothing, or
// taken from the pool for each run. A task may run late, so an executor outlives its tasks. Read next:
// compile/function.hpp.

#include <twill/compile/run_joined.hpp>
#include <twill/core/config.hpp>
#include <twill/device/device.hpp>
#include <twill/memory/buffer.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Whether the arena of temporaries outlives a run.
enum class Arena : bool { for_each_run, kept };

/// What lies outside the arena in one run. Addresses stand in the order of the table's lists.
struct RunArguments {
  std::span<void* const> inputs{};
  std::span<void* const> parameters{};
  std::span<void* const> outputs{};
  std::span<const std::uint64_t> knobs{}; ///< bit patterns, in the order of the table's list
  std::int64_t first_row = 0; ///< where this run's rows stand in the whole batch: random draws count from there
};

template <ComputeDevice D> class Executor {
public:
  using Kernel = KernelFunctionOn<team_t<D>>;

  Executor(D device, TableView table, std::span<const Kernel> kernels, Arena arena)
      : device_{device}, table_{table}, kernels_{kernels}, arena_mode_{arena}, knobs_(table.knobs.size()) {}

  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor() {
    try {
      wait_for_last_run();
    } catch (...) { // whoever waited for the run was told
    }
  }

  [[nodiscard]] const TableView& table() const { return table_; }
  [[nodiscard]] D device() const { return device_; }

  /// The bytes of the arena for these sizes, before anything runs.
  [[nodiscard]] std::size_t arena_bytes(const graph::SymbolValues& symbols) {
    return bound_for(symbols).numbers.arena_bytes;
  }

  /// Puts one run into the device's stream.
  /// throws: OutOfMemoryError when the arena does not fit
  void run(const graph::SymbolValues& symbols, const RunArguments& arguments) {
    run_bound(bound_for(symbols), arguments);
  }

  /// The same for inputs of these shapes. throws: ShapeError when they do not fit the table or each other
  void run_on(std::span<const Dims> shapes, const RunArguments& arguments) {
    if (last_ == nullptr || !std::equal(shapes.begin(), shapes.end(), last_->shapes.begin(), last_->shapes.end())) {
      Bound& bound = bound_for(resolve_symbols(table_, shapes));
      bound.shapes.assign(shapes.begin(), shapes.end());
    }
    run_bound(*last_, arguments);
  }

private:
  /// A binding, and what its operands were last told.
  struct Bound {
    Binding numbers{};
    std::vector<Dims> shapes{}; ///< of the inputs, when a run was given them
    const void* arena = nullptr;
  };

  static constexpr std::size_t most_bindings = 64; ///< remembered; beyond, sizes are bound again

  /// The numbers for these sizes; computed once and remembered.
  Bound& bound_for(const graph::SymbolValues& symbols) {
    if (last_ != nullptr && last_->numbers.symbols == symbols) return *last_;
    for (const auto& bound : bindings_)
      if (bound->numbers.symbols == symbols) return *(last_ = bound.get());
    auto fresh = std::make_unique<Bound>();
    fresh->numbers = compile::bind(table_, symbols);
    for (const OutsideOperand& operand : fresh->numbers.numbers)
      fresh->numbers.operands[operand.operand].data = &knobs_[operand.index];
    if (bindings_.size() == most_bindings) {
      wait_for_last_run();
      last_ = nullptr;
      bindings_.erase(bindings_.begin());
    }
    bindings_.push_back(std::move(fresh));
    return *(last_ = bindings_.back().get());
  }

  void run_bound(Bound& bound, const RunArguments& arguments) {
    const Binding& binding = bound.numbers;
    if (!arena_ || arena_->bytes() < binding.arena_bytes) {
      arena_.reset(); // before the larger one is made, so that the two never exist together
      arena_.emplace(device_, binding.arena_bytes);
    }
    if constexpr (D::has_memory) {
      wait_for_last_run();
      fill_in(bound, arguments);
      running_.store(true, std::memory_order_relaxed);
      launch(device_, [this, &binding](const team_t<D>& team) {
        run_instructions(team, binding, kernels_);
        running_.store(false, std::memory_order_release);
      });
    }
    if (arena_mode_ == Arena::for_each_run) arena_.reset();
  }

  void wait_for_last_run() {
    if (running_.load(std::memory_order_acquire)) synchronize(device_);
  }

  void fill_in(Bound& bound, const RunArguments& arguments) {
    kernel::Operand* const operands = bound.numbers.operands.data();
    std::copy(arguments.knobs.begin(), arguments.knobs.end(), knobs_.begin());
    auto* arena = static_cast<std::byte*>(arena_->data());
    if (bound.arena != arena) {
      for (const OutsideOperand& operand : bound.numbers.inside) operands[operand.operand].data = arena + operand.index;
      bound.arena = arena;
    }
    for (const OutsideOperand& operand : bound.numbers.outside) {
      void* const* addresses = operand.storage == Storage::input       ? arguments.inputs.data()
                               : operand.storage == Storage::parameter ? arguments.parameters.data()
                                                                       : arguments.outputs.data();
      operands[operand.operand].data = addresses[operand.index];
    }
    for (const RandomOperand& operand : bound.numbers.random)
      operands[operand.operand].bits = static_cast<std::uint64_t>(arguments.first_row * operand.elements_per_row);
  }

  D device_;
  TableView table_;
  std::span<const Kernel> kernels_;
  Arena arena_mode_;
  std::atomic<bool> running_{false};
  std::vector<std::uint64_t> knobs_; ///< read by tasks
  std::vector<std::unique_ptr<Bound>> bindings_{};
  Bound* last_ = nullptr;
  std::optional<memory::Buffer<D>> arena_{};
};

} // namespace twill::inline v0::compile::inline TWILL_ISA
