#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/small_launch.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/bytes.hpp>
#include <twill/kernel/rows.hpp>
#include <twill/kernel/small_launch.hpp>
#include <twill/kernel/tail.hpp>

#include <cstring>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

inline constexpr std::int64_t small_elements = 512;
inline constexpr std::int64_t small_buffer_bytes = 8192;

/// A row's bytes again and again; half a register fills one twice, so that loads of it need not wait.
TWILL_INLINE void repeat_row(std::byte* to, const std::byte* row, std::int64_t bytes, std::int64_t room) {
#if !TWILL_NVCC
  if (bytes * 2 == vector_bytes) {
    constexpr int words = vector_bytes / 16;
    typedef long long Half __attribute__((vector_size(vector_bytes / 2), aligned(1), may_alias));
    typedef long long Whole __attribute__((vector_size(vector_bytes), may_alias));
    const Half half = *reinterpret_cast<const Half*>(row);
    Whole whole{};
    for (int i = 0; i < words; ++i) whole[i] = whole[i + words] = half[i];
    for (std::int64_t b = 0; b < room; b += vector_bytes) *reinterpret_cast<Whole*>(to + b) = whole;
    return;
  }
#endif
  repeat(to, row, bytes, (room - vector_bytes) / bytes);
}

/// The end of a row, which is smaller than a register, from its place in the buffer.
TWILL_INLINE void store_end(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes * 2 == vector_bytes)
    std::memcpy(to, from, vector_bytes / 2);
  else
    copy_few<vector_bytes / 2>(to, from, bytes);
}

/// The addresses and numbers of a small launch's operands.
TWILL_INLINE void place(const SmallLaunch& own, const Operand* operands, Cursor& at) {
  constexpr std::size_t most = SmallLaunch::most_operands;
  std::memcpy(at.stride, own.stride.data(), most * sizeof(std::int64_t));
  std::memset(static_cast<void*>(at.mode), static_cast<int>(StoreMode::plain), most * sizeof(StoreMode));
  // eight without a loop; those beyond the last are the first again
  const auto* const first = reinterpret_cast<const std::byte*>(operands);
  const auto copy_eight = [&](std::size_t from) {
    for (std::size_t o = from; o < from + 8; ++o) std::memcpy(at.at + o, first + own.source[o], sizeof(std::int64_t));
  };
  copy_eight(0);
  if (own.program->operands > 8) copy_eight(8);
}

/// Puts the ends of a row into a buffer; returns where those of its results are.
TWILL_INLINE std::byte* place_ends(const SmallLaunch& own, std::byte* next, std::int64_t* at) {
  const SmallLaunch::Copy* copy = own.copies.data() + own.repeated;
  const SmallLaunch::Copy* const inputs = own.copies.data() + own.inputs;
  const SmallLaunch::Copy* const outputs = own.copies.data() + own.outputs;
  for (; copy != inputs; ++copy, next += vector_bytes) {
    fill_register(next, reinterpret_cast<const std::byte*>(at[copy->operand]) + copy->shift, copy->bytes);
    at[copy->operand] = reinterpret_cast<std::int64_t>(next) - copy->shift;
  }
  std::byte* const results = next;
  for (; copy != outputs; ++copy, next += vector_bytes)
    at[copy->operand] = reinterpret_cast<std::int64_t>(next) - copy->shift;
  return results;
}

/// Stores the ends of a row's results, `row` rows down.
TWILL_INLINE void store_ends(const SmallLaunch& own, const std::byte* results, const Operand* operands,
                             std::int64_t row) {
  const SmallLaunch::Copy* const outputs = own.copies.data() + own.outputs;
  for (const SmallLaunch::Copy* copy = own.copies.data() + own.inputs; copy != outputs; ++copy) {
    const std::int64_t down = row * own.down[static_cast<std::size_t>(copy->operand)];
    store_end(static_cast<std::byte*>(operands[copy->operand].data) + down + copy->shift, results, copy->bytes);
    results += vector_bytes;
  }
}

