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
  SlotScheduler(const TableView& table, const ArenaPlan& plan);

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

  void divide();

  /// Finds what a piece has to wait for.
  void order(int number);

  void wait(Piece& piece, SlotWait wait);

  /// Moves into one slot follow each other, so the older ones are done as well.
  void wait_for_leaving(Piece& piece, List<Leaving>& leaving, std::size_t k);

  [[nodiscard]] bool share_memory(int a, int b) const;

  /// Makes steps of pieces: those of one slot that follow each other are one, unless somebody waits in between.
  void join();

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
[[nodiscard]] SlotSchedule slot_schedule(const TableView& table, const graph::SymbolValues& symbols);

} // namespace twill::inline v0::compile::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/slot_schedule.ipp>
#endif
