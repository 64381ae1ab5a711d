#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tables, the results of compilation: flat arrays of values, operands and instructions, and the lines of each distinct
// program. The records are vectors during constant evaluation, constexpr arrays afterwards, and views for the executor,
// which is not a template over the graph. Read next: compile/passes/lower.hpp, compile/run/executor.hpp.

#include <twill/compile/call_name.hpp>
#include <twill/compile/passes/reading.hpp>
#include <twill/core/config.hpp>
#include <twill/kernel/rank_group.hpp>
#include <twill/kernel/summary.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

enum class Storage : std::uint8_t { input, parameter, run_scalar, output, temporary };

/// A tensor that exists in memory while a program runs.
struct ValueInfo {
  Storage storage = Storage::temporary;
  DType dtype = DType::float32;
  int index = 0; ///< among those of its storage
  int node = -1;
  int first_use = -1; ///< the first and the last instruction that touch it
  int last_use = -1;
  int slot = 0; ///< of the device that stores it
  Extents shape{};
};

enum class OperandKind : std::uint8_t {
  memory,
  immediate,
  position,
  nothing, ///< a result without a reader
};

/// The binding of one operand of a kernel at run time.
struct OperandBinding {
  OperandKind kind = OperandKind::memory;
  DType dtype = DType::float32;
  int value = -1; ///< memory: which value
  bool writes = false;
  bool random = false; ///< position: counts elements of a random tensor, from the run's first row on
  double number = 0;   ///< immediate: number / over
  graph::Extent over{};
  Extents view{}; ///< memory, position: seen as a contiguous tensor of this shape
  AxisMap axis_of = no_axes;

  [[nodiscard]] friend constexpr bool operator==(const OperandBinding&, const OperandBinding&) = default;
};

/// One launch.
struct Instruction {
  int kernel = 0;
  int first_operand = 0;
  int operand_count = 0;
  int first_node = -1;
  int first_shape = 0;     ///< operations: the shape of the first operand among those of the table
  int first_attribute = 0; ///< operations
  int loop = -1;           ///< the innermost in whose steps it runs
  bool continues = false;  ///< shares the launch of the instruction before it
  bool moves = false;      ///< no launch, but a copy of its operand from another slot
  int slot = 0;            ///< of the device on which it runs; of a move that to which it brings its operand
  int scope = 0;           ///< in which it was traced, from 1; negative: for the gradient of what was traced there
  kernel::Collective collective = kernel::Collective::none; ///< other than none: no launch, but a call of a group
  graph::Extent multiply_adds{0};                           ///< of matrix products and convolutions
  Extents grid{};
};

/// Instructions that run again for every step. Those of a loop inside are among them; it has a higher number.
struct LoopRegion {
  int first = 0; ///< instruction
  int last = 0;
  graph::Extent count{};
  bool reversed = false; ///< begins with the last elements
  int around = -1;       ///< the loop in whose steps it runs, -1 for none
  int depth = 0;         ///< operands move with its steps along the axis `step_axis + depth` of their maps
};

using kernel::Line;
using kernel::LineKind;

/// The loop form of a kernel.
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
  /// What the operation's kernel takes of a GPU's pool, see graph::Operation; null: nothing.
  std::int64_t (*working_bytes)(const graph::SizedCall& call) = nullptr;
};

// The lists of records of a table, for structures that hold them in several forms: `list(type, name)`.
// clang-format off
#define TWILL_TABLE_LISTS(list) \
  list(ValueInfo, values) \
  list(OperandBinding, operands) \
  list(Instruction, instructions) \
  list(KernelInfo, kernels) \
  list(Line, lines) \
  list(Extents, shapes) /* of the operands of operations */ \
  list(std::int64_t, attributes) /* of operations */ \
  list(graph::InputInfo, inputs) \
  list(graph::ParameterInfo, parameters) \
  list(graph::RunScalarInfo, run_scalars) \
  list(graph::Symbol, symbols) \
  list(graph::Requirement, requirements) \
  list(LoopRegion, loops) \
  list(graph::TapInfo, taps) \
  list(graph::IntegerBounds, bounds) \
  list(graph::Name, scopes) /* the paths of instructions */
// clang-format on

/// A table that grows while a graph is lowered.
struct Lowered {
#define TWILL_LIST(type, name) List<type> name{};
  TWILL_TABLE_LISTS(TWILL_LIST)
#undef TWILL_LIST
  List<const graph::Operation*> operations{}; ///< for each kernel its operation, null for programs
  graph::Fault fault{};
  int outputs = 0;
  int slots = 1;           ///< of devices
  bool suits_gpus = false; ///< the program of a GPU

  constexpr Lowered() = default;
};

/// The number of records of each kind in a table.
struct TableSizes {
#define TWILL_LIST(type, name) std::size_t name = 0;
  TWILL_TABLE_LISTS(TWILL_LIST)
#undef TWILL_LIST
  int outputs = 0;
  graph::Fault fault{};
  int slots = 1;
  bool suits_gpus = false;
};