/// An elementwise program on one row of whole packs and an end.
TWILL_BODY void run_small_map(const SmallLaunch& own, const Operand* operands) {
  const ProgramTable& program = *own.program;
  alignas(64) std::byte buffer[small_buffer_bytes];
  alignas(64) std::byte shared[max_shared_bytes];
  std::byte* next = buffer;
  Cursor at;
  place(own, operands, at);
  AccessCounts::stage(program, 0, own.columns, nullptr);
  if (program.shared[0] != nullptr) program.shared[0](program, 0, shared, at.at, operands);
  for (int c = 0; c < own.repeated; ++c) {
    const SmallLaunch::Copy& copy = own.copies[static_cast<std::size_t>(c)];
    repeat_row(next, reinterpret_cast<const std::byte*>(at.at[copy.operand]), copy.bytes, copy.room);
    at.at[copy.operand] = reinterpret_cast<std::int64_t>(next);
    next += copy.room;
  }
  if (own.inner > 0) program.stage[0](program, 0, at, shared, nullptr, {}, 0, own.inner, RowPart::first);
  if (own.inner == own.columns) return;
  const std::byte* const results = place_ends(own, next, at.at);
  program.stage[0](program, 0, at, shared, nullptr, {}, own.inner, own.inner + program.lanes, RowPart::first);
  store_ends(own, results, operands, 0);
}

/// A program with reductions over a few rows, of whole packs or of less than one.
TWILL_BODY void run_small_rows(const SmallLaunch& own, const Operand* operands) {
  const ProgramTable& program = *own.program;
  alignas(64) std::byte buffer[small_buffer_bytes];
  alignas(64) std::byte kept[small_buffer_bytes];
  alignas(64) std::byte partial[small_buffer_bytes];
  alignas(64) std::byte shared[max_shared_bytes];
  const bool has_end = own.inner < own.columns;
  const std::int64_t end = has_end ? program.lanes : own.inner;
  const ScratchRows scratch{kept, kept + end * 8, end * 8};
  Cursor at;
  place(own, operands, at);
  for (std::int64_t row = 0; row < own.rows; ++row) {
    Cursor whole;
    std::memcpy(whole.at, at.at, static_cast<std::size_t>(program.operands) * sizeof(std::int64_t));
    const std::byte* const results = has_end ? place_ends(own, buffer, at.at) : nullptr;
    for (int stage = 0; stage < program.stages; ++stage) {
      if (program.shared[stage] != nullptr) program.shared[stage](program, stage, shared, at.at, operands);
      AccessCounts::stage(program, stage, own.columns, &at);
      program.stage[stage](program, stage, at, shared, partial, scratch, 0, end, RowPart::first);
      for (int r = 0; r < program.reductions; ++r) {
        const ReductionInfo& info = program.reduction[r];
        if (info.stage != stage) continue;
        if (has_end) {
          alignas(vector_bytes) std::byte identity[vector_bytes];
          store(reinterpret_cast<std::int64_t*>(identity),
                Pack<std::int64_t, vector_bytes / 8>{
                    static_cast<std::int64_t>(own.identity[static_cast<std::size_t>(r)])});
          restore_bytes(partial + info.offset, identity, vector_bytes, 0, own.columns * info.lane_bytes);
        }
        info.finish(partial + info.offset, program.block_bytes[stage], shared + info.line * shared_slot_bytes);
      }
    }
    if (program.shared[program.stages] != nullptr)
      program.shared[program.stages](program, program.stages, shared, at.at, operands);
    for (int s = 0; s < own.sum_count; ++s) {
      const SmallLaunch::Copy& result = own.sums[static_cast<std::size_t>(s)];
      const std::int64_t stride = own.stride[static_cast<std::size_t>(result.operand)];
      const std::int64_t count = stride == 0 || own.columns <= 1 ? 1 : own.columns;
      AccessCounts::store(result.operand, count);
      program.operand[result.operand].store_shared(shared + result.shift, whole.at[result.operand], stride, count);
    }
    if (has_end) store_ends(own, results, operands, row);
    if (row + 1 == own.rows) return;
    for (int o = 0; o < program.operands; ++o) at.at[o] = whole.at[o] + own.down[static_cast<std::size_t>(o)];
  }
}

