#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/interpreted_stage.hpp: how a stage is laid out.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/kernel/interpreted_stage.hpp>
#include <twill/kernel/tabulate.hpp>

#include <algorithm>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

TWILL_COLD TWILL_BODY InterpretedStage::InterpretedStage(const PlannedLines& program, int stage)
    : lanes_{program.lanes},
      count_{program.count},
      is_column_{program.shape == KernelShape::column},
      offsets_(static_cast<std::size_t>(program.count)) {
  bool is_active[max_lines] = {}, is_shared[max_lines] = {};
  totals_ = vector_detail::plan_stage(program.lines, program.plan, program.widths, program.count, program.shape,
                                      program.lanes, stage, is_active, is_shared, offsets_.data());
  if (totals_.block_bytes > max_accumulator_bytes)
    throw ValueError("interpret: too many reductions in one stage of a program; split it");
  add_instructions(program, stage, is_active, is_shared);
  note_memory_in_place();
  if (is_column_) note_rows();
  assign_slots(program);
}

TWILL_BODY int InterpretedStage::offset_of(int line) const { return offsets_[static_cast<std::size_t>(line)]; }

TWILL_COLD TWILL_BODY void InterpretedStage::add_instructions(const PlannedLines& program, int stage,
                                                              const bool* is_active, const bool* is_shared) {
  for (int i = 0; i < count_; ++i) {
    if (!is_shared[i]) continue;
    const int bytes = vector_detail::block_bytes(program.lines[i].type);
    if (is_column_)
      code_.push_back({.kind = BlockInstruction::Kind::shared, .value = i, .line = i, .bytes = bytes});
    else
      shared_.push_back({.value = i, .line = i, .bytes = bytes});
  }
  for (int i = 0; i < count_; ++i)
    if (is_active[i]) add_instruction(program, stage, i);
}

TWILL_COLD TWILL_BODY void InterpretedStage::add_instruction(const PlannedLines& program, int stage, int i) {
  using Kind = BlockInstruction::Kind;
  const Line& line = program.lines[i];
  const LinePlan& plan = program.plan[i];
  const auto argument = [&](int a) -> const Line& {
    return program.lines[line.arguments[static_cast<std::size_t>(a)]];
  };
  const bool stores = line.kind == LineKind::output || is_reduction(line);
  BlockInstruction own{};
  own.value = own.line = i;
  own.operand = line.operand;
  own.bytes = vector_detail::block_bytes(line.type);
  own.elements = &functions_of_elements(line.type);
  own.is_held = vector_detail::is_held_as_it_lies(line.type);
  own.is_contiguous = line.access == Access::contiguous;
  if (plan.kept_in(stage) || plan.from_scratch(stage)) own.scratch = plan.scratch;
  if (plan.from_scratch(stage)) {
    own.kind = Kind::kept;
    code_.push_back(own);
    return;
  }
  own.arity = line.arity;
  for (int a = 0; a < line.arity; ++a) {
    own.arguments[static_cast<std::size_t>(a)] = line.arguments[static_cast<std::size_t>(a)];
    own.moves[static_cast<std::size_t>(a)] = is_column_ || !argument(a).uniform;
  }
  if (stores) {
    own.kind = line.kind == LineKind::output ? Kind::output : Kind::reduce;
    own.value = line.arguments[0];
    if (!own.moves[0]) { // a whole block of the shared value
      BlockInstruction block{.kind = Kind::shared, .value = count_ + i, .line = line.arguments[0]};
      block.bytes = vector_detail::block_bytes(argument(0).type);
      code_.push_back(block);
      own.value = own.arguments[0] = count_ + i;
    }
    if (own.kind == Kind::reduce)
      reduced_.push_back({.functions = functions_of(line.reduction, line.type, lanes_, totals_.accumulators),
                          .line = i,
                          .offset = offset_of(i),
                          .lane_row = std::int64_t{lanes_} * own.bytes,
                          .ordinal = vector_detail::ordinal_of(program.lines, i)});
    code_.push_back(own);
    return;
  }
  switch (line.kind) {
  case LineKind::input:
    own.kind = Kind::input;
    break;
  case LineKind::iota:
    own.kind = Kind::indices;
    break;
  case LineKind::gather:
    own.kind = Kind::gather;
    break;
  case LineKind::cast:
    own.run = functions_of_cast(line.type, argument(0).type).block;
    break;
  default:
    own.run = functions_of(line.primitive, argument(line.arity - 1).type).block;
    if (plan.reciprocal) {
      own.run = functions_of(Primitive::multiply, line.type).block;
      own.arguments[1] = count_ + i;
      shared_.push_back({.value = count_ + i, .line = line.arguments[1], .bytes = own.bytes, .is_reciprocal = true});
    }
  }
  code_.push_back(own);
}

