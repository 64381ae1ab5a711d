#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/interpreted_stage.hpp: how a stage runs.

#include <twill/kernel/interpreted_stage.hpp>

#include <algorithm>
#include <cstring>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// The addresses of a block's values.
struct InterpretedStage::Frame {
  Frame(const Cursor& cursor, const std::byte* shared_values, const ScratchRows& rows, std::byte* working)
      : where{cursor}, shared{shared_values}, scratch{rows}, memory{working} {} // the rest stays uninitialised

  const Cursor& where;
  const std::byte* shared;
  const ScratchRows& scratch;
  std::byte* memory;
  const std::byte* at[2 * max_lines];
  // for column programs
  std::int64_t pitch[2 * max_lines]; ///< from row to row
  bool is_dense[2 * max_lines];      ///< rows have no gaps between them
  bool moves[2 * max_lines];         ///< otherwise a pack is used for each row
};

TWILL_BODY void InterpretedStage::run(const Cursor& where, const std::byte* shared, std::byte* partial,
                                      const ScratchRows& scratch, std::int64_t begin, std::int64_t end,
                                      RowPart part) const {
  alignas(64) std::byte memory[working_bytes];
  Frame frame{where, shared, scratch, memory};
  for (const SharedPack& own : shared_) {
    std::byte* const to = memory + own.offset;
    const std::byte* const from = shared + own.line * shared_slot_bytes;
    if (own.is_reciprocal)
      fill_reciprocal(to, from, own.bytes == 8);
    else
      fill_block(to, from, own.bytes, shared_pack_bytes / own.bytes);
    frame.at[own.value] = to;
  }
  start(memory, partial, part);
  for (std::int64_t j = begin; j < end;) {
    const std::int64_t block = std::int64_t{vector_detail::packs_of_block} * totals_.accumulators * lanes_;
    const std::int64_t stop = totals_.adds_floats && end - j > block ? j + block : end;
    for (; j < stop; j += elements_) run_block(frame, j, std::min(elements_, stop - j));
    j = stop;
    if (stop != end) fold(memory);
  }
  for (const Reduced& own : reduced_) {
    if (totals_.adds_floats) own.functions.accumulate[0](memory + own.sums, memory + own.total, lanes_);
    for (int k = 0; k < totals_.accumulators; ++k)
      std::memcpy(partial + k * totals_.block_bytes + own.offset, memory + own.sums + k * own.lane_row,
                  static_cast<std::size_t>(own.lane_row));
  }
}

/// Accumulators at their start, or with their earlier content.
TWILL_BODY void InterpretedStage::start(std::byte* memory, const std::byte* partial, RowPart part) const {
  for (const Reduced& own : reduced_) {
    if (part == RowPart::first) own.functions.start(memory + own.sums, std::int64_t{lanes_} * totals_.accumulators);
    for (int k = 0; k < totals_.accumulators && part == RowPart::later; ++k)
      std::memcpy(memory + own.sums + k * own.lane_row, partial + k * totals_.block_bytes + own.offset,
                  static_cast<std::size_t>(own.lane_row));
    if (totals_.adds_floats) own.functions.start(memory + own.total, lanes_);
  }
}

/// The sums of a block of packs, added as a tree.
TWILL_BODY void InterpretedStage::fold(std::byte* memory) const {
  for (const Reduced& own : reduced_) {
    std::byte* const sums = memory + own.sums;
    for (int step = totals_.accumulators / 2; step > 0; step /= 2)
      own.functions.accumulate[step - 1](sums, sums + step * own.lane_row, std::int64_t{step} * lanes_);
    own.functions.accumulate[0](memory + own.total, sums, lanes_);
    own.functions.start(sums, std::int64_t{lanes_} * totals_.accumulators);
  }
}

