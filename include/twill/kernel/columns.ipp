#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/columns.hpp.

#include <twill/kernel/columns.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

TWILL_BODY ColumnKernel::ColumnKernel(const ProgramTable& program, const Grid& grid, const Operand* bound)
    : program_{program},
      bound_{bound},
      rows_{grid.rank == 0 ? 1 : grid[0]},
      n_{grid.rank < 2 ? 1 : grid[grid.rank - 1]},
      walk_{program, grid, bound, 1, grid.rank < 2 ? 1 : grid.rank - 1} {
  const std::size_t last = grid.rank < 2 ? 0 : static_cast<std::size_t>(grid.rank - 1);
  for (int o = 0; o < program.operands; ++o) {
    const OperandInfo& info = program.operand[o];
    const bool in_memory = info.role <= OperandInfo::Role::gather;
    start_.at[o] = in_memory ? reinterpret_cast<std::int64_t>(bound[o].data) : static_cast<std::int64_t>(bound[o].bits);
    start_.stride[o] = n_ == 1 ? 1 : bound[o].strides[last];
    start_.mode[o] =
        info.role == OperandInfo::Role::output && start_.stride[o] != 1 ? StoreMode::scatter : StoreMode::plain;
    down_[o] = bound[o].strides[0] * info.unit;
    packs_ = packs_ || vector_detail::needs_packing(info, start_.stride[o]);
  }
}

TWILL_BODY void ColumnKernel::run(const AnyTeam& team) {
  for (std::int64_t slice = 0; slice < walk_.count(); ++slice, walk_.next(start_.at)) one_slice(team);
}

TWILL_COLD TWILL_BODY void ColumnKernel::reserve(const AnyTeam& team) const {
  if (walk_.count() == 0) return;
  if (!is_shared_by(team)) {
    Scratch::reserve(block_bytes(n_));
  } else if (shares_columns(team)) {
    team.parallel([this](int rank, int size) {
      const Share mine = share_of(n_, program_.lanes, rank, size);
      if (mine.begin < mine.end) Scratch::reserve(block_bytes(mine.end - mine.begin));
    });
  } else {
    team.parallel([](int, int) {}); // this starts its threads
    Scratch::reserve(static_cast<std::size_t>(sums_bytes(n_) * chunks()));
  }
}

TWILL_BODY std::int64_t ColumnKernel::chunks() const {
  return (rows_ + vector_detail::rows_of_chunk - 1) / vector_detail::rows_of_chunk;
}

TWILL_BODY bool ColumnKernel::is_shared_by(const AnyTeam& team) const {
  return team.size() > 1 && rows_ * n_ * program_.operations >= vector_detail::worth_sharing;
}

TWILL_BODY bool ColumnKernel::shares_columns(const AnyTeam& team) const {
  return n_ >= std::int64_t{8} * program_.lanes * team.size() || chunks() < team.size();
}

TWILL_BODY void ColumnKernel::one_slice(const AnyTeam& team) const {
  if (!is_shared_by(team)) {
    some_columns(0, n_);
  } else if (shares_columns(team)) {
    team.parallel([this](int rank, int size) {
      const Share mine = share_of(n_, program_.lanes, rank, size);
      if (mine.begin < mine.end) some_columns(mine.begin, mine.end);
    });
  } else {
    const std::int64_t bytes = sums_bytes(n_);
    const std::int64_t chunks = this->chunks();
    std::byte* sums = Scratch::of_thread(static_cast<std::size_t>(bytes * chunks));
    team.parallel([=, this](int rank, int size) {
      const Share mine = share_of(chunks, 1, rank, size);
      for (std::int64_t chunk = mine.begin; chunk < mine.end; ++chunk) sum_chunk(chunk, 0, n_, sums + chunk * bytes);
    });
    for (std::int64_t step = 1; step < chunks; step *= 2)
      for (std::int64_t chunk = 0; chunk + step < chunks; chunk += 2 * step)
        add(sums + chunk * bytes, sums + (chunk + step) * bytes, n_);
    finish(0, n_, sums);
  }
}