/// A program down a few columns of a few rows.
TWILL_BODY void run_small_columns(const SmallLaunch& own, const Operand* operands) {
  const ProgramTable& program = *own.program;
  alignas(64) std::byte buffer[small_buffer_bytes];
  alignas(64) std::byte sums[small_buffer_bytes];
  Cursor at;
  place(own, operands, at);
  AccessCounts::stage(program, 0, own.rows * own.columns, nullptr);
  const std::int64_t row_bytes = (own.inner + (own.inner < own.columns ? program.lanes : 0)) * 8;
  if (own.inner > 0)
    program.columns(program, at, own.down.data(), operands, own.rows, 0, own.inner, false, sums, 0, row_bytes);
  if (own.inner < own.columns) {
    const std::int64_t step = own.outputs * vector_bytes;
    std::array<std::int64_t, SmallLaunch::most_operands> down = own.down;
    std::byte* next = buffer;
    for (int c = 0; c < own.outputs; ++c, next += vector_bytes) {
      const SmallLaunch::Copy& copy = own.copies[static_cast<std::size_t>(c)];
      const auto operand = static_cast<std::size_t>(copy.operand);
      const auto* from = reinterpret_cast<const std::byte*>(at.at[operand]) + copy.shift;
      const std::byte* const end = next + (c < own.inputs ? own.rows * step : 0);
      for (std::byte* to = next; to != end; to += step, from += own.down[operand]) fill_register(to, from, copy.bytes);
      at.at[operand] = reinterpret_cast<std::int64_t>(next) - copy.shift;
      down[operand] = step;
    }
    program.columns(program, at, down.data(), operands, own.rows, own.inner, own.inner + program.lanes, false, sums,
                    own.inner, row_bytes);
    for (int c = own.inputs; c < own.outputs; ++c) {
      const SmallLaunch::Copy& copy = own.copies[static_cast<std::size_t>(c)];
      std::byte* to = static_cast<std::byte*>(operands[copy.operand].data) + copy.shift;
      const std::byte* from = buffer + c * vector_bytes;
      const std::byte* const end = from + own.rows * step;
      for (; from != end; from += step, to += own.down[static_cast<std::size_t>(copy.operand)])
        store_end(to, from, copy.bytes);
    }
  }
  for (int s = 0; s < own.sum_count; ++s) {
    const SmallLaunch::Copy& sum = own.sums[static_cast<std::size_t>(s)];
    AccessCounts::store(sum.operand, own.columns);
    program.operand[sum.operand].store_sums(sums + sum.shift * row_bytes,
                                            reinterpret_cast<std::int64_t>(operands[sum.operand].data), 1, own.columns);
  }
}

/// Resolves the operands of a grid; false where some have to be run in the general way.
TWILL_BODY bool resolve_operands(SmallLaunch& own, const Grid& grid, const Operand* operands) {
  using Role = OperandInfo::Role;
  const ProgramTable& program = *own.program;
  const bool is_column = program.columns != nullptr;
  const bool runs_as_one = !is_column && !program.reduces;
  const std::size_t last = grid.rank < 2 ? 0 : 1;
  const std::int64_t n = grid[static_cast<int>(last)];
  const bool has_end = own.inner < own.columns;
  SmallLaunch::Copy copies[3][SmallLaunch::most_operands];
  int counts[3] = {};
  std::int64_t buffered = 0;
  for (int o = 0; o < program.operands; ++o) {
    const OperandInfo& info = program.operand[o];
    const auto place = static_cast<std::size_t>(o);
    const bool is_number = info.role > Role::gather;
    const std::int64_t down = operands[o].strides[0];
    const std::int64_t stride = n == 1 ? 1 : operands[o].strides[last];
    own.source[place] = static_cast<int>(o * sizeof(Operand) + (is_number ? offsetof(Operand, bits) : 0));
    own.stride[place] = stride;
    own.down[place] = grid.rank < 2 || runs_as_one ? 0 : down * info.unit;
    if (info.role == Role::gather) return false;
    if (info.store_sums != nullptr || info.store_shared != nullptr) {
      if (info.store_sums != nullptr && stride != 1) return false;
      int result = 0;
      if (is_column)
        while (program.reduction[result].line != info.source) ++result;
      own.sums[static_cast<std::size_t>(own.sum_count++)] = {o, 0, 0,
                                                             is_column ? result : info.source * shared_slot_bytes};
      continue;
    }
    if (info.role == Role::output && info.stages == 0) return false;
    if (is_number || info.stages == 0) {
      const bool moves = grid.rank == 2 && runs_as_one && info.role != Role::immediate;
      if (moves && down != (info.role == Role::iota ? n * stride : 0)) return false;
      continue;
    }
    if (stride != 1) return false;
    const std::int64_t pack_bytes = std::int64_t{program.lanes} * info.bytes;
    const std::int64_t end = own.columns - own.inner;
    if (grid.rank == 2 && runs_as_one && down != n) {
      if (info.role != Role::input || down != 0) return false;
      // the last copy may write, and the last pack read, past the end
      const std::int64_t room =
          (own.columns * info.bytes + pack_bytes + 2 * vector_bytes - 1) / vector_bytes * vector_bytes;
      copies[0][counts[0]++] = {o, static_cast<int>(n * info.bytes), static_cast<int>(room), 0};
      buffered += room;
    } else if (has_end) {
      if (pack_bytes > vector_bytes) return false;
      const int kind = info.role == Role::input ? 1 : 2;
      copies[kind][counts[kind]++] = {o, static_cast<int>(end * info.bytes), 0,
                                      static_cast<int>(own.inner * info.bytes)};
      buffered += (is_column ? own.rows : 1) * vector_bytes;
    }
  }
  if (buffered > small_buffer_bytes) return false;
  std::size_t c = 0;
  for (int kind = 0; kind < 3; ++kind) {
    for (int i = 0; i < counts[kind]; ++i) own.copies[c++] = copies[kind][i];
    (kind == 0 ? own.repeated : kind == 1 ? own.inputs : own.outputs) = static_cast<int>(c);
  }
  return true;
}