TWILL_BODY void InterpretedStage::accumulate(const Reduced& own, std::byte* memory, const std::byte* values,
                                             std::int64_t count) const {
  const std::int64_t round = std::int64_t{lanes_} * totals_.accumulators;
  const std::int64_t whole = count & -round; // a power of two
  own.functions.accumulate[totals_.accumulators / 2](memory + own.sums, values, whole);
  if (whole < count)
    own.functions.accumulate[0](memory + own.sums, values + whole * (own.lane_row / lanes_), count - whole);
}

TWILL_BODY void InterpretedStage::run_block(Frame& frame, std::int64_t j, std::int64_t count) const {
  using Kind = BlockInstruction::Kind;
  const Cursor& where = frame.where;
  const Reduced* reduced = reduced_.data();
  for (const BlockInstruction& own : code_) {
    const int o = own.operand;
    std::byte* to = frame.memory + own.slot;
    switch (own.kind) {
    case Kind::input:
      if (own.in_place && (own.is_contiguous || where.stride[o] == 1))
        to = reinterpret_cast<std::byte*>(where.at[o] + j * own.bytes);
      else
        own.elements->load(to, where.at[o], own.is_contiguous ? 1 : where.stride[o], j, count);
      break;
    case Kind::kept: {
      std::byte* const kept = frame.scratch.row<std::byte>(own.scratch) + j * own.bytes;
      if (own.in_place)
        to = kept;
      else
        std::memcpy(to, kept, static_cast<std::size_t>(count * own.bytes));
      break;
    }
    case Kind::indices:
      load_indices(to, where.at[o], where.stride[o], j, count);
      break;
    case Kind::shared:
      fill_block(to, frame.shared + own.line * shared_slot_bytes, own.bytes, count);
      break;
    case Kind::gather:
      if (own.scratch >= 0) to = frame.scratch.row<std::byte>(own.scratch) + j * own.bytes;
      own.elements->gather(to, where.at[o], own.is_contiguous ? 1 : where.stride[o], where.mode[o], j,
                           {frame.at[own.arguments[0]], own.moves[0]}, count);
      break;
    case Kind::compute: {
      if (own.scratch >= 0)
        to = frame.scratch.row<std::byte>(own.scratch) + j * own.bytes;
      else if (own.direct_output >= 0 && where.mode[own.direct_output] == StoreMode::plain)
        to = reinterpret_cast<std::byte*>(where.at[own.direct_output] + j * own.bytes);
      BlockArgument from[4];
      for (std::size_t a = 0; a < static_cast<std::size_t>(own.arity); ++a)
        from[a] = {frame.at[own.arguments[a]], own.moves[a]};
      own.run(to, from, count);
      break;
    }
    case Kind::reduce:
      accumulate(*reduced++, frame.memory, frame.at[own.value], count);
      continue;
    case Kind::output: {
      const std::byte* const from = frame.at[own.value];
      StoreMode mode = where.mode[o];
      // a store of whole registers is aligned for those of the program
      if (mode == StoreMode::stream && vector_bytes / own.bytes > lanes_) mode = StoreMode::plain;
      const bool is_there =
          mode == StoreMode::plain && reinterpret_cast<std::int64_t>(from) == where.at[o] + j * own.bytes;
      if (!is_there) own.elements->store(where.at[o], where.stride[o], mode, j, from, count);
      continue;
    }
    }
    frame.at[own.value] = to;
  }
}

TWILL_BODY void InterpretedStage::run_columns(const Cursor& where, const std::int64_t* down, const std::byte* shared,
                                              std::int64_t shared_row_bytes, std::int64_t height, std::int64_t begin,
                                              std::int64_t end, bool add, std::byte* sums, std::int64_t column,
                                              std::int64_t row_bytes) const {
  alignas(64) std::byte memory[working_bytes];
  const ScratchRows none{};
  Frame frame{where, shared, none, memory};
  const std::int64_t most = elements_ / vector_detail::rows_at_once;
  for (std::int64_t j = begin; j < end; j += most) {
    const std::int64_t width = std::min(most, end - j);
    run_block_of_rows(frame, down, shared, shared_row_bytes, height, j, width, add, sums, column + j - begin,
                      row_bytes);
  }
}

