#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A table for given sizes: every grid, stride, immediate and arena offset as a number. Made once for each batch size and
// kept; between runs only the addresses of what lies outside the arena change. This file knows no device. Read next:
// compile/executor.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/kernel/call.hpp>
#include <twill/kernel/coalesce.hpp>
#include <twill/memory/offsets.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// The bit pattern of a number as an element type, in the low bytes.
[[nodiscard]] inline std::uint64_t bits_of(DType dtype, double number) {
  std::uint64_t bits = 0;
  const auto put = [&](auto value) { std::memcpy(&bits, &value, sizeof(value)); };
  switch (dtype) {
  case DType::boolean:
    put(number != 0);
    break;
  case DType::uint8:
    put(static_cast<std::uint8_t>(number));
    break;
  case DType::int32:
    put(static_cast<std::int32_t>(number));
    break;
  case DType::int64:
    put(static_cast<std::int64_t>(number));
    break;
  case DType::float16:
    put(half(number));
    break;
  case DType::bfloat16:
    put(bfloat16(number));
    break;
  case DType::float32:
    put(static_cast<float>(number));
    break;
  case DType::float64:
    put(number);
    break;
  }
  return bits;
}

/// The numbers of all symbols from the extents of the inputs.
/// throws: ShapeError naming the input, the axis and both values
[[nodiscard]] inline graph::SymbolValues resolve_symbols(const TableView& table, std::span<const Dims> inputs) {
  graph::SymbolValues values{};
  values.fill(-1);
  const auto where = [](std::size_t input, int axis) {
    return "input " + std::to_string(input) + ", axis " + std::to_string(axis) + ": ";
  };
  for (std::size_t i = 0; i < table.inputs.size(); ++i) {
    const graph::Extents& declared = table.inputs[i].shape;
    const Dims& given = inputs[i];
    if (declared.rank != given.rank)
      throw ShapeError("input " + std::to_string(i) + ": the function takes " + std::to_string(declared.rank) +
                       " dimensions, got " + to_string(given));
    for (int axis = 0; axis < declared.rank; ++axis) {
      const graph::Extent extent = declared[axis];
      if (extent.is_static()) {
        if (extent.factor != given[axis])
          throw ShapeError(where(i, axis) + "the function takes " + std::to_string(extent.factor) + ", got " +
                           std::to_string(given[axis]));
        continue;
      }
      const auto symbol = static_cast<std::size_t>(extent.single_symbol());
      std::int64_t& value = values[symbol];
      if (value >= 0 && value != given[axis])
        throw ShapeError(where(i, axis) + "dimension '" + std::string{table.symbols[symbol].name.view()} + "' is " +
                         std::to_string(value) + " in another input, got " + std::to_string(given[axis]));
      value = given[axis];
    }
  }
  return values;
}

/// What an instruction does of an update that is made inside a product, see compile/descents.hpp.
enum class DescentPart : std::uint8_t {
  none,          ///< it runs as it is
  keeps_factors, ///< a product that is not multiplied: its factors lie in its place
  updates,       ///< multiplies them, and changes the weight by each element
};

/// One launch with everything but outside addresses filled in.
struct BoundInstruction {
  std::size_t kernel = 0; ///< in the table's list
  kernel::Grid grid{};
  std::size_t first_operand = 0;
  std::size_t operand_count = 0;
  std::size_t first_shape = 0;
  const std::int64_t* attributes = nullptr;
  std::size_t members = 1; ///< instructions of the launch that begins here
  kernel::Collective collective = kernel::Collective::none;
  DescentPart part = DescentPart::none;
  bool descends = false;   ///< some instruction of the launch that begins here has such a part
  std::size_t product = 0; ///< of an update inside a product: the instruction of the product
};

/// An operand whose address is given anew in each run.
struct OutsideOperand {
  std::size_t operand = 0;
  Storage storage = Storage::input;
  std::size_t index = 0;
  std::int64_t start = 0; ///< bytes from the first element to that of a loop's first step
};

/// An operand that moves from step to step of a loop.
struct SteppingOperand {
  std::size_t operand = 0;
  std::int64_t step = 0; ///< bytes, or positions
  bool is_position = false;
};

/// Instructions that run for every step, and which operands move then.
struct BoundLoop {
  std::size_t first = 0; ///< instruction
  std::size_t end = 0;
  std::int64_t count = 0;
  std::size_t first_moving = 0;
  std::size_t end_moving = 0;
};

/// An operand that counts the elements of a random tensor from the run's first row on.
struct RandomOperand {
  std::size_t operand = 0;
  std::int64_t elements_per_row = 0;
  std::int64_t start = 0; ///< the position in a loop's first step
};

/// Where the temporaries of a slot lie, among those of all.
struct SlotArena {
  std::size_t first = 0;
  std::size_t bytes = 0;
};

