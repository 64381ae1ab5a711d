#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/rows.hpp.

#include <twill/kernel/rows.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

TWILL_BODY RowKernel::RowKernel(const ProgramTable& program, const Grid& grid, const Operand* bound)
    : program_{program},
      grid_{grid},
      bound_{bound},
      n_{grid.rank == 0 ? 1 : grid[grid.rank - 1]},
      walk_{program, grid, bound, 0, grid.rank == 0 ? 0 : grid.rank - 1} {
  const std::size_t last = grid.rank == 0 ? 0 : static_cast<std::size_t>(grid.rank - 1);
  const bool is_single = n_ == 1 || grid.rank == 0;
  const std::int64_t elements = n_ * walk_.count();
  // without branches in the common case: for a small kernel, these take most of the time
  for (int o = 0; o < program.operands; ++o) {
    const OperandInfo& info = program.operand[o];
    const bool in_memory = info.role <= OperandInfo::Role::gather;
    const auto address = reinterpret_cast<std::int64_t>(bound[o].data);
    const auto number = static_cast<std::int64_t>(bound[o].bits);
    const std::int64_t stride = is_single ? 1 : bound[o].strides[last];
    const bool is_output = info.role == OperandInfo::Role::output;
    start_.at[o] = in_memory ? address : number;
    start_.stride[o] = stride;
    start_.mode[o] = is_output && stride != 1 ? StoreMode::scatter : StoreMode::plain;
    packs_ = packs_ || vector_detail::needs_packing(info, stride);
  }
  if (elements * shared_slot_bytes >= vector_detail::worth_streaming)
    streams_ = vector_detail::choose_streams(program, grid, bound, start_.mode);
}

TWILL_BODY void RowKernel::run(const AnyTeam& team) {
  const std::int64_t rows = walk_.count();
  if (rows == 0 || (!program_.reduces && n_ == 0)) return;
  const bool is_shared = is_shared_by(team);
  if (!is_shared) {
    if (rows == 1 && !program_.reduces && !streams_) { // the case where overhead shows
      alignas(64) std::byte shared[vector_detail::max_shared_bytes];
      if (program_.shared[0] != nullptr) program_.shared[0](program_, 0, shared, start_.at, bound_);
      run_map(program_, start_, shared, 0, n_, packs_);
    } else {
      some_rows(0, rows, 0, n_);
    }
  } else if (shares_rows(team)) {
    team.parallel([this, rows](int rank, int size) {
      const Share mine = share_of(rows, 1, rank, size);
      if (mine.begin < mine.end) some_rows(mine.begin, mine.end, 0, n_);
    });
  } else if (!program_.reduces) {
    team.parallel([this, rows](int rank, int size) {
      const Share mine = share_of(n_, 16 * program_.lanes, rank, size);
      if (mine.begin < mine.end) some_rows(0, rows, mine.begin, mine.end);
    });
  } else {
    for (std::int64_t row = 0; row < rows; ++row, walk_.next(start_.at)) long_row(start_, team);
  }
}

TWILL_COLD TWILL_BODY void RowKernel::reserve(const AnyTeam& team) const {
  const std::int64_t rows = walk_.count();
  if (rows == 0 || (!program_.reduces && n_ == 0)) return;
  const std::size_t bytes = program_.reduces ? scratch_bytes(n_ > vector_detail::chunk_elements ? chunks() : 0) : 0;
  Scratch::reserve(bytes);
  if (team.size() == 1 || operations() < vector_detail::worth_sharing_awake) return;
  team.parallel([=, this](int rank, int size) { // this starts its threads
    const Share mine = share_of(rows, 1, rank, size);
    if (shares_rows(team) && mine.begin < mine.end) Scratch::reserve(bytes);
  });
}

TWILL_BODY bool RowKernel::is_shared_by(const AnyTeam& team) const {
  return team.size() > 1 && (operations() >= vector_detail::worth_sharing ||
                             (operations() >= vector_detail::worth_sharing_awake && team.is_awake()));
}

TWILL_BODY std::int64_t RowKernel::operations() const { return walk_.count() * n_ * program_.operations; }

TWILL_BODY bool RowKernel::shares_rows(const AnyTeam& team) const {
  return walk_.count() >= 4 * team.size() || (program_.reduces && n_ <= vector_detail::chunk_elements);
}

TWILL_BODY std::int64_t RowKernel::chunks() const {
  return (n_ + vector_detail::chunk_elements - 1) / vector_detail::chunk_elements;
}

