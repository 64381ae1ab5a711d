#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Looking into a run: instructions run one after the other, and what each has written is shown to a watcher, such as one that
// searches for NaN and infinities. It is slow and meant for the search for mistakes only; the same kernels run on the same
// numbers, so what is seen is what happens. What the steps of a loop write is not shown. Read next: compile/blame.hpp.

#include <twill/compile/run_joined.hpp>
#include <twill/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// The first value that is not finite.
struct NotFinite {
  int value = -1; ///< in the table's list; -1: all are finite
  std::int64_t elements = 0;
  std::int64_t nans = 0;
  std::int64_t infinities = 0;

  [[nodiscard]] bool is_found() const { return value >= 0; }
};

} // namespace twill::inline v0::compile::inline TWILL_ISA

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

template <class T> void count_not_finite(const void* data, NotFinite& found) {
  const auto* const elements = static_cast<const T*>(data);
  for (std::int64_t i = 0; i < found.elements; ++i) {
    const auto element = static_cast<double>(elements[i]);
    found.nans += std::isnan(element) ? 1 : 0;
    found.infinities += std::isinf(element) ? 1 : 0;
  }
}

/// Counts what is not finite in a dense value.
NotFinite search(const TableView& table, const graph::SymbolValues& symbols, int value, const void* data);

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Somebody who sees every value that an instruction has written. Called in the device's task.
struct Watcher {
  virtual void see(const TableView& table, const graph::SymbolValues& symbols, int value, const void* data) = 0;

protected:
  ~Watcher() = default;
};

/// Keeps the first value that is not finite.
struct FiniteWatcher final : Watcher {
  NotFinite found{};

  void see(const TableView& table, const graph::SymbolValues& symbols, int value, const void* data) override;
};

/// Runs the instructions from `begin` to before `end` once, by `run(instruction, call)`, and hands over what each has written:
/// `show(value, data)`.
template <class Run, class Show>
void run_one_by_one(const TableView& table, Binding& binding, std::size_t begin, std::size_t end, const Run& run,
                    const Show& show) {
  for_each_launch(binding, begin, end, [&](const BoundInstruction* launch) {
    for (std::size_t m = 0; m < launch->members; ++m) {
      const BoundInstruction& instruction = launch[m];
      run(instruction, binding.call(instruction));
      const auto number = static_cast<std::size_t>(&instruction - binding.instructions.data());
      if (table.instructions[number].loop >= 0) continue;
      for (std::size_t k = 0; k < instruction.operand_count; ++k) {
        const OperandInfo& operand = table.operands[instruction.first_operand + k];
        if (operand.kind == OperandKind::memory && operand.writes)
          show(operand.value, binding.operands[instruction.first_operand + k].data);
      }
    }
  });
}

/// The same on a host device.
void run_watched(const Team& team, const TableView& table, Binding& binding, std::size_t begin, std::size_t end,
                 std::span<const KernelFunction> kernels, Watcher& watcher);

} // namespace twill::inline v0::compile::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/watch.ipp>
#endif
