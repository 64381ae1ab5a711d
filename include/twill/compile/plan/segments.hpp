#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Segments of a run: the instructions of a program, in the order of the table, cut at everything but launches: a loop,
// a call of a group of ranks, a copy between device slots, a wait for another slot. The segments of a slot run in order
// on its device; between slots only copies order anything. A copy waits until its operand is made; a segment that
// overwrites the operand, or other bytes of its place in the arena, waits until the copy has read them, and one that
// reads the copy until it has arrived. All else runs at once. Read next: compile/run/executor.hpp.

#include <twill/compile/plan/arenas.hpp>
#include <twill/core/config.hpp>
#include <twill/core/list.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Instructions that are given to a device, or made by the host, as a whole.
struct Segment {
  enum class Kind : std::uint8_t {
    launches,
    loop,       ///< launches that run for every step, with those of loops inside
    copy,       ///< one instruction: a value moves into this slot
    collective, ///< one instruction: a call of a group of ranks
  };

  std::size_t begin = 0; ///< instruction
  std::size_t end = 0;
  Kind kind = Kind::launches;
  bool is_awaited = false; ///< another slot waits for its end
  int slot = 0;
  int loop = -1;              ///< in the table's list, the outermost
  std::size_t first_wait = 0; ///< in the list of waits
  std::size_t end_wait = 0;
};

/// A wait for an earlier segment, or for the work that a slot's device was given before the run.
struct SegmentWait {
  int segment = -1; ///< -1: the beginning of the run ...
  int slot = 0;     ///< ... in this slot; else that of the segment
};

struct Segments {
  List<Segment> list{};
  List<SegmentWait> waits{};
  List<SegmentWait> at_end{}; ///< copies out of a slot, for which that slot waits at the end; `slot` is the waiting one

  Segments() = default;
};

/// The segments of a table with this layout of its arenas.
[[nodiscard]] Segments segments_of(const TableView& table, const ArenaPlan& plan);

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/plan/segments.ipp>
#endif
