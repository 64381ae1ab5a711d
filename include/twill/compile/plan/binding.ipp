#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/plan/binding.hpp.

#include <twill/compile/plan/binding.hpp>
#include <twill/core/text.hpp>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

TWILL_COLD TWILL_BODY void refuse_shape(const TableView& table, std::span<const Dims> inputs, const CallSite& site,
                                        std::size_t input, int axis) {
  const graph::Extents& declared = table.inputs[input].shape;
  const std::string begin = title_of(table.name, site) + ": " + argument_of(table.name, input);
  const std::string_view taker = table.name.is_model && input < table.name.inputs ? "the model takes "
                                 : table.name.is_model                            ? "the loss takes "
                                                                                  : "the function takes ";
  if (axis < 0)
    throw ShapeError(join_text(
        {begin, ": ", taker, declared.rank, " dimensions, got ", inputs[input].rank, ": ", to_string(inputs[input])}));
  const std::int64_t given = inputs[input][axis];
  const graph::Extent extent = declared[axis];
  if (extent.is_static())
    throw ShapeError(join_text({begin, ", axis ", axis, ": ", taker, extent.factor, ", got ", given}));
  const std::string_view name = table.symbols[static_cast<std::size_t>(extent.single_symbol())].name.view();
  const std::string label = name.empty() ? std::string{} : join_text({" (\"", name, "\")"});
  const std::string at = join_text({begin, ", axis ", axis, label, ": "});
  for (std::size_t first = 0; first <= input; ++first) // the first place of a symbol gives it its number
    for (int place = 0; place < table.inputs[first].shape.rank; ++place) {
      if (!(table.inputs[first].shape[place] == extent)) continue;
      throw ShapeError(join_text({at, taker, inputs[first][place], ", as in axis ", place, " of ",
                                  argument_of(table.name, first), ", got ", given}));
    }
  throw ShapeError(join_text({at, "got ", given}));
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY graph::SymbolValues resolve_symbols(const TableView& table, std::span<const Dims> inputs,
                                               const CallSite& site) {
  graph::SymbolValues values{};
  values.fill(-1);
  for (std::size_t i = 0; i < table.inputs.size(); ++i) {
    const graph::Extents& declared = table.inputs[i].shape;
    const Dims& given = inputs[i];
    if (declared.rank != given.rank) detail::refuse_shape(table, inputs, site, i, -1);
    for (int axis = 0; axis < declared.rank; ++axis) {
      const graph::Extent extent = declared[axis];
      std::int64_t wanted = extent.factor;
      if (!extent.is_static()) {
        std::int64_t& value = values[static_cast<std::size_t>(extent.single_symbol())];
        if (value < 0) value = given[axis];
        wanted = value;
      }
      if (wanted != given[axis]) detail::refuse_shape(table, inputs, site, i, axis);
    }
  }
  return values;
}

TWILL_BODY kernel::Launch Binding::launch_of(const BoundInstruction& instruction) const {
  return {instruction.grid,
          operands.data() + instruction.first_operand,
          shapes.data() + instruction.first_shape,
          dtypes.data() + instruction.first_operand,
          instruction.attributes,
          orders};
}

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void check_requirements(const TableView& table, const graph::SymbolValues& symbols) {
  for (const graph::Requirement& requirement : table.requirements)
    if (const std::int64_t given = requirement.extent.evaluate(symbols); given < requirement.minimum)
      throw ShapeError(join_text({title_of(table.name), ": ", requirement.layer.view(), ": ", requirement.what,
                                  ", at least ", requirement.minimum, ", got ", given}));
}

TWILL_BODY void bind_operand(const OperandBinding& info, const graph::SymbolValues& symbols, kernel::Operand& operand) {
  if (info.kind == OperandKind::nothing) return;
  if (info.kind == OperandKind::immediate) {
    operand.bits = kernel::bits_of(info.dtype, info.number / static_cast<double>(info.over.evaluate(symbols)));
    return;
  }
  const Dims strides = contiguous_strides(info.view.evaluate(symbols));
  for (std::size_t d = 0; d < max_rank; ++d)
    if (info.axis_of[d] >= 0) operand.strides[d] = strides[info.axis_of[d]];
}

TWILL_BODY Stepping stepping_of(const OperandBinding& info, const LoopRegion& loop,
                                const graph::SymbolValues& symbols) {
  const int axis = info.axis_of[step_axis + static_cast<std::size_t>(loop.depth)];
  if (info.kind == OperandKind::nothing || info.kind == OperandKind::immediate || axis < 0) return {};
  const std::int64_t unit = info.kind == OperandKind::position ? 1 : static_cast<std::int64_t>(size_of(info.dtype));
  const std::int64_t step = contiguous_strides(info.view.evaluate(symbols))[axis] * unit;
  const std::int64_t count = loop.count.evaluate(symbols);
  if (!loop.reversed) return {step, 0};
  return {-step, count > 0 ? (count - 1) * step : 0};
}

TWILL_BODY void bind_loops(Binding& binding, const TableView& table) {
  for (const LoopRegion& loop : table.loops) {
    BoundLoop bound{static_cast<std::size_t>(loop.first), static_cast<std::size_t>(loop.last) + 1,
                    loop.count.evaluate(binding.symbols), binding.moving.size(), 0};
    for (std::size_t i = bound.first; i < bound.end; ++i)
      for (int k = 0; k < table.instructions[i].operand_count; ++k) {
        const auto position = static_cast<std::size_t>(table.instructions[i].first_operand + k);
        const OperandBinding& info = table.operands[position];
        if (const Stepping moves = stepping_of(info, loop, binding.symbols); moves.step != 0)
          binding.moving.push_back({position, moves.step, info.kind == OperandKind::position});
      }
    bound.end_moving = binding.moving.size();
    binding.loops.push_back(bound);
  }
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY Binding bind(const TableView& table, const graph::SymbolValues& symbols) {
  detail::check_requirements(table, symbols);
  Binding binding{};
  binding.symbols = symbols;
  binding.operands.resize(table.operands.size());
  binding.dtypes.resize(table.operands.size());
  for (const graph::Extents& shape : table.shapes) binding.shapes.push_back(shape.evaluate(symbols));
  List<OutsideOperand> staying{};
  ArenaPlan plan = plan_arenas(table, symbols);
  binding.segments = segments_of(table, plan);
  binding.value_bytes.swap(plan.value_bytes);
  binding.arenas.swap(plan.arenas);
  binding.arena_bytes = plan.bytes;
  detail::bind_loops(binding, table);
  std::size_t launch = 0;
  for (const Instruction& instruction : table.instructions) {
    BoundInstruction bound{};
    bound.kernel = static_cast<std::size_t>(instruction.kernel);
    bound.grid = instruction.grid.evaluate(symbols);
    static_cast<void>(instruction.grid.elements().evaluate(symbols)); // throws where they exceed 64 bits
    bound.collective = instruction.collective;
    bound.first_operand = static_cast<std::size_t>(instruction.first_operand);
    bound.operand_count = static_cast<std::size_t>(instruction.operand_count);
    bound.first_shape = static_cast<std::size_t>(instruction.first_shape);
    if (!table.attributes.empty()) bound.attributes = table.attributes.data() + instruction.first_attribute;
    for (std::size_t k = 0; k < static_cast<std::size_t>(instruction.operand_count); ++k) {
      const std::size_t position = bound.first_operand + k;
      const OperandBinding& info = table.operands[position];
      detail::bind_operand(info, symbols, binding.operands[position]);
      binding.dtypes[position] = info.dtype;
      std::int64_t start = 0;
      for (int loop = instruction.loop; loop >= 0; loop = table.loops[static_cast<std::size_t>(loop)].around)
        start += detail::stepping_of(info, table.loops[static_cast<std::size_t>(loop)], symbols).start;
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
        (value.storage == Storage::run_scalar                          ? binding.numbers
         : value.storage == Storage::parameter && instruction.loop < 0 ? staying
                                                                       : binding.outside)
            .push_back({position, value.storage, static_cast<std::size_t>(value.index), start});
    }
    const KernelKind kind = table.kernels[static_cast<std::size_t>(instruction.kernel)].kind;
    if (kind == KernelKind::elementwise || kind == KernelKind::rows)
      kernel::coalesce(bound.grid, binding.operands.data() + bound.first_operand, instruction.operand_count,
                       kind == KernelKind::rows);
    binding.instructions.push_back(bound);
    if (instruction.continues) {
      ++binding.instructions[launch].members;
    } else {
      launch = binding.instructions.size() - 1;
    }
  }
  binding.first_staying = binding.outside.size();
  for (const OutsideOperand& operand : staying) binding.outside.push_back(operand);
  return binding;
}

}}}} // namespace twill::v0::compile::TWILL_ISA