[[gnu::noinline]] TWILL_BODY void RowKernel::some_rows(std::int64_t first, std::int64_t last, std::int64_t begin,
                                                       std::int64_t end) const {
  const bool is_ragged = (n_ & (program_.lanes - 1)) != 0 && n_ <= vector_detail::block_elements / 2;
  if (is_ragged && !program_.reduces && grid_.rank == 2 && !streams_ && begin == 0 && end == n_ &&
      rows_as_one(first, last))
    return;
  RowWalk walk = walk_;
  Cursor at;
  vector_detail::copy_cursor(at, start_, program_.operands);
  walk.seek(first, at.at);
  alignas(64) std::byte shared[vector_detail::max_shared_bytes];
  if (program_.reduces && n_ > vector_detail::chunk_elements) {
    for (std::int64_t row = first; row < last; ++row, walk.next(at.at)) long_row(at, AnyTeam{});
    return;
  }
  const ScratchRows scratch = program_.reduces ? scratch_rows(0).rows : ScratchRows{};
  std::int64_t distances[max_operands];
  walk.distances(distances);
  for (std::int64_t row = first; row < last; ++row, walk.next(at.at, distances)) {
    if (streams_) align(at);
    if (program_.reduces) {
      short_row(at, shared, scratch);
    } else {
      if (program_.shared[0] != nullptr) program_.shared[0](program_, 0, shared, at.at, bound_);
      run_map(program_, at, shared, begin, end, packs_);
    }
  }
  if (streams_) finish_streams();
}

TWILL_BODY bool RowKernel::rows_as_one(std::int64_t first, std::int64_t last) const {
  using Role = OperandInfo::Role;
  alignas(64) std::byte repeated[vector_detail::repeated_bytes];
  const std::int64_t block =
      last - first < vector_detail::block_elements / n_ ? last - first : vector_detail::block_elements / n_;
  std::byte* next = repeated;
  Cursor at;
  std::int64_t step[max_operands];
  for (int o = 0; o < program_.operands; ++o) {
    const OperandInfo& info = program_.operand[o];
    const std::int64_t down = bound_[o].strides[0];
    const bool is_varying = info.stages != 0;
    at.stride[o] = start_.stride[o];
    at.mode[o] = start_.mode[o];
    step[o] = down * info.unit;
    at.at[o] = start_.at[o] + first * step[o];
    if (info.role == Role::immediate) {
      step[o] = 0;
    } else if (info.role == Role::iota || (info.role == Role::input && is_varying)) {
      const std::int64_t along = info.role == Role::input ? vector_detail::stride_of(info, start_, o) : at.stride[o];
      if (down == n_ * along) continue;
      if (info.role == Role::iota || down != 0 || along != 1) return false;
      const std::int64_t row_bytes = n_ * info.bytes;
      if (next + block * row_bytes + vector_bytes > repeated + vector_detail::repeated_bytes) return false;
      vector_detail::repeat(next, reinterpret_cast<const std::byte*>(at.at[o]), row_bytes, block);
      at.at[o] = reinterpret_cast<std::int64_t>(next);
      next += (block * row_bytes + 2 * vector_bytes - 1) / vector_bytes * vector_bytes;
    } else if (info.role == Role::gather) {
      return false;
    } else if (info.role == Role::input) {
      if (down != 0) return false;
    } else if (at.mode[o] != StoreMode::plain || down != n_) {
      return false;
    }
  }
  alignas(64) std::byte shared[vector_detail::max_shared_bytes];
  if (program_.shared[0] != nullptr) program_.shared[0](program_, 0, shared, at.at, bound_);
  for (std::int64_t row = first; row < last; row += block) {
    run_map(program_, at, shared, 0, (last - row < block ? last - row : block) * n_, packs_);
    for (int o = 0; o < program_.operands; ++o) at.at[o] += block * step[o];
  }
  return true;
}

TWILL_BODY void RowKernel::align(Cursor& at) const {
  for (int o = 0; o < program_.operands; ++o) {
    if (start_.mode[o] != StoreMode::stream) continue;
    const bool is_aligned = at.at[o] % (std::int64_t{program_.operand[o].bytes} * program_.lanes) == 0;
    at.mode[o] = is_aligned ? StoreMode::stream : StoreMode::plain;
  }
}

TWILL_BODY std::int64_t RowKernel::scratch_row_bytes() const {
  constexpr std::int64_t line_bytes = 64;
  // one more line, so that rows of a power of two do not fall on the same cache sets
  return program_.scratch_rows == 0 ? 0 : ((n_ + program_.lanes) * 8 / line_bytes + 2) * line_bytes;
}

TWILL_BODY std::size_t RowKernel::scratch_bytes(std::int64_t chunks) const {
  return static_cast<std::size_t>(scratch_row_bytes() * program_.scratch_rows + chunks * program_.shared_bytes);
}

TWILL_BODY RowKernel::Working RowKernel::scratch_rows(std::int64_t chunks) const {
  if (program_.scratch_rows == 0 && chunks == 0) return {};
  const std::int64_t row_bytes = scratch_row_bytes();
  std::byte* memory = Scratch::of_thread(scratch_bytes(chunks));
  return {{memory, memory + row_bytes, row_bytes}, memory + row_bytes * program_.scratch_rows};
}

TWILL_BODY void RowKernel::short_row(const Cursor& at, std::byte* shared, ScratchRows scratch) const {
  // only whole packs fit, and a second pass over cached values beats a first touch of the output
  const int output = program_.scratch_output;
  if (output >= 0 && at.mode[output] == StoreMode::plain && (n_ & (program_.lanes - 1)) == 0)
    scratch.first = reinterpret_cast<std::byte*>(at.at[output]);
  for (int stage = 0; stage < program_.stages; ++stage) {
    if (program_.shared[stage] != nullptr) program_.shared[stage](program_, stage, shared, at.at, bound_);
    run_stage(program_, stage, at, shared, shared, scratch, 0, n_, packs_, true);
  }
  finish_row(at, shared);
}

