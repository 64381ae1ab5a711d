#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run/launch.hpp, and the update of plain gradient descent inside the product of its
// gradient: the product's place keeps its factors, and the update multiplies them and changes the weight element by
// element. Threads share the rows of a weight, each computed by itself, so results do not depend on their number.

#include <twill/compile/plan/fused_sgd.hpp>
#include <twill/compile/run/launch.hpp>
#include <twill/core/config.hpp>
#include <twill/kernel/fused_sgd.hpp>

#include <algorithm>
#include <array>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void move_operands(Binding& binding, const BoundLoop& loop, std::int64_t steps) {
  for (std::size_t i = loop.first_moving; i < loop.end_moving; ++i) {
    const SteppingOperand& moving = binding.moving[i];
    kernel::Operand& operand = binding.operands[moving.operand];
    const std::int64_t distance = moving.step * steps;
    if (moving.is_position)
      operand.bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(operand.bits) + distance);
    else
      operand.data = static_cast<std::byte*>(operand.data) + distance;
  }
}

/// Copies a factor row by row: `rows` along the product's inner axis, `columns` along one of the result's.
template <class T>
void keep_factor(const kernel::Operand& from, std::size_t row_axis, std::size_t column_axis, std::int64_t rows,
                 std::int64_t columns, T* to) {
  const T* const data = static_cast<const T*>(from.data);
  const std::int64_t row = from.strides[row_axis];
  const std::int64_t column = from.strides[column_axis];
  for (std::int64_t p = 0; p < rows; ++p) {
    if (column == 1 || columns == 1)
      std::copy_n(data + p * row, columns, to + p * columns);
    else
      for (std::int64_t i = 0; i < columns; ++i) to[p * columns + i] = data[p * row + i * column];
  }
}

/// Puts the factors of a product in the place of its result: the left one transposed, then the right one.
template <class T> void keep_factors(const kernel::Launch& product) {
  const std::int64_t m = product.grid[0];
  const std::int64_t n = product.grid[1];
  const std::int64_t k = product.grid[2];
  T* const kept = static_cast<T*>(product.operands[2].data);
  keep_factor<T>(product.operands[0], 2, 0, k, m, kept);
  keep_factor<T>(product.operands[1], 2, 1, k, n, kept + k * m);
}

template <class T> void update_weight(const Team& team, const kernel::Launch& product, const kernel::Launch& update) {
  using At = SgdOperands;
  kernel::FusedSgd<T> descent{};
  descent.m = product.grid[0];
  descent.n = product.grid[1];
  descent.k = product.grid[2];
  descent.left = static_cast<const T*>(product.operands[2].data);
  descent.right = descent.left + descent.k * descent.m;
  descent.weight = static_cast<T*>(update.operands[At::result].data);
  descent.rate = *static_cast<const T*>(update.operands[At::rate].data);
  descent.decay = *static_cast<const T*>(update.operands[At::decay].data);
  constexpr std::int64_t worth_a_team = 32768; // elements, as for programs
  if (team.size() == 1 || descent.m * descent.n < worth_a_team) return kernel::update_weight(descent, 0, descent.m);
  team.parallel([&](int rank, int size) {
    constexpr std::int64_t tile = 4; // rows
    const std::int64_t tiles = (descent.m + tile - 1) / tile;
    const std::int64_t first = std::min(descent.m, tiles * rank / size * tile);
    const std::int64_t end = std::min(descent.m, tiles * (rank + 1) / size * tile);
    if (first < end) kernel::update_weight(descent, first, end - first);
  });
}

/// An instruction with a part in such an update.
template <class T> void run_fused_sgd(const Team& team, const Binding& binding, const BoundInstruction& instruction) {
  if (instruction.part == FusedSgdPart::keeps_factors) return keep_factors<T>(binding.launch_of(instruction));
  const kernel::Launch product = binding.launch_of(binding.instructions[instruction.product]);
  update_weight<T>(team, product, binding.launch_of(instruction));
}

TWILL_INLINE void run_one(const Team& team, const Binding& binding, const KernelFunction& run,
                          const BoundInstruction& instruction) {
  if (instruction.small != nullptr)
    instruction.small->run(*instruction.small, binding.operands.data() + instruction.first_operand);
  else
    run(team, binding.launch_of(instruction));
}

TWILL_BODY void run_range(const Binding& binding, KernelFunction run, const BoundInstruction& instruction,
                          std::int64_t begin, std::int64_t end) {
  std::array<kernel::Operand, most_joined_operands> operands;
  for (std::size_t k = 0; k < instruction.operand_count; ++k) {
    const std::size_t position = instruction.first_operand + k;
    operands[k] = binding.operands[position];
    const std::int64_t bytes =
        begin * operands[k].strides[0] * static_cast<std::int64_t>(size_of(binding.dtypes[position]));
    operands[k].data = static_cast<std::byte*>(operands[k].data) + bytes;
  }
  const kernel::Grid grid(end - begin);
  run(Team::serial(), {grid, operands.data()});
}

