#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Row programs on a GPU: softmax, norms, losses, their gradients, and any other chain of reductions over the last
// dimension mixed with elementwise work, several results included. Two kernels a program at most: one for rows that fit
// into registers, one for all others. Read next: kernel/gpu/rows_shape.hpp, which decides the threads of a row.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/coalesce.hpp>
#include <twill/kernel/gpu/rows_body.hpp>
#include <twill/kernel/program.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { namespace detail {

inline constexpr std::int64_t most_rows = std::int64_t{1} << 30; ///< of a launch, so that 32 bits count them

/// Describes rows and operands to the kernel. Returns the facts for choosing a launch; `operands` must be coalesced.
TWILL_COLD inline RowExtent describe_rows(const Line* lines, int count, const RowTraits& traits, const Grid& grid,
                                          const Operand* operands, RowJob& job, RowOperand* described) {
  const int last = grid.rank - 1;
  RowExtent extent{1, grid.rank == 0 ? 1 : grid[last], true};
  job.between = last > 1 ? last - 1 : 0;
  for (int axis = 0; axis < last; ++axis) extent.rows *= grid[axis];
  for (int axis = 0; axis < job.between; ++axis) {
    const std::int64_t own = grid[last - 1 - axis];
    job.extents[axis] = Divisor{own < 1 || own > most_rows ? 1U : static_cast<std::uint32_t>(own)};
  }
  job.rows = static_cast<std::uint32_t>(extent.rows);
  job.length = extent.length;
  int leading_input = -1;
  for (int i = 0; i < count; ++i) {
    const Line& line = lines[i];
    if (line.operand < 0) continue;
    const Operand& operand = operands[line.operand];
    RowOperand& own = described[line.operand];
    own.data = static_cast<std::byte*>(operand.data);
    own.number = operand.bits;
    if (line.kind == LineKind::immediate) continue;
    const auto unit = line.kind == LineKind::iota ? std::int64_t{1} : static_cast<std::int64_t>(size_of(line.type));
    const auto stride = [&](int axis) { return operand.strides[static_cast<std::size_t>(axis)]; };
    if (last >= 0) own.along = stride(last);
    if (last > 0) own.down = stride(0) * unit;
    for (int axis = 0; axis < job.between; ++axis) own.outer[axis] = stride(last - 1 - axis) * unit;
    if (extent.length <= 1) own.along = line.uniform ? 0 : 1;
    if (line.uniform || own.along != 1) continue;
    if (line.kind == LineKind::output && job.leader < 0) job.leader = line.operand;
    if (line.kind == LineKind::input && leading_input < 0) leading_input = line.operand;
  }
  if (job.leader < 0) job.leader = leading_input;
  if (job.leader >= 0) {
    const RowOperand& leader = described[job.leader];
    std::int64_t bytes = 0;
    for (int i = 0; i < count; ++i)
      if (lines[i].operand == job.leader) bytes = static_cast<std::int64_t>(size_of(lines[i].type)) * traits.vector;
    const auto address = reinterpret_cast<std::uint64_t>(leader.data);
    extent.is_aligned = address % static_cast<std::uint64_t>(bytes) == 0 && leader.down % bytes == 0;
    for (int axis = 0; axis < job.between; ++axis)
      extent.is_aligned = extent.is_aligned && leader.outer[axis] % bytes == 0;
  }
  return extent;
}

/// Writes a launch into the kernel's parameters.
inline void describe_launch(const RowLaunch& launch, RowJob& job) {
  job.chunks = Divisor{static_cast<std::uint32_t>(launch.chunks)};
  job.chunk_elements = launch.chunk_elements;
  job.shared_elements = launch.shared_elements;
  job.width = launch.width;
  job.teams = launch.teams();
  job.width_bits = 31;
  job.lane_mask = ~0;
  if (job.teams > 1) {
    job.width_bits = 0;
    while ((1 << job.width_bits) < launch.width) ++job.width_bits;
    job.lane_mask = launch.width - 1;
  }
}

/// Advances operands along a dimension.
TWILL_COLD inline void advance_operands(Operand* operands, int count, const Line* lines, int axis, std::int64_t by) {
  for (int o = 0, i = 0; o < count; ++i) {
    const Line& line = lines[i];
    if (line.operand < 0) continue;
    Operand& operand = operands[o++];
    const std::int64_t elements = operand.strides[static_cast<std::size_t>(axis)] * by;
    if (line.kind == LineKind::iota)
      operand.bits += static_cast<std::uint64_t>(elements);
    else if (line.kind != LineKind::immediate)
      operand.data = static_cast<std::byte*>(operand.data) + elements * static_cast<std::int64_t>(size_of(line.type));
  }
}