[[gnu::noinline]] TWILL_BODY void RowKernel::long_row(const Cursor& row, const AnyTeam& team) const {
  Cursor at;
  vector_detail::copy_cursor(at, row, program_.operands);
  if (streams_) align(at);
  const std::int64_t chunks = this->chunks();
  const Working working = scratch_rows(chunks);
  alignas(64) std::byte shared[vector_detail::max_shared_bytes];
  for (int stage = 0; stage < program_.stages; ++stage) {
    if (program_.shared[stage] != nullptr) program_.shared[stage](program_, stage, shared, at.at, bound_);
    team.parallel([&](int rank, int size) {
      const Share mine = share_of(chunks, 1, rank, size);
      for (std::int64_t chunk = mine.begin; chunk < mine.end; ++chunk) {
        const std::int64_t begin = chunk * vector_detail::chunk_elements;
        const std::int64_t end =
            n_ - begin < vector_detail::chunk_elements ? n_ : begin + vector_detail::chunk_elements;
        run_stage(program_, stage, at, shared, working.partial + chunk * program_.shared_bytes, working.rows, begin,
                  end, packs_, false);
      }
      if (streams_) finish_streams();
    });
    for (int r = 0; r < program_.reductions; ++r) {
      const ReductionInfo& info = program_.reduction[r];
      if (info.stage != stage) continue;
      const std::int64_t slot = std::int64_t{info.line} * shared_slot_bytes;
      info.tree(working.partial + slot, program_.shared_bytes, chunks);
      std::memcpy(shared + slot, working.partial + slot, shared_slot_bytes);
    }
  }
  finish_row(at, shared);
}

TWILL_BODY void RowKernel::finish_row(const Cursor& at, std::byte* shared) const {
  if (program_.shared[program_.stages] != nullptr)
    program_.shared[program_.stages](program_, program_.stages, shared, at.at, bound_);
  if (!program_.stores_shared) return;
  for (int o = 0; o < program_.operands; ++o) {
    const OperandInfo& info = program_.operand[o];
    if (info.store_shared == nullptr) continue;
    const std::int64_t count = at.stride[o] == 0 || n_ <= 1 ? 1 : n_;
    AccessCounts::store(o, count);
    info.store_shared(shared + info.source * shared_slot_bytes, at.at[o], at.stride[o], count);
  }
}

namespace vector_detail {

[[gnu::noinline]] TWILL_BODY bool run_short_row(const ProgramTable& program, std::int64_t n, const Operand* bound) {
  using Role = OperandInfo::Role;
  alignas(64) std::byte buffer[max_operands * pack_room];
  std::byte* next = buffer;
  Cursor at;
  const Operand* operand = bound;
  const OperandInfo* info = program.operand;
  for (int o = 0; o < program.operands; ++o, ++info, ++operand) {
    const bool in_memory = info->role <= Role::gather;
    at.stride[o] = n == 1 ? 1 : operand->strides[0];
    at.mode[o] = StoreMode::plain;
    at.at[o] = in_memory ? reinterpret_cast<std::int64_t>(operand->data) : static_cast<std::int64_t>(operand->bits);
    if (!in_memory || info->stages == 0) continue;
    if (info->role == Role::gather) {
      at.mode[o] = static_cast<StoreMode>(n);
      continue;
    }
    if (at.stride[o] != 1) return false;
    const std::int64_t room = std::int64_t{program.lanes} * info->bytes;
    if (info->role == Role::input) fill_pack(next, static_cast<const std::byte*>(operand->data), n * info->bytes, room);
    at.at[o] = reinterpret_cast<std::int64_t>(next);
    next += (room + vector_bytes - 1) / vector_bytes * vector_bytes;
  }
  AccessCounts::stage(program, 0, n, nullptr);
  alignas(64) std::byte shared[max_shared_bytes];
  if (program.shared[0] != nullptr) program.shared[0](program, 0, shared, at.at, bound);
  program.stage[0](program, 0, at, shared, nullptr, {}, 0, program.lanes, RowPart::first);
  info = program.operand;
  operand = bound;
  for (int o = 0; o < program.operands; ++o, ++info, ++operand)
    if (info->role == Role::output)
      copy_elements(static_cast<std::byte*>(operand->data), 1, reinterpret_cast<const std::byte*>(at.at[o]), 1, n,
                    info->bytes);
  return true;
}

} // namespace vector_detail
[[gnu::noinline]] TWILL_BODY void run_rows(const ProgramTable& program, const AnyTeam& team, const Grid& grid,
                                           const Operand* bound) {
  if (grid.rank == 1 && grid[0] < program.lanes && grid[0] > 0 && !program.reduces &&
      vector_detail::run_short_row(program, grid[0], bound))
    return;
  if (program.transposed != nullptr && program.transposed(program, team, grid, bound)) return;
  RowKernel{program, grid, bound}.run(team);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
