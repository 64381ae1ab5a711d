#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What is left of a graph when the compiler is done: flat arrays of values, operands and instructions, and the lines of
// each distinct program. The same records serve as vectors during constant evaluation, as constexpr arrays afterwards and
// as spans for the executor, which is not a template over the graph. Read next: compile/lower.hpp, compile/executor.hpp.

#include <twill/compile/reading.hpp>
#include <twill/kernel/program.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twill::inline v0::compile {

enum class Storage : std::uint8_t { input, parameter, knob, output, temporary };

/// A tensor that exists in memory while a program runs.
struct ValueInfo {
  Storage storage = Storage::temporary;
  DType dtype = DType::float32;
  int index = 0; ///< among those of its storage
  int node = -1;
  int first_use = -1; ///< the first and the last instruction that touch it
  int last_use = -1;
  Extents shape{};
};

enum class OperandKind : std::uint8_t { memory, immediate, position };

/// What one operand of a kernel is bound to at run time.
struct OperandInfo {
  OperandKind kind = OperandKind::memory;
  DType dtype = DType::float32;
  int value = -1; ///< memory: which value
  bool writes = false;
  bool random = false; ///< position: counts elements of a random tensor, from the run's first row on
  double number = 0;   ///< immediate: number / over
  graph::Extent over{};
  Extents view{}; ///< memory, position: seen as a contiguous tensor of this shape
  AxisMap axis_of = no_axes;

  [[nodiscard]] friend constexpr bool operator==(const OperandInfo&, const OperandInfo&) = default;
};

/// One launch.
struct Instruction {
  int kernel = 0;
  int first_operand = 0;
  int operand_count = 0;
  int first_node = -1;
  Extents grid{};
};

enum class LineKind : std::uint8_t { in, immediate, iota, step, cast, reduce, reduce_columns, out };

/// A line of a program as a value; kernel/program.hpp has it as a type.
struct Line {
  LineKind kind = LineKind::in;
  DType dtype = DType::float32;
  kernel::Access access = kernel::Access::contiguous;
  Primitive primitive = Primitive::add;
  Reduction reduction = Reduction::sum;
  std::uint8_t arity = 0;
  graph::Few<std::int8_t, 4> arguments{-1, -1, -1, -1};

  [[nodiscard]] friend constexpr bool operator==(const Line&, const Line&) = default;
};

/// A distinct kernel: a fused program, or an operation for one element type.
struct KernelInfo {
  int first_line = 0;
  int line_count = 0;
  bool is_operation = false;
  const graph::Operation* operation = nullptr;
  DType dtype = DType::float32;
};

/// Everything, growing.
struct Lowered {
  std::vector<ValueInfo> values{};
  std::vector<OperandInfo> operands{};
  std::vector<Instruction> instructions{};
  std::vector<KernelInfo> kernels{};
  std::vector<Line> lines{};
  std::vector<graph::InputInfo> inputs{};
  std::vector<graph::ParameterInfo> parameters{};
  std::vector<graph::KnobInfo> knobs{};
  std::vector<graph::Symbol> symbols{};
  graph::Fault fault{};
  int outputs = 0;
};

/// How many records of each sort a frozen table holds.
struct TableSizes {
  std::size_t values = 0, operands = 0, instructions = 0, kernels = 0, lines = 0;
  std::size_t inputs = 0, parameters = 0, knobs = 0, symbols = 0;
  int outputs = 0;
  graph::Fault fault{};
};

[[nodiscard]] constexpr TableSizes sizes_of(const Lowered& lowered) {
  return {lowered.values.size(),
          lowered.operands.size(),
          lowered.instructions.size(),
          lowered.kernels.size(),
          lowered.lines.size(),
          lowered.inputs.size(),
          lowered.parameters.size(),
          lowered.knobs.size(),
          lowered.symbols.size(),
          lowered.outputs,
          lowered.fault};
}

/// The same as constexpr data. Empty lists hold one unused record, because an array has to.
template <TableSizes S> struct FrozenTable {
  template <class T, std::size_t N> using List = std::array<T, N == 0 ? 1 : N>;

  static constexpr TableSizes sizes = S;
  List<ValueInfo, S.values> values{};
  List<OperandInfo, S.operands> operands{};
  List<Instruction, S.instructions> instructions{};
  List<KernelInfo, S.kernels> kernels{};
  List<Line, S.lines> lines{};
  List<graph::InputInfo, S.inputs> inputs{};
  List<graph::ParameterInfo, S.parameters> parameters{};
  List<graph::KnobInfo, S.knobs> knobs{};
  List<graph::Symbol, S.symbols> symbols{};
};

template <TableSizes S> [[nodiscard]] constexpr FrozenTable<S> freeze(const Lowered& lowered) {
  FrozenTable<S> table{};
  const auto copy = [](const auto& from, auto& to) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
  };
  copy(lowered.values, table.values);
  copy(lowered.operands, table.operands);
  copy(lowered.instructions, table.instructions);
  copy(lowered.kernels, table.kernels);
  copy(lowered.lines, table.lines);
  copy(lowered.inputs, table.inputs);
  copy(lowered.parameters, table.parameters);
  copy(lowered.knobs, table.knobs);
  copy(lowered.symbols, table.symbols);
  return table;
}

/// A frozen table as the run time sees it.
struct TableView {
  std::span<const ValueInfo> values{};
  std::span<const OperandInfo> operands{};
  std::span<const Instruction> instructions{};
  std::span<const KernelInfo> kernels{};
  std::span<const Line> lines{};
  std::span<const graph::InputInfo> inputs{};
  std::span<const graph::ParameterInfo> parameters{};
  std::span<const graph::KnobInfo> knobs{};
  std::span<const graph::Symbol> symbols{};
  int outputs = 0;
};

template <TableSizes S> [[nodiscard]] constexpr TableView view_of(const FrozenTable<S>& table) {
  return {{table.values.data(), S.values},
          {table.operands.data(), S.operands},
          {table.instructions.data(), S.instructions},
          {table.kernels.data(), S.kernels},
          {table.lines.data(), S.lines},
          {table.inputs.data(), S.inputs},
          {table.parameters.data(), S.parameters},
          {table.knobs.data(), S.knobs},
          {table.symbols.data(), S.symbols},
          S.outputs};
}

} // namespace twill::inline v0::compile
