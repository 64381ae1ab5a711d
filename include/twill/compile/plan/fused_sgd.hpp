#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fused SGD updates: updates of a table that are made inside the matrix product that gives their gradient. The update
// is plain gradient descent, the product's result has no other reader, and its factors take no more room than it: then
// the product's place in the arena keeps copies of the factors until the update multiplies them. So every value lives
// as long as before, and memory plans are the same for all kinds of device. Read next: compile/run/launch.hpp.

#include <twill/compile/run/bindings.hpp>
#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Two instructions: a matrix product, and the update that is its only reader.
struct FusedSgdUpdate {
  int product = -1; ///< its instruction
  int update = -1;  ///< its instruction
};

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// The places of the operands of such an update among those of its instruction.
struct SgdOperands {
  static constexpr int weight = 0;
  static constexpr int rate = 1;
  static constexpr int gradient = 2;
  static constexpr int decay = 3;
  static constexpr int result = 4;
};

/// Whether the lines are those of w -= rate * (g + decay * w), the rule of optim/sgd.hpp.
[[nodiscard]] TWILL_CONSTEXPR bool is_sgd_update(const TableView& table, const KernelInfo& kernel) {
  constexpr int count = 9;
  if (kernel.kind != KernelKind::elementwise || kernel.line_count != count) return false;
  const DType dtype = table.lines[static_cast<std::size_t>(kernel.first_line)].type;
  if (dtype != DType::float32 && dtype != DType::float64) return false;
  const Line dense{.kind = LineKind::input, .type = dtype};
  const Line number{.kind = LineKind::input, .type = dtype, .access = kernel::Access::uniform};
  const auto step = [dtype](Primitive primitive, int first, int second) {
    return Line{.type = dtype, .primitive = primitive, .arity = 2, .arguments = {first, second}};
  };
  const Line expected[count] = {dense,
                                number,
                                dense,
                                number,
                                step(Primitive::multiply, 3, 0),
                                step(Primitive::add, 2, 4),
                                step(Primitive::multiply, 1, 5),
                                step(Primitive::subtract, 0, 6),
                                {.kind = LineKind::output, .type = dtype, .arity = 1, .arguments = {7}}};
  for (int i = 0; i < count; ++i)
    if (table.lines[static_cast<std::size_t>(kernel.first_line + i)] != expected[i]) return false;
  return true;
}

[[nodiscard]] TWILL_CONSTEXPR const OperandBinding& operand_of(const TableView& table, const Instruction& instruction,
                                                               int k) {
  return table.operands[static_cast<std::size_t>(instruction.first_operand + k)];
}

/// The instruction of the matrix product that writes a value which `update` alone reads, -1 where there is none.
[[nodiscard]] TWILL_CONSTEXPR int product_for(const TableView& table, int update, int value) {
  int product = -1;
  for (int i = 0; i < static_cast<int>(table.instructions.size()); ++i) {
    const Instruction& instruction = table.instructions[static_cast<std::size_t>(i)];
    for (int k = 0; k < instruction.operand_count; ++k) {
      const OperandBinding& operand = operand_of(table, instruction, k);
      if (operand.kind != OperandKind::memory || operand.value != value) continue;
      if (i == update && k == SgdOperands::gradient) continue;
      const bool is_product = table.kernels[static_cast<std::size_t>(instruction.kernel)].is_product;
      if (!is_product || product >= 0 || i > update || !operand.writes || instruction.loop >= 0) return -1;
      product = i;
    }
  }
  return product;
}

/// Whether multiplying in the update takes less time than a product whose result is written and read again. For factors
/// of one or two rows a step of bench/training/mlp_step takes 0.45 and 0.75 times as long, and both add in the same
/// order, so no bit changes; from four rows on a library's product gains as much as the passes over the gradient cost.
[[nodiscard]] TWILL_CONSTEXPR bool fuses_faster(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t most_factor_rows = 2;
  return k > 0 && k <= most_factor_rows && k * (m + n) <= m * n;
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The updates that are made inside a product, for these sizes.
[[nodiscard]] TWILL_CONSTEXPR List<FusedSgdUpdate> find_fused_sgd(const TableView& table,
                                                                  const graph::SymbolValues& symbols) {
  using At = detail::SgdOperands;
  List<FusedSgdUpdate> found{};
  if (table.slots > 1) return found;
  for (int i = 0; i < static_cast<int>(table.instructions.size()); ++i) {
    const Instruction& update = table.instructions[static_cast<std::size_t>(i)];
    if (update.loop >= 0 || !detail::is_sgd_update(table, table.kernels[static_cast<std::size_t>(update.kernel)]))
      continue;
    const OperandBinding& weight = detail::operand_of(table, update, At::weight);
    const OperandBinding& gradient = detail::operand_of(table, update, At::gradient);
    const OperandBinding& result = detail::operand_of(table, update, At::result);
    if (table.values[static_cast<std::size_t>(gradient.value)].storage != Storage::temporary) continue;
    if (weight.value != result.value || !(weight.view == gradient.view) || weight.axis_of != gradient.axis_of) continue;
    const int product = detail::product_for(table, i, gradient.value);
    if (product < 0) continue;
    const Extents& grid = table.instructions[static_cast<std::size_t>(product)].grid;
    if (grid.rank != 3) continue;
    const std::int64_t m = grid[0].evaluate(symbols);
    const std::int64_t n = grid[1].evaluate(symbols);
    if (weight.view.elements().evaluate(symbols) != m * n) continue;
    if (detail::fuses_faster(m, n, grid[2].evaluate(symbols))) found.push_back({product, i});
  }
  return found;
}

/// Marks the updates in each binding of a program that a host device runs and whose arena is not observed.
class FuseSgdUpdates final : public BindingEdit {
public:
  /// Those of weights of one type, run by `fused_sgd` of that type (compile/run/launch.hpp).
  FuseSgdUpdates(DType weights, FusedSgdFunction run) : weights_{weights}, run_{run} {}

  TWILL_BODY void apply(const TableView& table, Binding& binding) const override;

private:
  DType weights_;
  FusedSgdFunction run_;
};

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/plan/fused_sgd.ipp>
#endif
