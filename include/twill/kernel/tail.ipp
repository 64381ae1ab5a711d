#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/tail.hpp.

#include <twill/kernel/tail.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {
namespace vector_detail {

[[gnu::noinline]] TWILL_BODY void pack_elements(std::byte* to, const std::byte* from, std::int64_t stride,
                                                std::int64_t count, int size) {
  switch (size) {
  case 1:
    return pack_words<std::uint8_t>(to, from, stride, count);
  case 2:
    return pack_words<std::uint16_t>(to, from, stride, count);
  case 4:
    return pack_words<std::uint32_t>(to, from, stride, count);
  default:
    return pack_words<std::uint64_t>(to, from, stride, count);
  }
}

TWILL_BODY PackedBlocks::PackedBlocks(const ProgramTable& program, int stage, const Cursor& where)
    : program_{program}, stage_{stage}, where_{where} {
  std::int64_t bytes = 0;
  for (int o = 0; o < program.operands; ++o)
    if (is_packed(o)) bytes += program.operand[o].bytes;
  // a multiple of what the loop takes at once, so that sums run in the order in which they run without a buffer
  const std::int64_t granule = std::int64_t{8} * program.lanes;
  const std::int64_t fitting = room / (bytes > 0 ? bytes : 1);
  elements_ = fitting < granule ? program.lanes : fitting / granule * granule;
  if (elements_ > most_elements) elements_ = most_elements / granule * granule;
}

TWILL_BODY void PackedBlocks::pack(Cursor& to, std::int64_t begin, std::int64_t count) {
  std::byte* next = buffer_;
  for (int o = 0; o < program_.operands; ++o) {
    const OperandInfo& info = program_.operand[o];
    to.at[o] = where_.at[o];
    to.stride[o] = where_.stride[o];
    to.mode[o] = where_.mode[o];
    if (!is_packed(o)) continue;
    const std::int64_t stride = where_.stride[o];
    pack_elements(next, reinterpret_cast<const std::byte*>(where_.at[o] + begin * stride * info.bytes), stride, count,
                  info.bytes);
    to.at[o] = reinterpret_cast<std::int64_t>(next) - begin * info.bytes;
    to.stride[o] = 1;
    next += elements_ * info.bytes;
  }
}

TWILL_BODY bool PackedBlocks::is_packed(int operand) const {
  const OperandInfo& info = program_.operand[operand];
  return needs_packing(info, where_.stride[operand]) && ((info.stages >> stage_) & 1U) != 0;
}

TWILL_BODY std::int64_t stride_of(const OperandInfo& info, const Cursor& where, int operand) {
  if (info.role == OperandInfo::Role::output && where.mode[operand] != StoreMode::scatter) return 1;
  return where.stride[operand];
}

TWILL_BODY bool may_repeat(const ProgramTable& program, const Cursor& where, std::int64_t end) {
  using Role = OperandInfo::Role;
  for (int out = 0; out < program.operands; ++out) {
    if (program.operand[out].role != Role::output) continue;
    const std::int64_t out_bytes = end * program.operand[out].bytes;
    if (where.mode[out] != StoreMode::plain) return false; // streamed stores need whole packs
    for (int in = 0; in < program.operands; ++in) {
      const OperandInfo& info = program.operand[in];
      if (info.role != Role::input || info.stages == 0) continue;
      if (where.stride[in] != 1) return false;
      const std::int64_t distance = where.at[in] - where.at[out];
      if (distance < out_bytes && -distance < end * info.bytes) return false;
    }
  }
  return true;
}

[[gnu::noinline]] TWILL_BODY void run_tail(const ProgramTable& program, int stage, const Cursor& where,
                                           const std::byte* shared, std::byte* partial, const ScratchRows& scratch,
                                           std::int64_t begin, std::int64_t end, std::int64_t rest) {
  using Role = OperandInfo::Role;
  alignas(64) std::byte buffer[max_operands * pack_room];
  const int lanes = program.lanes;
  // the last pack of a longer row can be read in place, over elements that are done
  const bool is_short = end - begin < lanes;
  const std::int64_t j = is_short ? begin : end - lanes;
  const std::int64_t live = end - rest - j;
  Cursor at;
  std::byte* next = buffer;
  for (int o = 0; o < program.operands; ++o) {
    const OperandInfo& info = program.operand[o];
    at.at[o] = where.at[o];
    at.stride[o] = where.stride[o];
    at.mode[o] = where.mode[o];
    const bool is_output = info.role == Role::output;
    const bool is_packed = needs_packing(info, where.stride[o]);
    const bool is_copied = is_output || (info.role == Role::input && (is_short || is_packed));
    if (((info.stages >> stage) & 1U) == 0 || !is_copied) {
      if (is_short && info.role == Role::gather) at.mode[o] = static_cast<StoreMode>(rest);
      continue;
    }
    at.at[o] = reinterpret_cast<std::int64_t>(next) - j * info.bytes;
    at.stride[o] = 1;
    at.mode[o] = StoreMode::plain;
    const std::int64_t room = std::int64_t{lanes} * info.bytes;
    if (!is_output) {
      const std::int64_t stride = stride_of(info, where, o);
      const auto* from = reinterpret_cast<const std::byte*>(where.at[o] + j * stride * info.bytes);
      if (stride == 1) {
        fill_pack(next, from, rest * info.bytes, room);
      } else {
        clear_bytes(next, room);
        pack_elements(next, from, stride, is_short ? rest : lanes, info.bytes);
      }
    }
    next += (room + vector_bytes - 1) / vector_bytes * vector_bytes;
  }
  if (!program.reduces) {
    program.stage[stage](program, stage, at, shared, partial, scratch, j, j + lanes, RowPart::first);
  } else {
    alignas(64) std::byte before[max_accumulator_bytes + vector_bytes];
    copy_bytes(before, partial, program.block_bytes[stage]);
    program.stage[stage](program, stage, at, shared, partial, scratch, j, j + lanes, RowPart::later);
    // undoes what the lanes outside of the tail added
    for (int r = 0; r < program.reductions; ++r) {
      const ReductionInfo& info = program.reduction[r];
      if (info.stage != stage) continue;
      restore_bytes(partial + info.offset, before + info.offset, std::int64_t{lanes} * info.lane_bytes,
                    live * info.lane_bytes, (live + rest) * info.lane_bytes);
    }
  }
  for (int o = 0; o < program.operands; ++o) {
    const OperandInfo& info = program.operand[o];
    if (((info.stages >> stage) & 1U) == 0 || info.role != Role::output) continue;
    const std::int64_t stride = stride_of(info, where, o);
    copy_elements(reinterpret_cast<std::byte*>(where.at[o] + (end - rest) * stride * info.bytes), stride,
                  reinterpret_cast<const std::byte*>(at.at[o] + (end - rest) * info.bytes), 1, rest, info.bytes);
  }
}

} // namespace vector_detail
TWILL_BODY bool needs_packing(const ProgramTable& program, const Cursor& where) {
  for (int o = 0; o < program.operands; ++o)
    if (vector_detail::needs_packing(program.operand[o], where.stride[o])) return true;
  return false;
}