struct Binding {
  /// What an instruction hands to its kernel.
  [[nodiscard]] kernel::Call call(const BoundInstruction& instruction) const {
    return {instruction.grid,
            operands.data() + instruction.first_operand,
            shapes.data() + instruction.first_shape,
            dtypes.data() + instruction.first_operand,
            instruction.attributes,
            orders};
  }

  graph::SymbolValues symbols{};
  List<BoundInstruction> instructions{};
  List<kernel::Operand> operands{};
  List<DType> dtypes{};           ///< of each operand
  List<Dims> shapes{};            ///< of the operands of operations
  List<OutsideOperand> outside{}; ///< inputs, parameters and outputs
  List<OutsideOperand> numbers{}; ///< run-time numbers
  List<OutsideOperand> inside{};  ///< `index` is the offset in the arena
  List<RandomOperand> random{};
  List<BoundLoop> loops{};
  List<std::size_t> collectives{}; ///< the instructions that are calls of a group, outside of all loops
  List<SteppingOperand> moving{};
  List<std::size_t> value_bytes{};
  List<SlotArena> arenas{}; ///< for each slot
  std::size_t arena_bytes = 0;
  cpu::KeptOrders* orders = nullptr;                    ///< of the run's weights, if somebody keeps them
  std::shared_ptr<const std::vector<NodeInfo>> nodes{}; ///< what the launches are, once somebody has asked
};

} // namespace twill::inline v0::compile::inline TWILL_ISA

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

inline void check_requirements(const TableView& table, const graph::SymbolValues& symbols) {
  for (const graph::Requirement& requirement : table.requirements)
    if (const std::int64_t given = requirement.extent.evaluate(symbols); given < requirement.minimum)
      throw ShapeError(std::string{requirement.layer.view()} + ": " + std::string{requirement.what} + ", at least " +
                       std::to_string(requirement.minimum) + ", got " + std::to_string(given));
}

constexpr std::int64_t cache_line = 64; // values do not share one

/// The offsets of the temporaries of a slot; `planned` says which of them a value has.
[[nodiscard]] constexpr memory::OffsetPlan plan_arena(const TableView& table, const graph::SymbolValues& symbols,
                                                      List<std::size_t>& value_bytes, List<int>& planned,
                                                      int slot = 0) {
  List<memory::Lifetime> lifetimes{};
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    const ValueInfo& value = table.values[v];
    value_bytes[v] = static_cast<std::size_t>(value.shape.elements().evaluate(symbols)) * size_of(value.dtype);
    if (value.storage != Storage::temporary || value.first_use < 0 || value.slot != slot) continue;
    planned[v] = static_cast<int>(lifetimes.size());
    lifetimes.push_back({static_cast<std::int64_t>(value_bytes[v]), value.first_use, value.last_use});
  }
  return memory::plan_offsets(lifetimes, cache_line);
}

/// The arenas of all slots, one behind the other.
struct ArenaPlan {
  List<std::size_t> value_bytes{};
  List<std::int64_t> offsets{}; ///< of each value, -1 for those outside
  List<SlotArena> arenas{};
  std::size_t bytes = 0;

  ArenaPlan() = default;
};

[[nodiscard]] inline ArenaPlan plan_arenas(const TableView& table, const graph::SymbolValues& symbols) {
  ArenaPlan all{};
  all.value_bytes.resize(table.values.size());
  all.offsets.resize(table.values.size(), -1);
  for (int slot = 0; slot < table.slots; ++slot) {
    List<int> planned(table.values.size(), -1);
    const memory::OffsetPlan plan = plan_arena(table, symbols, all.value_bytes, planned, slot);
    const auto bytes = static_cast<std::size_t>(plan.total_bytes);
    constexpr auto line = static_cast<std::size_t>(cache_line);
    const std::size_t first = (all.bytes + line - 1) / line * line;
    for (std::size_t v = 0; v < table.values.size(); ++v)
      if (planned[v] >= 0)
        all.offsets[v] = static_cast<std::int64_t>(first) + plan.offsets[static_cast<std::size_t>(planned[v])];
    all.arenas.push_back({first, bytes});
    all.bytes = first + bytes;
  }
  return all;
}

inline void bind_operand(const OperandInfo& info, const graph::SymbolValues& symbols, kernel::Operand& operand) {
  if (info.kind == OperandKind::nothing) return;
  if (info.kind == OperandKind::immediate) {
    operand.bits = bits_of(info.dtype, info.number / static_cast<double>(info.over.evaluate(symbols)));
    return;
  }
  const Dims strides = contiguous_strides(info.view.evaluate(symbols));
  for (std::size_t d = 0; d < max_rank; ++d)
    if (info.axis_of[d] >= 0) operand.strides[d] = strides[info.axis_of[d]];
}

