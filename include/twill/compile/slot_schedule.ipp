#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/slot_schedule.hpp.

#include <twill/compile/slot_schedule.hpp>

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

TWILL_BODY SlotScheduler::SlotScheduler(const TableView& table, const ArenaPlan& plan)
    : table_{&table},
      plan_{&plan},
      writer_(table.values.size(), -1),
      arrives_(table.values.size(), -1),
      leaving_(static_cast<std::size_t>(table.slots), List<Leaving>{}) {
  divide();
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece) order(static_cast<int>(piece));
  join();
}

TWILL_BODY void SlotScheduler::divide() {
  const auto& instructions = table_->instructions;
  for (std::size_t i = 0; i < instructions.size();) {
    Piece piece{};
    piece.begin = i;
    piece.end = i + 1;
    piece.slot = instructions[i].slot;
    piece.moves = instructions[i].moves;
    if (const int loop = instructions[i].loop; loop >= 0)
      piece.end = static_cast<std::size_t>(table_->loops[static_cast<std::size_t>(loop)].last) + 1;
    while (piece.end < instructions.size() && instructions[piece.end].continues) ++piece.end;
    i = piece.end;
    pieces_.push_back(piece);
  }
}

TWILL_BODY void SlotScheduler::order(int number) {
  Piece& piece = pieces_[static_cast<std::size_t>(number)];
  const auto for_each_operand = [&](const auto& visit) {
    for (std::size_t i = piece.begin; i < piece.end; ++i)
      for (int k = 0; k < table_->instructions[i].operand_count; ++k) {
        const OperandInfo& operand =
            table_->operands[static_cast<std::size_t>(table_->instructions[i].first_operand + k)];
        if (operand.kind == OperandKind::memory) visit(operand);
      }
  };
  for_each_operand([&](const OperandInfo& operand) {
    const auto value = static_cast<std::size_t>(operand.value);
    if (operand.writes) {
      List<Leaving>& leaving = leaving_[static_cast<std::size_t>(piece.slot)];
      for (std::size_t k = leaving.size(); k-- > 0;)
        if (share_memory(operand.value, leaving[k].value)) wait_for_leaving(piece, leaving, k);
    } else if (piece.moves) {
      const int source = table_->values[value].slot;
      wait(piece, {writer_[value], source});
      leaving_[static_cast<std::size_t>(source)].push_back({number, operand.value});
    } else if (arrives_[value] >= 0) {
      wait(piece, {arrives_[value], piece.slot});
      arrives_[value] = -1; // the slot's later pieces come after this one
    }
  });
  for_each_operand([&](const OperandInfo& operand) {
    const auto value = static_cast<std::size_t>(operand.value);
    if (operand.writes) writer_[value] = number;
    if (operand.writes && piece.moves) arrives_[value] = number;
  });
}

TWILL_BODY void SlotScheduler::wait(Piece& piece, SlotWait wait) {
  for (const SlotWait& known : piece.waits)
    if (known.step == wait.step && (wait.step >= 0 || known.slot == wait.slot)) return;
  piece.waits.push_back(wait);
  if (wait.step >= 0) pieces_[static_cast<std::size_t>(wait.step)].is_awaited = true;
}

TWILL_BODY void SlotScheduler::wait_for_leaving(Piece& piece, List<Leaving>& leaving, std::size_t k) {
  wait(piece, {leaving[k].piece, pieces_[static_cast<std::size_t>(leaving[k].piece)].slot});
  for (std::size_t i = k; i + 1 < leaving.size(); ++i) leaving[i] = leaving[i + 1];
  leaving.pop_back();
}

TWILL_BODY bool SlotScheduler::share_memory(int a, int b) const {
  if (a == b) return true;
  const auto one = static_cast<std::size_t>(a);
  const auto other = static_cast<std::size_t>(b);
  if (plan_->offsets[one] < 0 || plan_->offsets[other] < 0) return false;
  const auto end = [&](std::size_t v) { return plan_->offsets[v] + static_cast<std::int64_t>(plan_->value_bytes[v]); };
  return plan_->offsets[one] < end(other) && plan_->offsets[other] < end(one);
}

TWILL_BODY void SlotScheduler::join() {
  List<int> step_of(pieces_.size(), -1);
  bool is_open = false;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Piece& piece = pieces_[p];
    if (!is_open || piece.moves || !piece.waits.empty() || out_.steps.back().slot != piece.slot) {
      SlotStep step{};
      step.begin = piece.begin;
      step.slot = piece.slot;
      step.moves = piece.moves;
      step.first_wait = out_.waits.size();
      for (const SlotWait& wait : piece.waits)
        out_.waits.push_back({wait.step < 0 ? -1 : step_of[static_cast<std::size_t>(wait.step)], wait.slot});
      step.end_wait = out_.waits.size();
      out_.steps.push_back(step);
    }
    step_of[p] = static_cast<int>(out_.steps.size()) - 1;
    out_.steps.back().end = piece.end;
    out_.steps.back().is_awaited = piece.is_awaited;
    is_open = !piece.moves && !piece.is_awaited;
  }
  for (std::size_t slot = 0; slot < leaving_.size(); ++slot)
    for (const Leaving& move : leaving_[slot]) {
      const int step = step_of[static_cast<std::size_t>(move.piece)];
      out_.steps[static_cast<std::size_t>(step)].is_awaited = true;
      out_.at_end.push_back({step, static_cast<int>(slot)});
    }
}

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

TWILL_BODY SlotSchedule slot_schedule(const TableView& table, const graph::SymbolValues& symbols) {
  return detail::SlotScheduler{table, detail::plan_arenas(table, symbols)}.result();
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