/// Notes the identities of a row's reductions; false where they or the values that are kept need more room.
TWILL_BODY bool resolve_reductions(SmallLaunch& own) {
  const ProgramTable& program = *own.program;
  const bool has_end = own.inner < own.columns;
  if (own.inner > 0 && has_end) return false; // sums lanes in an order of its own
  if (program.reductions > static_cast<int>(SmallLaunch::most_reductions) ||
      program.scratch_rows * (own.columns + program.lanes) * 8 > small_buffer_bytes)
    return false;
  alignas(64) std::byte partial[small_buffer_bytes];
  alignas(64) std::byte shared[max_shared_bytes] = {};
  Cursor nowhere{};
  for (int stage = 0; stage < program.stages; ++stage) {
    if (program.block_bytes[stage] * 4 + vector_bytes > small_buffer_bytes) return false; // at most four accumulators
    program.stage[stage](program, stage, nowhere, shared, partial, {}, 0, 0, RowPart::first);
    for (int r = 0; r < program.reductions; ++r) {
      const ReductionInfo& info = program.reduction[r];
      if (info.stage != stage) continue;
      if (has_end && info.lane_bytes * program.lanes != vector_bytes) return false;
      std::memcpy(&own.identity[static_cast<std::size_t>(r)], partial + info.offset, sizeof(std::uint64_t));
    }
  }
  return true;
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

TWILL_BODY SmallLaunch small_launch(const ProgramTable& program, const Grid& grid, const Operand* operands) {
  using namespace vector_detail;
  const bool is_column = program.columns != nullptr;
  const bool fits = program.operands > 0 && program.operands <= static_cast<int>(SmallLaunch::most_operands);
  if (!fits || program.transposed != nullptr || grid.rank < (is_column ? 2 : 1) || grid.rank > 2) return {};
  if (grid.elements() == 0 || grid.elements() > small_elements) return {};
  const bool runs_as_one = !is_column && !program.reduces;
  SmallLaunch own;
  own.program = &program;
  own.rows = runs_as_one || grid.rank == 1 ? 1 : grid[0];
  own.columns = runs_as_one ? grid.elements() : grid[grid.rank - 1];
  own.inner = own.columns / program.lanes * program.lanes;
  if (is_column &&
      (own.rows > rows_at_once || program.reductions * (own.columns + program.lanes) * 8 > small_buffer_bytes))
    return {};
  if (!resolve_operands(own, grid, operands)) return {};
  if (!runs_as_one && !is_column && !resolve_reductions(own)) return {};
  own.run = is_column ? &run_small_columns : runs_as_one ? &run_small_map : &run_small_rows;
  return own;
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