/// Notes how an operand moves from step to step of its loop; returns how far from its first element it begins.
[[nodiscard]] inline std::int64_t note_steps(Binding& binding, const OperandInfo& info, std::size_t operand,
                                             const LoopRegion& loop) {
  const int axis = info.axis_of[step_axis];
  if (info.kind == OperandKind::nothing || info.kind == OperandKind::immediate || axis < 0) return 0;
  const bool is_position = info.kind == OperandKind::position;
  const std::int64_t unit = is_position ? 1 : static_cast<std::int64_t>(size_of(info.dtype));
  const std::int64_t step = contiguous_strides(info.view.evaluate(binding.symbols))[axis] * unit;
  binding.moving.push_back({operand, loop.reversed ? -step : step, is_position});
  const std::int64_t count = loop.count.evaluate(binding.symbols);
  return loop.reversed && count > 0 ? (count - 1) * step : 0;
}

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Fills in every number that depends on the sizes. throws: ShapeError naming the layer that they do not suit
[[nodiscard]] inline Binding bind(const TableView& table, const graph::SymbolValues& symbols) {
  detail::check_requirements(table, symbols);
  Binding binding{};
  binding.symbols = symbols;
  binding.operands.resize(table.operands.size());
  binding.dtypes.resize(table.operands.size());
  for (const graph::Extents& shape : table.shapes) binding.shapes.push_back(shape.evaluate(symbols));
  detail::ArenaPlan plan = detail::plan_arenas(table, symbols);
  binding.value_bytes.swap(plan.value_bytes);
  binding.arenas.swap(plan.arenas);
  binding.arena_bytes = plan.bytes;
  std::size_t launch = 0;
  for (const Instruction& instruction : table.instructions) {
    BoundInstruction bound{};
    const LoopRegion* const loop =
        instruction.loop < 0 ? nullptr : &table.loops[static_cast<std::size_t>(instruction.loop)];
    if (loop != nullptr && binding.loops.size() <= static_cast<std::size_t>(instruction.loop))
      binding.loops.push_back({static_cast<std::size_t>(loop->first), static_cast<std::size_t>(loop->last) + 1,
                               loop->count.evaluate(symbols), binding.moving.size(), binding.moving.size()});
    bound.kernel = static_cast<std::size_t>(instruction.kernel);
    bound.grid = instruction.grid.evaluate(symbols);
    bound.collective = instruction.collective;
    if (instruction.collective != kernel::Collective::none) binding.collectives.push_back(binding.instructions.size());
    bound.first_operand = static_cast<std::size_t>(instruction.first_operand);
    bound.operand_count = static_cast<std::size_t>(instruction.operand_count);
    bound.first_shape = static_cast<std::size_t>(instruction.first_shape);
    if (!table.attributes.empty()) bound.attributes = table.attributes.data() + instruction.first_attribute;
    for (std::size_t k = 0; k < static_cast<std::size_t>(instruction.operand_count); ++k) {
      const std::size_t position = bound.first_operand + k;
      const OperandInfo& info = table.operands[position];
      detail::bind_operand(info, symbols, binding.operands[position]);
      binding.dtypes[position] = info.dtype;
      const std::int64_t start = loop == nullptr ? 0 : detail::note_steps(binding, info, position, *loop);
      if (info.kind == OperandKind::position) binding.operands[position].bits = static_cast<std::uint64_t>(start);
      if (info.kind == OperandKind::position && info.random)
        binding.random.push_back(
            {position, info.view.rank == 0 ? 0 : contiguous_strides(info.view.evaluate(symbols))[0], start});
      if (info.kind != OperandKind::memory) continue;
      const auto v = static_cast<std::size_t>(info.value);
      const ValueInfo& value = table.values[v];
      if (value.storage == Storage::temporary)
        binding.inside.push_back({position, Storage::temporary, static_cast<std::size_t>(plan.offsets[v]), start});
      else
        (value.storage == Storage::knob ? binding.numbers : binding.outside)
            .push_back({position, value.storage, static_cast<std::size_t>(value.index), start});
    }
    const KernelKind kind = table.kernels[static_cast<std::size_t>(instruction.kernel)].kind;
    if (kind == KernelKind::elementwise || kind == KernelKind::rows)
      kernel::coalesce(bound.grid, binding.operands.data() + bound.first_operand, instruction.operand_count,
                       kind == KernelKind::rows);
    binding.instructions.push_back(bound);
    if (loop != nullptr) binding.loops.back().end_moving = binding.moving.size();
    if (instruction.continues) {
      ++binding.instructions[launch].members;
    } else {
      launch = binding.instructions.size() - 1;
    }
  }
  return binding;
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
