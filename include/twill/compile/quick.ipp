#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/quick.hpp.

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/quick.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/kernel/interpret.hpp>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// The facts about a line that an interpreted program is given; it finds the rest.
TWILL_BODY kernel::Line program_line(const Line& line) {
  using From = LineKind;
  using To = kernel::LineKind;
  constexpr To kinds[] = {To::input, To::immediate, To::iota,           To::step,
                          To::cast,  To::reduce,    To::reduce_columns, To::output};
  static_assert(static_cast<int>(From::out) == 7 && static_cast<int>(From::iota) == 2);
  kernel::Line result{};
  result.kind = kinds[static_cast<int>(line.kind)];
  result.type = line.dtype;
  result.access = line.access;
  result.primitive = line.primitive;
  result.reduction = line.reduction;
  for (std::size_t a = 0; a < result.arguments.size(); ++a) result.arguments[a] = line.arguments[a];
  return result;
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY QuickTable::QuickTable(graph::Graph traced, std::span<const OperationKernel> operations)
    : lowered_{std::make_unique<const Lowered>(lower(std::move(traced)))}, kernels_(lowered_->kernels.size()) {
  if (const graph::Fault& fault = lowered_->fault; fault.any())
    throw ValueError(
        join_text({"compile: the model cannot be planned (problem ", static_cast<int>(fault.problem), ", values ",
                   fault.left, " and ", fault.right, "); a build without TWILL_QUICK says which"}));
  std::vector<bool> is_launched(kernels_.size());
  for (const Instruction& instruction : lowered_->instructions)
    if (instruction.collective == kernel::Collective::none && !instruction.moves)
      is_launched[static_cast<std::size_t>(instruction.kernel)] = true;
  std::vector<kernel::Line> lines{};
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    if (!is_launched[k]) continue;
    const KernelInfo& info = lowered_->kernels[k];
    if (info.kind == KernelKind::operation) {
      for (const OperationKernel& known : operations)
        if (graph::is_same(*known.key.operation, *lowered_->operations[k]) && known.key.dtype == info.dtype)
          kernels_[k].operation = known.run;
      if (kernels_[k].operation == nullptr)
        throw ValueError(join_text({"compile: ", info.operation, " of ", name(info.dtype), " was not traced"}));
      continue;
    }
    lines.clear();
    for (int i = 0; i < info.line_count; ++i)
      lines.push_back(detail::program_line(lowered_->lines[static_cast<std::size_t>(info.first_line + i)]));
    programs_.push_back(std::make_unique<const kernel::InterpretedProgram>(lines));
    kernels_[k].program = &programs_.back()->table();
  }
}

TWILL_BODY QuickTable::~QuickTable() = default;

}}}} // namespace twill::v0::compile::TWILL_ISA
