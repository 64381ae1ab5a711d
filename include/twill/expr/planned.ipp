#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/planned.hpp.

#include <twill/expr/planned.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

TWILL_BODY std::int64_t elements_of(const kernel::LaunchRecord& launch, const kernel::OperandRecord& operand) {
  if (operand.elements >= 0) return operand.elements;
  std::int64_t elements = 1;
  for (int axis = 0; axis < launch.grid.rank; ++axis)
    if (operand.strides[axis] != 0 || operand.kind == kernel::LineKind::gather) elements *= launch.grid[axis];
  return elements;
}

TWILL_BODY PlannedOperand described(const kernel::LaunchRecord& launch, const kernel::OperandRecord& operand) {
  const bool has_columns = launch.shape == kernel::KernelShape::column;
  const int last = launch.grid.rank - 1;
  const bool is_total = last >= 0 && operand.kind == kernel::LineKind::output && operand.strides[last] == 0;
  PlannedOperand result{.dtype = operand.dtype, .is_output = operand.kind == kernel::LineKind::output};
  result.passes = operand.passes;
  result.stride = launch.is_product || last < 0 || (has_columns && launch.grid.rank == 1) ? 1 : operand.strides[last];
  result.pace = operand.kind == kernel::LineKind::gather ? Pace::indexed
                : result.stride == 1 || is_total         ? Pace::vector
                : result.stride == 0                     ? Pace::broadcast
                                                         : Pace::strided;
  result.bytes = bytes_of(elements_of(launch, operand), operand.dtype);
  return result;
}

TWILL_BODY bool is_repeated(const kernel::LaunchRecord& launch, std::size_t position) {
  const kernel::OperandRecord& own = launch.operands[position];
  for (std::size_t k = 0; k < position; ++k) {
    const kernel::OperandRecord& other = launch.operands[k];
    if (other.kind == own.kind && other.data == own.data && other.dtype == own.dtype && other.strides == own.strides)
      return true;
  }
  return false;
}

TWILL_COLD TWILL_BODY ExpressionPlan plan_of_launches(const List<kernel::LaunchRecord>& launches) {
  ExpressionPlan plan{};
  for (const kernel::LaunchRecord& launch : launches) {
    for (std::size_t k = 0; k < launch.operands.size(); ++k) {
      PlannedOperand operand = described(launch, launch.operands[k]);
      operand.kernel = plan.kernels;
      if (is_repeated(launch, k)) operand.bytes = 0;
      plan.add(operand);
    }
    plan.vector_width = launch.lanes;
    plan.thread_width = launch.chunk;
    plan.products += launch.is_product ? 1 : 0;
    ++plan.kernels;
  }
  return plan;
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

TWILL_COLD TWILL_BODY std::string to_string(const ExpressionPlan& plan) {
  const auto bytes = [](std::int64_t count) {
    return count == unknown_bytes ? std::string{"unknown"} : std::to_string(count);
  };
  constexpr std::string_view paces[] = {"vector", "broadcast", "strided", "indexed", "copied"};
  std::string text =
      join_text({plan.kernels, plan.kernels == 1 ? " kernel, " : " kernels, ", plan.vector_width, " elements at once, ",
                 bytes(plan.bytes_read), " bytes read, ", bytes(plan.bytes_written), " bytes written\n"});
  for (int i = 0; i < plan.operand_count; ++i) {
    const PlannedOperand& operand = plan.operands[static_cast<std::size_t>(i)];
    text += join_text({"  kernel ", operand.kernel, operand.is_output ? " writes " : " reads ", name(operand.dtype),
                       ", ", bytes(operand.bytes), " bytes, ", paces[static_cast<int>(operand.pace)]});
    if (operand.pace == Pace::strided && operand.stride != dyn) text += join_text({" by ", operand.stride});
    if (operand.passes > 1) text += join_text({", in ", operand.passes, " passes"});
    if (!operand.why().empty()) text += join_text({": ", operand.why()});
    text += "\n";
  }
  return text;
}

}}} // namespace twill::v0::TWILL_ISA