/// Calls f for both halves of a grid with too many rows. Returns whether it has.
template <class F> bool halve_rows(const Grid& grid, Operand* operands, int count, const Line* lines, F&& f) {
  std::int64_t rows = 1;
  for (int axis = 0; axis + 1 < grid.rank; ++axis) rows *= grid[axis];
  if (rows <= most_rows) return false;
  int longest = 0;
  for (int axis = 1; axis + 1 < grid.rank; ++axis)
    if (grid[axis] > grid[longest]) longest = axis;
  Grid half = grid;
  half[longest] = grid[longest] / 2;
  f(half);
  advance_operands(operands, count, lines, longest, half[longest]);
  half[longest] = grid[longest] - half[longest];
  f(half);
  return true;
}

/// The number of rows that a launch over chunks may have: each needs a counter, partial results and results.
[[nodiscard]] inline std::uint32_t chunked_rows(const twill::gpu::Allowance& allowance, const RowTraits& traits,
                                                std::int64_t chunks, int lines) {
  const std::int64_t of_row = (traits.reductions * chunks + lines) * 8;
  const std::int64_t of_memory = static_cast<std::int64_t>(allowance.bytes) / of_row;
  const std::int64_t of_grid = most_rows / chunks;
  return static_cast<std::uint32_t>(
      std::max<std::int64_t>(1, std::min({of_memory, of_grid, std::int64_t{allowance.counter_count}})));
}

}}}}} // namespace twill::v0::kernel::gpu::detail

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// Runs a row program in a given launch. `parameters` describes rows and operands. requires: that the launch suits them
template <class P, class Queue>
void launch_rows(const Queue& queue, const RowLaunch& launch, typename RowProgram<P>::Parameters& parameters) {
  constexpr RowTraits traits = row_plan_of<P>.traits;
  RowJob& job = parameters.job;
  detail::describe_launch(launch, job);
  const auto shape = [&](std::int64_t blocks) {
    return twill::gpu::LaunchShape{static_cast<unsigned>(blocks), static_cast<unsigned>(launch.threads),
                                   launch.shared_bytes};
  };
  if (launch.chunks > 1) {
    constexpr auto lines = static_cast<int>(summary_of<P>.lines.size());
    const twill::gpu::WorkingMemory working = queue.working_memory(); // stages leave results there for the next ones
    const std::uint32_t most = detail::chunked_rows(working.size(), traits, launch.chunks, lines);
    job.counters = working.counters();
    job.results = static_cast<std::uint64_t*>(working.memory());
    for (job.first_row = 0; job.first_row < job.rows; job.first_row += most) {
      const std::int64_t rows = std::min(most, job.rows - job.first_row);
      job.partials = job.results + rows * lines;
      for (job.stage = 0; job.stage < traits.stages; ++job.stage)
        enqueue(queue, RowBody<P, RowMode::again>{}, shape(rows * launch.chunks), parameters);
    }
    return;
  }
  const auto of_launch = shape((std::int64_t{job.rows} + launch.teams() - 1) / launch.teams());
  if constexpr (traits.stages > 1)
    if (launch.mode == RowMode::once) return enqueue(queue, RowBody<P, RowMode::once>{}, of_launch, parameters);
  enqueue(queue, RowBody<P, RowMode::again>{}, of_launch, parameters);
}

/// Describes the operands of a program to its kernel. requires: fewer than 2^30 rows, coalesced dimensions
template <class P>
RowExtent bind_rows(const Grid& grid, const Operand* operands, typename RowProgram<P>::Parameters& parameters) {
  constexpr const auto& lines = summary_of<P>.lines;
  return detail::describe_rows(lines.data(), static_cast<int>(lines.size()), row_plan_of<P>.traits, grid, operands,
                               parameters.job, parameters.operands);
}

/// Runs a row program at every row of the grid, in the queue's order; operands in the order of the lines that take one.
/// throws: GpuError    cost: one launch, or one for each stage where a few long rows are shared out
template <class... Lines, class Queue>
void run_row_program(Program<Lines...> program, const Queue& queue, const Grid& grid, const Operand* operands) {
  using P = Program<Lines...>;
  constexpr int count = summary_of<P>.operands;
  std::array<Operand, static_cast<std::size_t>(count == 0 ? 1 : count)> bound;
  std::copy_n(operands, count, bound.data());
  Grid own = grid;
  coalesce(own, bound.data(), count, true);
  if (detail::halve_rows(own, bound.data(), count, summary_of<P>.lines.data(),
                         [&](const Grid& part) { run_row_program(program, queue, part, bound.data()); }))
    return;
  typename RowProgram<P>::Parameters parameters{};
  static_assert(sizeof(parameters) <= 32764, "twill: a kernel's parameters have at most 32,764 bytes");
  const RowExtent extent = bind_rows<P>(own, bound.data(), parameters);
  if (extent.rows == 0) return;
  launch_rows<P>(queue, choose_row_launch(row_plan_of<P>.traits, extent, queue.properties().shared_bytes), parameters);
}

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA
