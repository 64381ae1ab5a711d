#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The bindings of one table, remembered by sizes: a training run meets few shapes, and the last one most of the time. What a
// kind of device keeps beside each binding extends `Bound`. Read next: compile/executor.hpp.

#include <twill/compile/binding.hpp>
#include <twill/compile/interlude.hpp>
#include <twill/core/config.hpp>
#include <twill/kernel/rank_group.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// A binding, and what its operands were last told.
struct Bound {
  Binding numbers{};
  std::vector<Dims> shapes{};   ///< of the inputs, when a run was given them
  const void* arena = &numbers; ///< where the operands inside it were last placed; at first no arena
  std::uint64_t rehearsed = 0;  ///< in which state a thread took working memory for it: compile/rehearse.hpp
};

/// Changes a binding once, when it has been made.
class BindingEdit {
public:
  virtual void apply(const TableView& table, Binding& binding) const = 0;

protected:
  ~BindingEdit() = default;
};

template <std::derived_from<Bound> B> class Bindings {
public:
  /// For all bindings from now on.
  void edit(const BindingEdit* edit) { edit_ = edit; }

  /// The binding for these sizes; computed once. `before_dropping()` is called before the oldest of too many is forgotten.
  template <class F> B& at(const TableView& table, const graph::SymbolValues& symbols, F&& before_dropping) {
    if (last_ != nullptr && last_->numbers.symbols == symbols) return *last_;
    for (const auto& bound : bindings_)
      if (bound->numbers.symbols == symbols) return *(last_ = bound.get());
    auto fresh = std::make_unique<B>();
    fresh->numbers = compile::bind(table, symbols);
    if (edit_ != nullptr) edit_->apply(table, fresh->numbers);
    if (bindings_.size() == most_bindings) {
      before_dropping();
      last_ = nullptr;
      bindings_.erase(bindings_.begin());
    }
    bindings_.push_back(std::move(fresh));
    return *(last_ = bindings_.back().get());
  }

  /// The same for inputs of these shapes. throws: ShapeError when they do not fit the table or each other
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

/// What lies outside the arena in one run. Addresses stand in the order of the table's lists.
struct RunArguments {
  std::span<void* const> inputs{};
  std::span<void* const> parameters{};
  std::span<void* const> outputs{};
  std::span<const std::uint64_t> knobs{}; ///< bit patterns, in the order of the table's list
  std::int64_t first_row = 0;     ///< where this run's rows stand in the whole batch: random draws count from there
  bool inputs_stay = false;       ///< the inputs of all runs lie at these addresses: a captured graph may keep them
  Interlude* interlude = nullptr; ///< what the host does in between
  const kernel::RankGroups* groups = nullptr; ///< that the program calls
  cpu::KeptOrders* orders = nullptr; ///< on hosts: of weights that are the same in other runs; outlives the run
};

/// Calls `run(begin, end)` for the instructions up to each place of an interlude and lets it act there.
template <class Run> void run_with_interlude(const Binding& binding, Interlude* interlude, const Run& run) {
  std::size_t begin = 0;
  const auto run_to = [&](std::size_t end) {
    if (begin < end) run(begin, end);
    begin = end;
  };
  if (interlude != nullptr)
    for (const int place : interlude->places()) {
      run_to(static_cast<std::size_t>(place));
      interlude->reach(place, binding);
    }
  run_to(binding.instructions.size());
}

/// Tells the operands of a binding where everything lies that the caller hands in. throws: never
void place_outside(Bound& bound, const RunArguments& arguments);

/// Tells them where everything lies but the run-time numbers. throws: never
void place_operands(Bound& bound, void* arena, const RunArguments& arguments);

/// Tells them where the run-time numbers lie, eight bytes apart.
void place_numbers(Bound& bound, void* numbers);

} // namespace twill::inline v0::compile::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/bindings.ipp>
#endif
