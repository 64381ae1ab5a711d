#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory and work of a program, known before it runs: bytes as the pool counts them, and operations. Weights, states,
// results and the arena are one allocation each; arguments are the caller's. Read next: compile/passes/fit.hpp.

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/plan/binding.hpp>
#include <twill/compile/plan/working_bytes.hpp>
#include <twill/core/config.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Bytes of a device's pool, which gives each allocation a multiple of 512.
struct MemoryUse {
  std::int64_t weights = 0; ///< and buffers
  std::int64_t states = 0;  ///< of the optimiser
  std::int64_t kept = 0;    ///< stored between programs: gradients, and values that a forward pass keeps
  std::int64_t arena = 0;   ///< activations, gradients without a reader, scratch
  std::int64_t working = 0; ///< of decompositions and transforms on GPUs at most, see compile/plan/working_bytes.hpp

  /// All of it: the peak while the program runs, without the caller's memory.
  [[nodiscard]] constexpr std::int64_t total() const { return weights + states + kept + arena + working; }
  [[nodiscard]] friend constexpr bool operator==(const MemoryUse&, const MemoryUse&) = default;
};

/// Arithmetic of one run: two operations for a multiply-add, one for any other element; and bytes of tensors written.
struct Work {
  std::int64_t operations = 0; ///< of arithmetic
  std::int64_t bytes = 0;      ///< written

  /// In operations. A processor does about this many in the time in which its memory takes in one byte.
  [[nodiscard]] constexpr std::int64_t total() const { return operations + 8 * bytes; }
  [[nodiscard]] friend constexpr bool operator==(const Work&, const Work&) = default;
};

/// The work of one node.
[[nodiscard]] TWILL_CONSTEXPR Work work_of(const Graph& graph, const Node& node, const graph::SymbolValues& symbols) {
  const std::int64_t elements = node.shape.elements().evaluate(symbols);
  Work work{};
  switch (node.kind) {
  case Kind::primitive:
  case Kind::cast:
    work.operations = elements;
    break;
  case Kind::reduce:
    work.operations = graph.node(node.input(0)).shape.elements().evaluate(symbols);
    break;
  case Kind::operation:
    work.operations = node.operation->multiply_adds != nullptr
                          ? 2 * node.operation->multiply_adds(graph, node).evaluate(symbols)
                          : elements;
    work.bytes = elements * static_cast<std::int64_t>(size_of(node.dtype));
    break;
  default:
    break;
  }
  return work;
}

/// The work of all nodes that an output needs.
[[nodiscard]] TWILL_CONSTEXPR Work work_of(const Graph& graph, const graph::SymbolValues& symbols) {
  Work sum{};
  const List<char> needed = needed_nodes(graph);
  for (int id = 0; id < graph.size(); ++id) {
    if (needed.data()[id] == 0) continue;
    const Work work = work_of(graph, graph.node(id), symbols);
    sum.operations += work.operations;
    sum.bytes += work.bytes;
  }
  return sum;
}

/// The memory of one program, in the pool of the device of a slot.
[[nodiscard]] TWILL_CONSTEXPR MemoryUse memory_use(const TableView& table, const graph::SymbolValues& symbols,
                                                   int slot) {
  MemoryUse use{};
  for (const graph::ParameterInfo& info : table.parameters) {
    if (info.slot != slot) continue;
    (info.role == graph::Role::optimiser_state ? use.states : use.weights) +=
        pool_bytes(bytes_of(info.dtype, info.shape, symbols));
  }
  for (const ValueInfo& value : table.values)
    if (value.storage == Storage::output && value.slot == slot)
      use.kept += pool_bytes(bytes_of(value.dtype, value.shape, symbols));
  List<std::size_t> value_bytes(table.values.size(), 0);
  List<int> planned(table.values.size(), -1);
  use.arena = pool_bytes(plan_arena(table, symbols, value_bytes, planned, slot).total_bytes);
  use.working = working_bytes(table, symbols, slot);
  return use;
}

/// The memory of one program, on all of its devices.
[[nodiscard]] TWILL_CONSTEXPR MemoryUse memory_use(const TableView& table, const graph::SymbolValues& symbols) {
  MemoryUse use{};
  for (int slot = 0; slot < table.slots; ++slot) {
    const MemoryUse own = memory_use(table, symbols, slot);
    use = {use.weights + own.weights, use.states + own.states, use.kept + own.kept, use.arena + own.arena,
           use.working + own.working};
  }
  return use;
}

}}}} // namespace twill::v0::compile::TWILL_ISA