TWILL_BODY std::size_t ColumnKernel::block_bytes(std::int64_t columns) const {
  const auto levels = bits_needed(static_cast<std::uint64_t>(chunks())) + 1;
  return static_cast<std::size_t>(sums_bytes(std::min(columns, vector_detail::block_columns)) * levels);
}

TWILL_BODY void ColumnKernel::some_columns(std::int64_t begin, std::int64_t end) const {
  const auto chunks = static_cast<std::uint64_t>(this->chunks());
  for (; begin < end; begin += vector_detail::block_columns) {
    const std::int64_t stop = std::min(end, begin + vector_detail::block_columns);
    const std::int64_t bytes = sums_bytes(stop - begin);
    std::byte* sums = Scratch::of_thread(block_bytes(stop - begin));
    std::byte* top = sums; // after the last of them
    if (chunks == 0) clear(sums, stop - begin);
    const auto join = [&] {
      top -= bytes;
      add(top - bytes, top, stop - begin);
    };
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
      sum_chunk(static_cast<std::int64_t>(chunk), begin, stop, top);
      top += bytes;
      for (std::uint64_t done = chunk; done % 2 != 0; done /= 2) join();
    }
    while (top - sums > bytes) join();
    finish(begin, stop, sums);
  }
}

TWILL_BODY std::int64_t ColumnKernel::row_bytes(std::int64_t columns) const {
  return (columns + program_.lanes - 1) / program_.lanes * program_.lanes * 8;
}

TWILL_BODY void ColumnKernel::clear(std::byte* sums, std::int64_t columns) const {
  for (int r = 0; r < program_.reductions; ++r) program_.reduction[r].clear(sums + r * row_bytes(columns), columns);
}

TWILL_BODY void ColumnKernel::add(std::byte* sums, const std::byte* more, std::int64_t columns) const {
  for (int r = 0; r < program_.reductions; ++r)
    program_.reduction[r].add(sums + r * row_bytes(columns), more + r * row_bytes(columns), columns);
}

TWILL_BODY void ColumnKernel::sum_chunk(std::int64_t chunk, std::int64_t begin, std::int64_t end,
                                        std::byte* sums) const {
  const std::int64_t first = chunk * vector_detail::rows_of_chunk;
  const std::int64_t last = std::min(rows_, first + vector_detail::rows_of_chunk);
  AccessCounts::stage(program_, 0, (last - first) * (end - begin), nullptr);
  Cursor base;
  vector_detail::copy_cursor(base, start_, program_.operands);
  for (int o = 0; o < program_.operands; ++o) base.at[o] += first * down_[o];
  for (std::int64_t top = first; top < last; top += vector_detail::rows_at_once) {
    const std::int64_t height = std::min(last - top, vector_detail::rows_at_once);
    const std::int64_t whole = (end - begin) / program_.lanes * program_.lanes;
    const std::int64_t bytes = row_bytes(end - begin);
    if (!packs_)
      program_.columns(program_, base, down_, bound_, height, begin, begin + whole, top > first, sums, 0, bytes);
    for (std::int64_t j = 0; j < whole && packs_; j += program_.lanes)
      last_columns(base, height, begin + j, begin + j + program_.lanes, top > first, sums, j, bytes);
    if (begin + whole < end) last_columns(base, height, begin + whole, end, top > first, sums, whole, bytes);
    for (int o = 0; o < program_.operands; ++o) base.at[o] += height * down_[o];
  }
}