/// A block of a few rows side by side, each of `width` columns.
TWILL_BODY void InterpretedStage::run_block_of_rows(Frame& frame, const std::int64_t* down, const std::byte* shared,
                                                    std::int64_t shared_row_bytes, std::int64_t height, std::int64_t j,
                                                    std::int64_t width, bool add, std::byte* sums, std::int64_t column,
                                                    std::int64_t row_bytes) const {
  using Kind = BlockInstruction::Kind;
  const Cursor& where = frame.where;
  const Reduced* reduced = reduced_.data();
  const bool is_wide = width >= wide_columns;
  for (const BlockInstruction& own : code_) {
    const int o = own.operand;
    std::byte* to = frame.memory + own.slot;
    const std::int64_t dense = width * own.bytes;
    std::int64_t pitch = dense;
    bool moves = true;
    const std::int64_t stride = own.is_contiguous || o < 0 ? 1 : where.stride[o];
    switch (own.kind) {
    case Kind::input:
      if (own.in_place && stride == 1 && (is_wide || own.may_lie_apart || down[o] == dense)) {
        to = reinterpret_cast<std::byte*>(where.at[o] + j * own.bytes);
        pitch = down[o];
      } else {
        for (std::int64_t row = 0; row < height; ++row)
          own.elements->load(to + row * pitch, where.at[o] + row * down[o], stride, j, width);
      }
      break;
    case Kind::indices:
      for (std::int64_t row = 0; row < height; ++row)
        load_indices(to + row * pitch, where.at[o] + row * down[o], where.stride[o], j, width);
      break;
    case Kind::shared: {
      moves = !(own.in_place && is_wide && slot_bytes_ >= height * shared_pack_bytes);
      if (!moves) pitch = shared_pack_bytes;
      const std::byte* const values = shared + own.line * shared_slot_bytes;
      for (std::int64_t row = 0; row < height; ++row)
        fill_block(to + row * pitch, values + row * shared_row_bytes, own.bytes, pitch / own.bytes);
      break;
    }
    case Kind::gather: {
      const int offsets = own.arguments[0];
      for (std::int64_t row = 0; row < height; ++row)
        own.elements->gather(to + row * pitch, where.at[o] + row * down[o], stride, where.mode[o], j,
                             {frame.at[offsets] + row * frame.pitch[offsets], frame.moves[offsets]}, width);
      break;
    }
    case Kind::compute: {
      BlockArgument from[4];
      bool at_once = true;
      for (std::size_t a = 0; a < static_cast<std::size_t>(own.arity); ++a) {
        const int value = own.arguments[a];
        from[a] = {frame.at[value], frame.moves[value]};
        at_once = at_once && frame.is_dense[value];
      }
      if (at_once) own.run(to, from, height * width);
      for (std::int64_t row = 0; row < height && !at_once; ++row) {
        own.run(to + row * dense, from, width);
        for (std::size_t a = 0; a < static_cast<std::size_t>(own.arity); ++a)
          from[a].at += frame.pitch[own.arguments[a]];
      }
      break;
    }
    case Kind::reduce:
      reduced->functions.rows(sums + reduced->ordinal * row_bytes + column * own.bytes, add, frame.at[own.value],
                              frame.pitch[own.value], height, width);
      ++reduced;
      continue;
    case Kind::output:
      for (std::int64_t row = 0; row < height; ++row)
        own.elements->store(where.at[o] + row * down[o], where.stride[o], where.mode[o], j,
                            frame.at[own.value] + row * frame.pitch[own.value], width);
      continue;
    case Kind::kept:
      continue; // column programs have one stage
    }
    frame.at[own.value] = to;
    frame.pitch[own.value] = pitch;
    frame.moves[own.value] = moves;
    frame.is_dense[own.value] = moves && pitch == dense;
  }
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
