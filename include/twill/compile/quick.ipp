#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/quick.hpp.

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/quick.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/kernel/interpret.hpp>

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
    const std::span lines{lowered_->lines.data() + info.first_line, static_cast<std::size_t>(info.line_count)};
    programs_.push_back(std::make_unique<const kernel::InterpretedProgram>(lines));
    kernels_[k].program = &programs_.back()->table();
  }
}

TWILL_BODY QuickTable::~QuickTable() = default;

TWILL_BODY TableView QuickTable::view() const { return view_of(*lowered_); }

TWILL_BODY std::span<const KernelFunction> QuickTable::kernels() const { return kernels_; }

}}}} // namespace twill::v0::compile::TWILL_ISA