namespace vector_detail {

[[gnu::noinline]] TWILL_BODY void run_packed(const ProgramTable& program, int stage, const Cursor& where,
                                             const std::byte* shared, std::byte* partial, const ScratchRows& scratch,
                                             std::int64_t begin, std::int64_t end) {
  PackedBlocks blocks{program, stage, where};
  Cursor at;
  RowPart part = RowPart::first;
  do { // at least once: accumulators have to be initialised
    const std::int64_t count = end - begin < blocks.elements() ? end - begin : blocks.elements();
    blocks.pack(at, begin, count);
    program.stage[stage](program, stage, at, shared, partial, scratch, begin, begin + count, part);
    part = RowPart::later;
    begin += count;
  } while (begin < end);
}

/// A stage over a row in parts: packed ones, and one that does not fill a pack.
[[gnu::noinline]] TWILL_BODY void run_parts(const ProgramTable& program, int stage, const Cursor& where,
                                            const std::byte* shared, std::byte* result, const ScratchRows& scratch,
                                            std::int64_t begin, std::int64_t end, std::int64_t rest, bool packs) {
  alignas(64) std::byte partial[max_accumulator_bytes + vector_bytes];
  if (packs) [[unlikely]]
    run_packed(program, stage, where, shared, partial, scratch, begin, end - rest);
  else
    program.stage[stage](program, stage, where, shared, partial, scratch, begin, end - rest, RowPart::first);
  if (rest != 0) run_tail(program, stage, where, shared, partial, scratch, begin, end, rest);
  finish_reductions(program, stage, partial, result);
}

} // namespace vector_detail
TWILL_BODY void finish_reductions(const ProgramTable& program, int stage, const std::byte* accumulators,
                                  std::byte* result) {
  for (int r = 0; r < program.reductions; ++r) {
    const ReductionInfo& info = program.reduction[r];
    if (info.stage == stage)
      info.finish(accumulators + info.offset, program.block_bytes[stage], result + info.line * shared_slot_bytes);
  }
}

TWILL_BODY void run_map(const ProgramTable& program, const Cursor& where, const std::byte* shared, std::int64_t begin,
                        std::int64_t end, bool packs) {
  AccessCounts::stage(program, 0, end - begin, nullptr);
  const std::int64_t rest = (end - begin) & (program.lanes - 1);
  if (begin + program.lanes <= end) {
    if (packs) [[unlikely]]
      vector_detail::run_packed(program, 0, where, shared, nullptr, {}, begin, end - rest);
    else
      program.stage[0](program, 0, where, shared, nullptr, {}, begin, end - rest, RowPart::first);
  }
  if (rest == 0) return;
  if (begin + program.lanes <= end && vector_detail::may_repeat(program, where, end))
    program.stage[0](program, 0, where, shared, nullptr, {}, end - program.lanes, end, RowPart::first);
  else
    vector_detail::run_tail(program, 0, where, shared, nullptr, {}, begin, end, rest);
}

TWILL_BODY void run_stage(const ProgramTable& program, int stage, const Cursor& where, const std::byte* shared,
                          std::byte* result, const ScratchRows& scratch, std::int64_t begin, std::int64_t end,
                          bool packs, bool is_short_row) {
  AccessCounts::stage(program, stage, end - begin, is_short_row ? &where : nullptr);
  const std::int64_t rest = (end - begin) & (program.lanes - 1);
  if (rest == 0 && !packs) [[likely]]
    program.stage[stage](program, stage, where, shared, result, scratch, begin, end, RowPart::whole);
  else
    vector_detail::run_parts(program, stage, where, shared, result, scratch, begin, end, rest, packs);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