/// Values are used in place, and made in their destination, unless something that may overlap them is written between:
/// an output may coincide exactly with an input, and so may the first scratch row.
TWILL_COLD TWILL_BODY void InterpretedStage::note_memory_in_place() {
  using Kind = BlockInstruction::Kind;
  const int size = static_cast<int>(code_.size());
  const auto instruction = [this](int k) -> BlockInstruction& { return code_[static_cast<std::size_t>(k)]; };
  const auto last_use = [&](int value) {
    int last = -1;
    for (int k = 0; k < size; ++k)
      for (int a = 0; a < instruction(k).arity; ++a)
        if (instruction(k).arguments[static_cast<std::size_t>(a)] == value) last = k;
    return last;
  };
  int first_write = size;
  for (int k = size - 1; k >= 0; --k) {
    const BlockInstruction& own = instruction(k);
    if (own.kind == Kind::output || (own.kind != Kind::kept && own.scratch >= 0)) first_write = k;
  }
  int last_read = -1; // of the values used in place
  for (int k = 0; k < size; ++k) {
    BlockInstruction& own = instruction(k);
    if (own.kind != Kind::input && own.kind != Kind::kept) continue;
    const int last = last_use(own.value);
    own.in_place = last <= first_write;
    if (own.kind == Kind::input && !own.is_held) own.in_place = false;
    last_read = std::max(last_read, own.in_place ? std::max(k, last) : k);
  }
  for (int k = 0; k < size && !is_column_; ++k) {
    const BlockInstruction& output = instruction(k);
    if (output.kind != Kind::output || !(output.is_held || output.bytes == 1)) continue;
    for (int from = std::max(last_read, 0); from < k; ++from) {
      BlockInstruction& own = instruction(from);
      if (own.kind == Kind::compute && own.value == output.value && own.scratch < 0 && own.direct_output < 0)
        own.direct_output = output.operand;
    }
  }
}

/// In column programs: which values may have gaps between their rows at no cost, and which packs may stand for rows.
TWILL_COLD TWILL_BODY void InterpretedStage::note_rows() {
  using Kind = BlockInstruction::Kind;
  for (BlockInstruction& own : code_) {
    bool is_computed_with = false, is_stored = false;
    for (const BlockInstruction& user : code_)
      for (std::size_t a = 0; a < static_cast<std::size_t>(user.arity); ++a)
        if (user.arguments[a] == own.value)
          (user.kind == Kind::reduce || user.kind == Kind::output ? is_stored : is_computed_with) = true;
    own.may_lie_apart = !is_computed_with;
    if (own.kind == Kind::shared) own.in_place = !is_stored;
  }
}

TWILL_COLD TWILL_BODY void InterpretedStage::assign_slots(const PlannedLines& program) {
  using Kind = BlockInstruction::Kind;
  std::vector<int> last(2 * static_cast<std::size_t>(count_), -1);
  std::vector<int> slot_of(2 * static_cast<std::size_t>(count_), -1);
  std::vector<int> size_of_value(2 * static_cast<std::size_t>(count_), 0);
  for (std::size_t k = 0; k < code_.size(); ++k)
    for (int a = 0; a < code_[k].arity; ++a)
      last[static_cast<std::size_t>(code_[k].arguments[static_cast<std::size_t>(a)])] = static_cast<int>(k);
  std::vector<bool> is_taken;
  int widest = 1;
  for (std::size_t k = 0; k < code_.size(); ++k) {
    BlockInstruction& own = code_[k];
    const auto release = [&](bool same_size_alone) {
      for (int a = 0; a < own.arity; ++a) {
        const auto value = static_cast<std::size_t>(own.arguments[static_cast<std::size_t>(a)]);
        if (slot_of[value] < 0 || last[value] != static_cast<int>(k)) continue;
        if (same_size_alone && size_of_value[value] != own.bytes) continue;
        is_taken[static_cast<std::size_t>(slot_of[value])] = false;
        slot_of[value] = -1;
      }
    };
    if (own.kind == Kind::compute) release(true); // pack by pack, so that a result may replace an argument
    if (own.kind != Kind::reduce && own.kind != Kind::output) {
      std::size_t slot = 0;
      while (slot < is_taken.size() && is_taken[slot]) ++slot;
      if (slot == is_taken.size()) is_taken.push_back(true);
      is_taken[slot] = true;
      const auto value = static_cast<std::size_t>(own.value);
      own.slot = static_cast<std::int64_t>(slot);
      slot_of[value] = static_cast<int>(slot);
      size_of_value[value] = own.kind == Kind::shared ? 0 : own.bytes; // it may hold packs, see `note_rows`
      widest = std::max(widest, own.bytes);
      if (last[value] < 0) is_taken[slot] = false;
    }
    release(false);
  }
  std::int64_t next = 0;
  const auto take = [&next](std::int64_t bytes) {
    const std::int64_t at = next;
    next += (bytes + 63) / 64 * 64;
    return at;
  };
  for (SharedPack& own : shared_) own.offset = take(shared_pack_bytes);
  for (Reduced& own : reduced_) {
    own.sums = take(own.lane_row * totals_.accumulators);
    own.total = take(own.lane_row);
  }
  const auto slots = static_cast<std::int64_t>(is_taken.size());
  const std::int64_t granule =
      std::int64_t{program.lanes} * (is_column_ ? vector_detail::rows_at_once : totals_.accumulators);
  elements_ = std::max(most_elements, granule);
  while (elements_ > granule && slots * elements_ * widest > cached_bytes) elements_ /= 2;
  slot_bytes_ = elements_ * widest + 64; // not all on the same sets of the cache
  if (next + slots * slot_bytes_ > working_bytes)
    throw ValueError("interpret: a stage of a program holds too many values at once; split it");
  for (BlockInstruction& own : code_)
    if (own.slot >= 0) own.slot = next + own.slot * slot_bytes_;
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