[[nodiscard]] TWILL_CONSTEXPR TableSizes sizes_of(const Lowered& lowered) {
  TableSizes sizes{};
#define TWILL_LIST(type, name) sizes.name = lowered.name.size();
  TWILL_TABLE_LISTS(TWILL_LIST)
#undef TWILL_LIST
  sizes.outputs = lowered.outputs;
  sizes.fault = lowered.fault;
  sizes.slots = lowered.slots;
  sizes.suits_gpus = lowered.suits_gpus;
  return sizes;
}

/// A table as constexpr data. Empty lists hold one unused record, because an array has to.
template <TableSizes S> struct FrozenTable {
  template <class T, std::size_t N> using Array = std::array<T, N == 0 ? 1 : N>;

  static constexpr TableSizes sizes = S;
#define TWILL_LIST(type, name) Array<type, S.name> name{};
  TWILL_TABLE_LISTS(TWILL_LIST)
#undef TWILL_LIST
};

/// A table with room for S from lists, or from another table, that hold `count` records.
template <TableSizes S, class From>
[[nodiscard]] constexpr FrozenTable<S> freeze(const From& from, const TableSizes& count) {
  FrozenTable<S> table{};
#define TWILL_LIST(type, name) copy_records(from.name, count.name, table.name);
  TWILL_TABLE_LISTS(TWILL_LIST)
#undef TWILL_LIST
  return table;
}

/// Room that most functions fit into. Arrays need their sizes before their contents: functions that fit are compiled
/// once, and only larger ones a second time.
inline constexpr TableSizes usual_room{.values = 64,
                                       .operands = 160,
                                       .instructions = 48,
                                       .kernels = 24,
                                       .lines = 160,
                                       .shapes = 32,
                                       .attributes = 16,
                                       .inputs = 6,
                                       .parameters = 16,
                                       .run_scalars = 8,
                                       .symbols = 4,
                                       .requirements = 2,
                                       .loops = 2,
                                       .bounds = 2,
                                       .scopes = 8};

[[nodiscard]] TWILL_CONSTEXPR bool fits(const TableSizes& sizes, const TableSizes& room) {
#define TWILL_LIST(type, name)                                                                                         \
  if (sizes.name > room.name) return false;
  TWILL_TABLE_LISTS(TWILL_LIST)
#undef TWILL_LIST
  return true;
}

/// A table, and the operations of its kernels. They stay out of the table: run-time references to it would bring their
/// tracing functions into the program.
template <TableSizes S> struct Frozen {
  FrozenTable<S> table{};
  std::array<const graph::Operation*, S.kernels == 0 ? 1 : S.kernels> operations{};

  template <class From, class Operations>
  constexpr Frozen(const From& from, const Operations& known, const TableSizes& count) : table{freeze<S>(from, count)} {
    for (std::size_t i = 0; i < count.kernels; ++i) operations.data()[i] = known.data()[i];
  }
};

/// The parts that types are made of: each program's lines, and which kernels are operations, or run several launches.
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

/// A table as executors and reports read it.
struct TableView {
#define TWILL_LIST(type, name) ListView<type> name{};
  TWILL_TABLE_LISTS(TWILL_LIST)
#undef TWILL_LIST
  int outputs = 0;
  int slots = 1;
  bool suits_gpus = false;
  CallName name{}; ///< of the call that runs it, for messages
};

template <TableSizes S> [[nodiscard]] constexpr TableView view_of(const FrozenTable<S>& table) {
  TableView view{};
#define TWILL_LIST(type, name) view.name = {table.name.data(), S.name};
  TWILL_TABLE_LISTS(TWILL_LIST)
#undef TWILL_LIST
  view.outputs = S.outputs;
  view.slots = S.slots;
  view.suits_gpus = S.suits_gpus;
  return view;
}

/// The outermost of the loops in whose steps an instruction runs, -1 for none.
[[nodiscard]] TWILL_CONSTEXPR int outermost_loop(const TableView& table, const Instruction& instruction) {
  int loop = instruction.loop;
  while (loop >= 0 && table.loops.data()[loop].around >= 0) loop = table.loops.data()[loop].around;
  return loop;
}

/// A view of a table that is still growing, which has to stay at its address.
[[nodiscard]] TWILL_CONSTEXPR TableView view_of(const Lowered& lowered) {
  TableView view{};
#define TWILL_LIST(type, name) view.name = {lowered.name.data(), lowered.name.size()};
  TWILL_TABLE_LISTS(TWILL_LIST)
#undef TWILL_LIST
  view.outputs = lowered.outputs;
  view.slots = lowered.slots;
  view.suits_gpus = lowered.suits_gpus;
  return view;
}

}}}} // namespace twill::v0::compile::TWILL_ISA

#undef TWILL_TABLE_LISTS
