#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How a program with several device slots is run. Its instructions, in the order of the table, are divided into steps: launches
// in one slot, or the move of a value into one. The steps of a slot run in order on its device; between slots only moves order
// anything. A move waits until its operand is made. Whoever writes over the operand, or over other bytes of its place in the
// arena, waits until the move has read them, and whoever reads what was moved until it is there. All else runs at once. Events
// are recorded only behind steps that somebody waits for. Read next: compile/slot_executor.hpp.

#include <twill/compile/binding.hpp>
#include <twill/core/config.hpp>
#include <twill/core/list.hpp>

#include <cstddef>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Instructions of one slot that follow each other, or one move.
struct SlotStep {
  std::size_t begin = 0; ///< instruction
  std::size_t end = 0;
  int slot = 0;
  bool moves = false;
  bool is_awaited = false;
  std::size_t first_wait = 0; ///< in the schedule's list
  std::size_t end_wait = 0;
};

/// What a step waits for: an earlier step, or what a slot's device was given before the run.
struct SlotWait {
  int step = -1; ///< -1: the beginning of the run ...
  int slot = 0;  ///< ... in this slot; else that of the step
};

struct SlotSchedule {
  List<SlotStep> steps{};
  List<SlotWait> waits{};
  List<SlotWait> at_end{}; ///< moves out of a slot, for which that slot waits in the end; `slot` is the waiting one

  SlotSchedule() = default;
};

} // namespace twill::inline v0::compile::inline TWILL_ISA

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

class SlotScheduler {
public:
  SlotScheduler(const TableView& table, const ArenaPlan& plan)
      : table_{&table},
        plan_{&plan},
        writer_(table.values.size(), -1),
        arrives_(table.values.size(), -1),
        leaving_(static_cast<std::size_t>(table.slots), List<Leaving>{}) {
    divide();
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) order(static_cast<int>(piece));
    join();
  }

  [[nodiscard]] SlotSchedule&& result() && { return static_cast<SlotSchedule&&>(out_); }

private:
  /// What is never cut: a launch, a loop, a move.
  struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
    int slot = 0;
    bool moves = false;
    bool is_awaited = false;
    List<SlotWait> waits{}; ///< `step` is a piece here

    Piece() = default;
  };

  /// A move out of a slot that nobody there has waited for.
  struct Leaving {
    int piece = 0;
    int value = 0;
  };

  void divide() {
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

  /// Finds what a piece has to wait for.
  void order(int number) {
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

  void wait(Piece& piece, SlotWait wait) {
    for (const SlotWait& known : piece.waits)
      if (known.step == wait.step && (wait.step >= 0 || known.slot == wait.slot)) return;
    piece.waits.push_back(wait);
    if (wait.step >= 0) pieces_[static_cast<std::size_t>(wait.step)].is_awaited = true;
  }

  /// Moves into one slot follow each other, so the older ones are done as well.
  void wait_for_leaving(Piece& piece, List<Leaving>& leaving, std::size_t k) {
    wait(piece, {leaving[k].piece, pieces_[static_cast<std::size_t>(leaving[k].piece)].slot});
    for (std::size_t i = k; i + 1 < leaving.size(); ++i) leaving[i] = leaving[i + 1];
    leaving.pop_back();
  }

  [[nodiscard]] bool share_memory(int a, int b) const {
    if (a == b) return true;
    const auto one = static_cast<std::size_t>(a);
    const auto other = static_cast<std::size_t>(b);
    if (plan_->offsets[one] < 0 || plan_->offsets[other] < 0) return false;
    const auto end = [&](std::size_t v) {
      return plan_->offsets[v] + static_cast<std::int64_t>(plan_->value_bytes[v]);
    };
    return plan_->offsets[one] < end(other) && plan_->offsets[other] < end(one);
  }

  /// Makes steps of pieces: those of one slot that follow each other are one, unless somebody waits in between.
  void join() {
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

  const TableView* table_;
  const ArenaPlan* plan_;
  List<Piece> pieces_{};
  List<int> writer_;            ///< for each value the last piece that wrote it, -1 for none
  List<int> arrives_;           ///< for each value the move that brings it, while nobody has waited for it
  List<List<Leaving>> leaving_; ///< for each slot
  SlotSchedule out_{};
};

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

/// The steps of a table for given sizes.
[[nodiscard]] inline SlotSchedule slot_schedule(const TableView& table, const graph::SymbolValues& symbols) {
  return detail::SlotScheduler{table, detail::plan_arenas(table, symbols)}.result();
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
