#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Bindings of one table, kept by sizes: a training run meets few shapes, and the last one most of the time. An executor
// extends `Bound` by its own part. Read next: compile/run/executor.hpp.

#include <twill/compile/plan/binding.hpp>
#include <twill/compile/run/host_callback.hpp>
#include <twill/core/config.hpp>
#include <twill/kernel/rank_group.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// A binding, and the addresses that its operands were last given.
struct Bound {
  Binding numbers{};
  std::vector<Dims> shapes{};      ///< of the inputs, when a run was given them
  std::vector<void*> parameters{}; ///< of the last run, where their operands were placed
  const void* arena = &numbers;    ///< in which the operands were last placed; at first none
  std::uint64_t reserved = 0; ///< state in which a thread took working memory for it: compile/run/partial_update.hpp
};

/// Changes a binding once, after it is made.
class BindingEdit {
public:
  virtual void apply(const TableView& table, Binding& binding) const = 0;

protected:
  ~BindingEdit() = default;
};

template <std::derived_from<Bound> B> class Bindings {
public:
  /// Sets the edit of all bindings from now on.
  void edit(const BindingEdit* edit) { edit_ = edit; }

  /// The binding for these sizes, computed once. Calls `before_dropping()` before the oldest of too many is dropped.
  template <class F> B& at(const TableView& table, const graph::SymbolValues& symbols, F&& before_dropping) {
    if (last_ != nullptr && last_->numbers.symbols == symbols) return *last_;
    for (const auto& bound : bindings_)
      if (bound->numbers.symbols == symbols) return *(last_ = bound.get());
    auto fresh = std::make_unique<B>();
    fresh->numbers = compile::bind(table, symbols);
    fresh->parameters.resize(table.parameters.size());
    if (edit_ != nullptr) edit_->apply(table, fresh->numbers);
    if (bindings_.size() == most_bindings) {
      before_dropping();
      last_ = nullptr;
      bindings_.erase(bindings_.begin());
    }
    bindings_.push_back(std::move(fresh));
    return *(last_ = bindings_.back().get());
  }

  /// The binding for inputs of these shapes. throws: ShapeError when they do not fit the table or each other
  template <class F> B& at(const TableView& table, std::span<const Dims> shapes, F&& before_dropping) {
    if (last_ == nullptr || !std::equal(shapes.begin(), shapes.end(), last_->shapes.begin(), last_->shapes.end()))
      at(table, resolve_symbols(table, shapes), before_dropping).shapes.assign(shapes.begin(), shapes.end());
    return *last_;
  }

private:
  static constexpr std::size_t most_bindings = 64;

  const BindingEdit* edit_ = nullptr;
  std::vector<std::unique_ptr<B>> bindings_{};
  B* last_ = nullptr;
};

/// Everything outside the arena of one run. Addresses are in the order of the table's lists.
struct RunArguments {
  std::span<void* const> inputs{};
  std::span<void* const> parameters{};
  std::span<void* const> outputs{};
  std::span<const std::uint64_t> run_scalars{}; ///< bit patterns, in the order of the table's list
  std::int64_t first_row = 0;       ///< the place of this run's rows in the whole batch: random draws count from there
  bool inputs_stay = false;         ///< all runs have their inputs at these addresses: a captured graph may keep them
  HostCallback* callback = nullptr; ///< of the host, between launches
  const kernel::RankGroups* groups = nullptr; ///< that the program calls
  cpu::KeptOrders* orders = nullptr; ///< on hosts: of weights that are the same in other runs; outlives the run
};

/// Fills in the addresses of the caller's tensors in the operands of a binding. throws: never
void place_outside(Bound& bound, const RunArguments& arguments);

/// Also fills in the addresses in the one arena of a program. throws: never
void place_operands(Bound& bound, void* arena, const RunArguments& arguments);

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run/bindings.ipp>
#endif