[[gnu::noinline]] TWILL_BODY void ColumnKernel::last_columns(const Cursor& base, std::int64_t height,
                                                             std::int64_t begin, std::int64_t end, bool add,
                                                             std::byte* sums, std::int64_t column,
                                                             std::int64_t bytes) const {
  using Role = OperandInfo::Role;
  alignas(64) std::byte buffer[max_column_buffer_bytes];
  std::byte* next = buffer;
  Cursor at;
  std::int64_t down[max_operands];
  const auto is_copied = [](const OperandInfo& info) {
    return (info.stages & 1U) != 0 && (info.role == Role::input || info.role == Role::output);
  };
  for (int o = 0; o < program_.operands; ++o) {
    const OperandInfo& info = program_.operand[o];
    at.at[o] = base.at[o];
    at.stride[o] = base.stride[o];
    at.mode[o] = base.mode[o];
    down[o] = down_[o];
    if (info.role == Role::gather) at.mode[o] = static_cast<StoreMode>(end - begin);
    if (!is_copied(info)) continue;
    const std::int64_t own_row = room_of(info);
    at.at[o] = reinterpret_cast<std::int64_t>(next) - begin * info.bytes;
    at.stride[o] = 1;
    at.mode[o] = StoreMode::plain;
    down[o] = own_row;
    if (info.role == Role::input) fill_rows(next, own_row, info, base, o, height, begin, end);
    next += height * own_row;
  }
  program_.columns(program_, at, down, bound_, height, begin, begin + program_.lanes, add, sums, column, bytes);
  for (int o = 0; o < program_.operands; ++o) {
    const OperandInfo& info = program_.operand[o];
    if (!is_copied(info) || info.role != Role::output) continue;
    const std::int64_t stride = vector_detail::stride_of(info, base, o);
    for (std::int64_t row = 0; row < height; ++row)
      vector_detail::copy_elements(
          reinterpret_cast<std::byte*>(base.at[o] + row * down_[o] + begin * stride * info.bytes), stride,
          reinterpret_cast<const std::byte*>(at.at[o] + row * down[o] + begin * info.bytes), 1, end - begin,
          info.bytes);
  }
}

TWILL_BODY void ColumnKernel::fill_rows(std::byte* to, std::int64_t to_row, const OperandInfo& info, const Cursor& base,
                                        int operand, std::int64_t height, std::int64_t begin, std::int64_t end) const {
  const std::int64_t stride = vector_detail::stride_of(info, base, operand);
  const std::int64_t bytes = (end - begin) * info.bytes;
  const auto* from = reinterpret_cast<const std::byte*>(base.at[operand] + begin * stride * info.bytes);
  const std::byte* const last = to + height * to_row;
  if (stride == 1 && to_row == vector_bytes && bytes < vector_bytes) {
    for (; to != last; to += vector_bytes, from += down_[operand]) vector_detail::fill_register(to, from, bytes);
  } else {
    for (; to != last; to += to_row, from += down_[operand])
      if (stride == 1) {
        vector_detail::fill_pack(to, from, bytes, to_row);
      } else {
        vector_detail::clear_bytes(to, to_row);
        vector_detail::pack_elements(to, from, stride, end - begin, info.bytes);
      }
  }
}

TWILL_BODY std::int64_t ColumnKernel::room_of(const OperandInfo& info) const {
  return (std::int64_t{program_.lanes} * info.bytes + vector_bytes - 1) / vector_bytes * vector_bytes;
}

TWILL_BODY void ColumnKernel::finish(std::int64_t begin, std::int64_t end, const std::byte* sums) const {
  for (int o = 0; o < program_.operands; ++o) {
    const OperandInfo& info = program_.operand[o];
    if (info.store_sums == nullptr) continue;
    AccessCounts::store(o, end - begin);
    int ordinal = 0;
    while (program_.reduction[ordinal].line != info.source) ++ordinal;
    info.store_sums(sums + ordinal * row_bytes(end - begin), start_.at[o] + begin * start_.stride[o] * info.bytes,
                    start_.stride[o], end - begin);
  }
}

[[gnu::noinline]] TWILL_BODY void run_columns(const ProgramTable& program, const AnyTeam& team, const Grid& grid,
                                              const Operand* bound) {
  ColumnKernel{program, grid, bound}.run(team);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
