#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What is left of a graph when the compiler is done: flat arrays of values, operands and instructions, and the lines of
// each distinct program. The same records serve as vectors during constant evaluation, as constexpr arrays afterwards and
// as spans for the executor, which is not a template over the graph. Read next: compile/passes/lower.hpp, compile/run/executor.hpp.

#include <twill/compile/passes/reading.hpp>
#include <twill/core/config.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/rank_group.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace twill::inline v0::compile::inline TWILL_ISA {

enum class Storage : std::uint8_t { input, parameter, knob, output, temporary };

/// A tensor that exists in memory while a program runs.
struct ValueInfo {
  Storage storage = Storage::temporary;
  DType dtype = DType::float32;
  int index = 0; ///< among those of its storage
  int node = -1;
  int first_use = -1; ///< the first and the last instruction that touch it
  int last_use = -1;
  int slot = 0; ///< of the device on which it lies
  Extents shape{};
};

enum class OperandKind : std::uint8_t {
  memory,
  immediate,
  position,
  nothing, ///< a result that nobody reads
};

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
  int first_shape = 0;     ///< operations: the shape of the first operand among those of the table
  int first_attribute = 0; ///< operations
  int loop = -1;           ///< in whose steps it runs
  bool continues = false;  ///< shares the launch of the instruction before it
  bool moves = false;      ///< no launch, but a copy of its operand from another slot
  int slot = 0;            ///< of the device on which it runs; of a move that to which it brings its operand
  int scope = 0;           ///< in which it was traced, from 1; negative: for the gradient of what was traced there
  kernel::Collective collective = kernel::Collective::none; ///< other than none: no launch, but a call of a group
  graph::Extent multiply_adds{0};                           ///< of matrix products and convolutions
  Extents grid{};
};

/// Instructions that run again for every step.
struct LoopRegion {
  int first = 0; ///< instruction
  int last = 0;
  graph::Extent count{};
  bool reversed = false; ///< begins with the last elements
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

/// What sort of loop a kernel is.
enum class KernelKind : std::uint8_t {
  elementwise,
  rows,      ///< a program that reduces over the last axis
  columns,   ///< a program that reduces down the columns
  operation, ///< a matrix product, or another operation with a kernel of its own
};

/// A distinct kernel: a fused program, or an operation for one element type.
struct KernelInfo {
  KernelKind kind = KernelKind::elementwise;
  int first_line = 0;
  int line_count = 0;
  DType dtype = DType::float32;
  std::string_view operation{}; ///< its name
  bool is_product = false;      ///< a matrix product
};

/// Everything, growing.
struct Lowered {
  List<ValueInfo> values{};
  List<OperandInfo> operands{};
  List<Instruction> instructions{};
  List<KernelInfo> kernels{};
  List<const graph::Operation*> operations{}; ///< for each kernel its operation, null for programs
  List<Line> lines{};
  List<Extents> shapes{}; ///< of the operands of operations
  List<std::int64_t> attributes{};
  List<graph::InputInfo> inputs{};
  List<graph::ParameterInfo> parameters{};
  List<graph::KnobInfo> knobs{};
  List<graph::Symbol> symbols{};
  List<graph::Requirement> requirements{};
  List<LoopRegion> loops{};
  List<graph::TapInfo> taps{};
  List<graph::IntegerBounds> bounds{};
  List<graph::Name> scopes{}; ///< the paths of instructions
  graph::Fault fault{};
  int outputs = 0;
  int slots = 1; ///< of devices