TWILL_BODY bool are_worth_a_team(const Team& team, std::span<const BoundInstruction> members) {
  if (members.size() == 1 || team.size() == 1) return false;
  std::int64_t total = 0;
  for (const BoundInstruction& member : members) {
    if (member.grid.rank != 1) return false;
    total += member.grid.elements();
  }
  constexpr std::int64_t worth_a_team = 32768; // below, waking the team costs more than it gains
  return total >= worth_a_team;
}

TWILL_BODY void run_joined(const Team& team, const Binding& binding, KernelFunction run,
                           std::span<const BoundInstruction> members) {
  if (!are_worth_a_team(team, members)) {
    for (const BoundInstruction& member : members) run_one(team, binding, run, member);
    return;
  }
  std::int64_t total = 0;
  for (const BoundInstruction& member : members) total += member.grid.elements();
  team.parallel([&](int rank, int size) {
    constexpr std::int64_t line = 64; // elements: threads do not share a cache line of what they write
    const std::int64_t share = ((total + size - 1) / size + line - 1) / line * line;
    const std::int64_t from = std::min(total, rank * share);
    const std::int64_t to = std::min(total, from + share);
    std::int64_t position = 0;
    for (const BoundInstruction& member : members) {
      const std::int64_t elements = member.grid.elements();
      const std::int64_t begin = std::clamp(from - position, std::int64_t{0}, elements);
      const std::int64_t end = std::clamp(to - position, std::int64_t{0}, elements);
      if (begin < end) run_range(binding, run, member, begin, end);
      position += elements;
    }
  });
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

template <class T>
void fused_sgd(const Team& team, const Binding& binding, const KernelFunction& run,
               std::span<const BoundInstruction> members) {
  std::size_t plain = 0; // the first of the instructions before this one that share the launch unchanged
  for (std::size_t i = 0; i <= members.size(); ++i) {
    if (i < members.size() && members[i].part == FusedSgdPart::none) continue;
    if (plain < i) detail::run_joined(team, binding, run, members.subspan(plain, i - plain));
    if (i < members.size()) detail::run_fused_sgd<T>(team, binding, members[i]);
    plain = i + 1;
  }
}

#if !TWILL_HEADER_ONLY
template void fused_sgd<float>(const Team&, const Binding&, const KernelFunction&, std::span<const BoundInstruction>);
template void fused_sgd<double>(const Team&, const Binding&, const KernelFunction&, std::span<const BoundInstruction>);
#endif

TWILL_BODY void resolve_small_launches(Binding& binding, std::span<const KernelFunction> kernels) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  binding.small.clear(); // of an attempt that found no memory
  std::vector<std::size_t> places(binding.instructions.size(), none);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const BoundInstruction& instruction = binding.instructions[i];
    if (instruction.collective != kernel::Collective::none || instruction.part != FusedSgdPart::none) continue;
    const kernel::SmallLaunch small = kernels[instruction.kernel].resolve(binding.launch_of(instruction));
    if (small.run == nullptr) continue;
    places[i] = binding.small.size();
    binding.small.push_back(small);
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i] != none) binding.instructions[i].small = &binding.small[places[i]];
}

TWILL_BODY void run_launch(const Team& team, const Binding& binding, const BoundInstruction* launch,
                           std::span<const KernelFunction> kernels) {
  [[maybe_unused]] const LaunchRange range{binding, launch};
  if (launch->has_fused_sgd)
    binding.run_fused_sgd(team, binding, kernels[launch->kernel], {launch, launch->members});
  else if (launch->members == 1)
    detail::run_one(team, binding, kernels[launch->kernel], *launch);
  else
    detail::run_joined(team, binding, kernels[launch->kernel], {launch, launch->members});
}

TWILL_BODY void run_alone(const Team& team, const Binding& binding, const BoundInstruction& instruction,
                          std::span<const KernelFunction> kernels) {
  kernels[instruction.kernel](team, binding.launch_of(instruction));
}

TWILL_BODY void run_segment(const Team& team, Binding& binding, const Segment& segment,
                            std::span<const KernelFunction> kernels) {
  for_each_launch(binding, segment, [&](const BoundInstruction* launch) {
    if (launch->small != nullptr && launch->members == 1 && !names_launches) [[likely]]
      launch->small->run(*launch->small, binding.operands.data() + launch->first_operand);
    else
      run_launch(team, binding, launch, kernels);
  });
}

TWILL_BODY std::size_t launches_of(const Binding& binding, const Segment& segment, bool alone) {
  const auto steps_of = [&](std::size_t instruction) {
    std::size_t steps = 1;
    for (std::size_t k = segment.loop < 0 ? binding.loops.size() : static_cast<std::size_t>(segment.loop);
         k < binding.loops.size() && binding.loops[k].first <= instruction; ++k)
      if (instruction < binding.loops[k].end) steps *= static_cast<std::size_t>(binding.loops[k].count);
    return steps;
  };
  std::size_t launches = 0;
  for (std::size_t i = segment.begin; i < segment.end; i += alone ? 1 : binding.instructions[i].members)
    launches += steps_of(i);
  return launches;
}

}}}} // namespace twill::v0::compile::TWILL_ISA
