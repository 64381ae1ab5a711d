#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/plan/segments.hpp.

#include <twill/compile/plan/segments.hpp>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// Cuts a table into segments.
class Segmenter {
public:
  Segmenter(const TableView& table, const ArenaPlan& plan);

  [[nodiscard]] Segments&& result() && { return static_cast<Segments&&>(out_); }

private:
  /// Instructions that are never cut: a launch, a loop, a copy, a call of a group.
  struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
    int slot = 0;
    int loop = -1;
    Segment::Kind kind = Segment::Kind::launches;
    bool is_awaited = false;
    List<SegmentWait> waits{}; ///< `segment` is a piece here

    Piece() = default;
  };

  /// A copy out of a slot for which no piece of that slot has waited.
  struct Leaving {
    int piece = 0;
    int value = 0;
  };

  void divide();

  /// Finds the pieces that a piece has to wait for.
  void order(int number);

  void wait(Piece& piece, SegmentWait wait);

  /// Copies into one slot follow each other, so the older ones are done as well.
  void wait_for_leaving(Piece& piece, List<Leaving>& leaving, std::size_t k);

  [[nodiscard]] bool share_memory(int a, int b) const;

  /// Makes segments of pieces: consecutive launches of one slot are one, unless another slot waits in between.
  void join();

  const TableView* table_;
  const ArenaPlan* plan_;
  List<Piece> pieces_{};
  List<int> writer_;            ///< for each value the last piece that wrote it, -1 for none
  List<int> arrives_;           ///< for each value the copy that brings it, while no piece has waited for it
  List<List<Leaving>> leaving_; ///< for each slot
  Segments out_{};
};

TWILL_BODY Segmenter::Segmenter(const TableView& table, const ArenaPlan& plan)
    : table_{&table},
      plan_{&plan},
      writer_(table.values.size(), -1),
      arrives_(table.values.size(), -1),
      leaving_(static_cast<std::size_t>(table.slots), List<Leaving>{}) {
  divide();
  if (table.slots > 1)
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) order(static_cast<int>(piece));
  join();
}

TWILL_BODY void Segmenter::divide() {
  const auto& instructions = table_->instructions;
  for (std::size_t i = 0; i < instructions.size();) {
    Piece piece{};
    piece.begin = i;
    piece.end = i + 1;
    piece.slot = instructions[i].slot;
    if (instructions[i].moves) piece.kind = Segment::Kind::copy;
    if (instructions[i].collective != kernel::Collective::none) piece.kind = Segment::Kind::collective;
    if (piece.loop = outermost_loop(*table_, instructions[i]); piece.loop >= 0) {
      piece.kind = Segment::Kind::loop;
      piece.end = static_cast<std::size_t>(table_->loops[static_cast<std::size_t>(piece.loop)].last) + 1;
    }
    while (piece.end < instructions.size() && instructions[piece.end].continues) ++piece.end;
    i = piece.end;
    pieces_.push_back(piece);
  }
}

TWILL_BODY void Segmenter::order(int number) {
  Piece& piece = pieces_[static_cast<std::size_t>(number)];
  const auto for_each_operand = [&](const auto& visit) {
    for (std::size_t i = piece.begin; i < piece.end; ++i)
      for (int k = 0; k < table_->instructions[i].operand_count; ++k) {
        const OperandBinding& operand =
            table_->operands[static_cast<std::size_t>(table_->instructions[i].first_operand + k)];
        if (operand.kind == OperandKind::memory) visit(operand);
      }
  };
  for_each_operand([&](const OperandBinding& operand) {
    const auto value = static_cast<std::size_t>(operand.value);
    if (operand.writes) {
      List<Leaving>& leaving = leaving_[static_cast<std::size_t>(piece.slot)];
      for (std::size_t k = leaving.size(); k-- > 0;)
        if (share_memory(operand.value, leaving[k].value)) wait_for_leaving(piece, leaving, k);
    } else if (piece.kind == Segment::Kind::copy) {
      const int source = table_->values[value].slot;
      wait(piece, {writer_[value], source});
      leaving_[static_cast<std::size_t>(source)].push_back({number, operand.value});
    } else if (arrives_[value] >= 0) {
      wait(piece, {arrives_[value], piece.slot});
      arrives_[value] = -1; // the slot's later pieces come after this one
    }
  });
  for_each_operand([&](const OperandBinding& operand) {
    const auto value = static_cast<std::size_t>(operand.value);
    if (operand.writes) writer_[value] = number;
    if (operand.writes && piece.kind == Segment::Kind::copy) arrives_[value] = number;
  });
}

TWILL_BODY void Segmenter::wait(Piece& piece, SegmentWait wait) {
  for (const SegmentWait& known : piece.waits)
    if (known.segment == wait.segment && (wait.segment >= 0 || known.slot == wait.slot)) return;
  piece.waits.push_back(wait);
  if (wait.segment >= 0) pieces_[static_cast<std::size_t>(wait.segment)].is_awaited = true;
}

TWILL_BODY void Segmenter::wait_for_leaving(Piece& piece, List<Leaving>& leaving, std::size_t k) {
  wait(piece, {leaving[k].piece, pieces_[static_cast<std::size_t>(leaving[k].piece)].slot});
  for (std::size_t i = k; i + 1 < leaving.size(); ++i) leaving[i] = leaving[i + 1];
  leaving.pop_back();
}

TWILL_BODY bool Segmenter::share_memory(int a, int b) const {
  if (a == b) return true;
  const auto one = static_cast<std::size_t>(a);
  const auto other = static_cast<std::size_t>(b);
  if (plan_->offsets[one] < 0 || plan_->offsets[other] < 0) return false;
  const auto end = [&](std::size_t v) { return plan_->offsets[v] + static_cast<std::int64_t>(plan_->value_bytes[v]); };
  return plan_->offsets[one] < end(other) && plan_->offsets[other] < end(one);
}

TWILL_BODY void Segmenter::join() {
  List<int> segment_of(pieces_.size(), -1);
  bool is_open = false; // the last segment takes in more
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Piece& piece = pieces_[p];
    const bool is_plain = piece.kind == Segment::Kind::launches;
    if (!is_open || !is_plain || !piece.waits.empty() || out_.list.back().slot != piece.slot) {
      Segment segment{};
      segment.begin = piece.begin;
      segment.kind = piece.kind;
      segment.slot = piece.slot;
      segment.loop = piece.loop;
      segment.first_wait = out_.waits.size();
      for (const SegmentWait& wait : piece.waits)
        out_.waits.push_back({wait.segment < 0 ? -1 : segment_of[static_cast<std::size_t>(wait.segment)], wait.slot});
      segment.end_wait = out_.waits.size();
      out_.list.push_back(segment);
    }
    segment_of[p] = static_cast<int>(out_.list.size()) - 1;
    out_.list.back().end = piece.end;
    out_.list.back().is_awaited = piece.is_awaited;
    is_open = is_plain && !piece.is_awaited;
  }
  for (std::size_t slot = 0; slot < leaving_.size(); ++slot)
    for (const Leaving& copy : leaving_[slot]) {
      const int segment = segment_of[static_cast<std::size_t>(copy.piece)];
      out_.list[static_cast<std::size_t>(segment)].is_awaited = true;
      out_.at_end.push_back({segment, static_cast<int>(slot)});
    }
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY Segments segments_of(const TableView& table, const ArenaPlan& plan) {
  return detail::Segmenter{table, plan}.result();
}

}}}} // namespace twill::v0::compile::TWILL_ISA