  constexpr Lowered() = default;
};

/// How many records of each sort a frozen table holds.
struct TableSizes {
  std::size_t values = 0, operands = 0, instructions = 0, kernels = 0, lines = 0, shapes = 0, attributes = 0;
  std::size_t inputs = 0, parameters = 0, knobs = 0, symbols = 0, requirements = 0, loops = 0, taps = 0, bounds = 0;
  int outputs = 0;
  graph::Fault fault{};
  int slots = 1;
  std::size_t scopes = 0;
};

[[nodiscard]] TWILL_CONSTEXPR TableSizes sizes_of(const Lowered& lowered) {
  return {lowered.values.size(),     lowered.operands.size(), lowered.instructions.size(),
          lowered.kernels.size(),    lowered.lines.size(),    lowered.shapes.size(),
          lowered.attributes.size(), lowered.inputs.size(),   lowered.parameters.size(),
          lowered.knobs.size(),      lowered.symbols.size(),  lowered.requirements.size(),
          lowered.loops.size(),      lowered.taps.size(),     lowered.bounds.size(),
          lowered.outputs,           lowered.fault,           lowered.slots,
          lowered.scopes.size()};
}

/// The same as constexpr data. Empty lists hold one unused record, because an array has to.
template <TableSizes S> struct FrozenTable {
  template <class T, std::size_t N> using Array = std::array<T, N == 0 ? 1 : N>;

  static constexpr TableSizes sizes = S;
  Array<ValueInfo, S.values> values{};
  Array<OperandInfo, S.operands> operands{};
  Array<Instruction, S.instructions> instructions{};
  Array<KernelInfo, S.kernels> kernels{};
  Array<Line, S.lines> lines{};
  Array<Extents, S.shapes> shapes{};
  Array<std::int64_t, S.attributes> attributes{};
  Array<graph::InputInfo, S.inputs> inputs{};
  Array<graph::ParameterInfo, S.parameters> parameters{};
  Array<graph::KnobInfo, S.knobs> knobs{};
  Array<graph::Symbol, S.symbols> symbols{};
  Array<graph::Requirement, S.requirements> requirements{};
  Array<LoopRegion, S.loops> loops{};
  Array<graph::TapInfo, S.taps> taps{};
  Array<graph::IntegerBounds, S.bounds> bounds{};
  Array<graph::Name, S.scopes> scopes{};
};

/// A table with room for S from lists, or from another table, that hold `count` records.
template <TableSizes S, class From>
[[nodiscard]] constexpr FrozenTable<S> freeze(const From& from, const TableSizes& count) {
  FrozenTable<S> table{};
  const auto copy = [](const auto& records, std::size_t size, auto& to) {
    const auto* source = records.data();
    auto* target = to.data();
    for (std::size_t i = 0; i < size; ++i) target[i] = source[i];
  };
  copy(from.values, count.values, table.values);
  copy(from.operands, count.operands, table.operands);
  copy(from.instructions, count.instructions, table.instructions);
  copy(from.kernels, count.kernels, table.kernels);
  copy(from.lines, count.lines, table.lines);
  copy(from.shapes, count.shapes, table.shapes);
  copy(from.attributes, count.attributes, table.attributes);
  copy(from.inputs, count.inputs, table.inputs);
  copy(from.parameters, count.parameters, table.parameters);
  copy(from.knobs, count.knobs, table.knobs);
  copy(from.symbols, count.symbols, table.symbols);
  copy(from.requirements, count.requirements, table.requirements);
  copy(from.loops, count.loops, table.loops);
  copy(from.taps, count.taps, table.taps);
  copy(from.bounds, count.bounds, table.bounds);
  copy(from.scopes, count.scopes, table.scopes);
  return table;
}

/// Room that most functions fit into. Arrays need their sizes before their contents: what fits here is compiled once, and
/// only larger functions a second time.
inline constexpr TableSizes usual_room{64, 160, 48, 24, 160, 32, 16, 6, 16, 8, 4, 2, 2, 0, 2, 0, {}, 1, 8};

[[nodiscard]] TWILL_CONSTEXPR bool fits(const TableSizes& sizes, const TableSizes& room) {
  return sizes.values <= room.values && sizes.operands <= room.operands && sizes.instructions <= room.instructions &&
         sizes.kernels <= room.kernels && sizes.lines <= room.lines && sizes.shapes <= room.shapes &&
         sizes.attributes <= room.attributes && sizes.inputs <= room.inputs && sizes.parameters <= room.parameters &&
         sizes.knobs <= room.knobs && sizes.symbols <= room.symbols && sizes.requirements <= room.requirements &&
         sizes.loops <= room.loops && sizes.taps <= room.taps && sizes.bounds <= room.bounds &&
         sizes.scopes <= room.scopes;
}

/// A table, and the operations behind its kernels. They stay out of the table: what refers to it at run time would drag their
/// tracing functions into the program.
template <TableSizes S> struct Frozen {
  FrozenTable<S> table{};
  std::array<const graph::Operation*, S.kernels == 0 ? 1 : S.kernels> operations{};

  template <class From, class Operations>
  constexpr Frozen(const From& from, const Operations& known, const TableSizes& count) : table{freeze<S>(from, count)} {
    for (std::size_t i = 0; i < count.kernels; ++i) operations.data()[i] = known.data()[i];
  }
};

/// What types are made of: the lines of each program, and which kernels are operations, or run several launches as one.
template <TableSizes S> struct ProgramParts {
  static constexpr std::size_t kernel_count = S.kernels == 0 ? 1 : S.kernels;

  std::array<KernelInfo, kernel_count> kernels{};
  std::array<Line, S.lines == 0 ? 1 : S.lines> lines{};
  std::array<const graph::Operation*, kernel_count> operations{};
  std::array<bool, kernel_count> is_joined{};
  std::array<bool, kernel_count> is_without_kernel{}; ///< a group calls it, or it moves its operand

  constexpr explicit ProgramParts(const Frozen<S>& from)
      : kernels{from.table.kernels}, lines{from.table.lines}, operations{from.operations} {
    const Instruction* const instruction = from.table.instructions.data();
    for (std::size_t i = 0; i < S.instructions; ++i) {
      if (instruction[i].continues) is_joined[static_cast<std::size_t>(instruction[i].kernel)] = true;
      if (instruction[i].collective != kernel::Collective::none || instruction[i].moves)
        is_without_kernel[static_cast<std::size_t>(instruction[i].kernel)] = true;
    }
  }
};

/// The result of the first compilation: the sizes, and the rest where it fits.
template <TableSizes Room> struct Attempt {
  TableSizes sizes{};
  Frozen<Room> frozen;

  constexpr explicit Attempt(const Lowered& lowered)
      : sizes{sizes_of(lowered)}, frozen{lowered, lowered.operations, fits(sizes, Room) ? sizes : TableSizes{}} {}
};

/// The records of one sort in a table: what a reader needs of std::span, whose constructor makes the compiler check a dozen
/// iterator concepts for each type.
template <class T> struct Records {
  const T* first = nullptr;
  std::size_t count = 0;

  [[nodiscard]] constexpr const T* data() const { return first; }
  [[nodiscard]] constexpr std::size_t size() const { return count; }
  [[nodiscard]] constexpr bool empty() const { return count == 0; }
  [[nodiscard]] constexpr const T* begin() const { return first; }
  [[nodiscard]] constexpr const T* end() const { return first + count; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const { return first[i]; }
  [[nodiscard]] constexpr Records subspan(std::size_t offset, std::size_t size) const { return {first + offset, size}; }
};

/// A frozen table as the run time sees it.
struct TableView {
  Records<ValueInfo> values{};
  Records<OperandInfo> operands{};
  Records<Instruction> instructions{};
  Records<KernelInfo> kernels{};
  Records<Line> lines{};
  Records<Extents> shapes{};
  Records<std::int64_t> attributes{};
  std::span<const graph::InputInfo> inputs{};
  std::span<const graph::ParameterInfo> parameters{};
  std::span<const graph::KnobInfo> knobs{};
  Records<graph::Symbol> symbols{};
  Records<graph::Requirement> requirements{};
  Records<LoopRegion> loops{};
  std::span<const graph::TapInfo> taps{};
  Records<graph::IntegerBounds> bounds{};
  Records<graph::Name> scopes{};
  int outputs = 0;
  int slots = 1;
};

template <TableSizes S> [[nodiscard]] constexpr TableView view_of(const FrozenTable<S>& table) {
  return {{table.values.data(), S.values},
          {table.operands.data(), S.operands},
          {table.instructions.data(), S.instructions},
          {table.kernels.data(), S.kernels},
          {table.lines.data(), S.lines},
          {table.shapes.data(), S.shapes},
          {table.attributes.data(), S.attributes},
          {table.inputs.data(), S.inputs},
          {table.parameters.data(), S.parameters},
          {table.knobs.data(), S.knobs},
          {table.symbols.data(), S.symbols},
          {table.requirements.data(), S.requirements},
          {table.loops.data(), S.loops},
          {table.taps.data(), S.taps},
          {table.bounds.data(), S.bounds},
          {table.scopes.data(), S.scopes},
          S.outputs,
          S.slots};
}

/// A table that is still growing, as the run time would see it. It has to stay where it is.
[[nodiscard]] TWILL_CONSTEXPR TableView view_of(const Lowered& lowered) {
  return {{lowered.values.data(), lowered.values.size()},
          {lowered.operands.data(), lowered.operands.size()},
          {lowered.instructions.data(), lowered.instructions.size()},
          {lowered.kernels.data(), lowered.kernels.size()},
          {lowered.lines.data(), lowered.lines.size()},
          {lowered.shapes.data(), lowered.shapes.size()},
          {lowered.attributes.data(), lowered.attributes.size()},
          {lowered.inputs.data(), lowered.inputs.size()},
          {lowered.parameters.data(), lowered.parameters.size()},
          {lowered.knobs.data(), lowered.knobs.size()},
          {lowered.symbols.data(), lowered.symbols.size()},
          {lowered.requirements.data(), lowered.requirements.size()},
          {lowered.loops.data(), lowered.loops.size()},
          {lowered.taps.data(), lowered.taps.size()},
          {lowered.bounds.data(), lowered.bounds.size()},
          {lowered.scopes.data(), lowered.scopes.size()},
          lowered.outputs,
          lowered.slots};
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
