#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run_joined.hpp.

#include <twill/compile/run_joined.hpp>

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

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
  std::int64_t total = 0;
  for (const BoundInstruction& member : members) {
    if (member.grid.rank != 1) return false;
    total += member.grid.elements();
  }
  constexpr std::int64_t worth_a_team = 32768; // below, waking the team costs more than it gains
  return members.size() > 1 && team.size() > 1 && total >= worth_a_team;
}

TWILL_BODY void run_joined(const Team& team, const Binding& binding, KernelFunction run,
                           std::span<const BoundInstruction> members) {
  if (!are_worth_a_team(team, members)) {
    for (const BoundInstruction& member : members) run(team, binding.call(member));
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

TWILL_BODY void run_descending(const Team& team, const Binding& binding, KernelFunction run,
                               std::span<const BoundInstruction> members) {
  std::size_t plain = 0; // the first of those before this one that share the launch as it is
  for (std::size_t i = 0; i <= members.size(); ++i) {
    if (i < members.size() && members[i].part == DescentPart::none) continue;
    if (plain < i) run_joined(team, binding, run, members.subspan(plain, i - plain));
    if (i < members.size()) run_descent(team, binding, members[i]);
    plain = i + 1;
  }
}

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

TWILL_BODY void run_launch(const Team& team, const Binding& binding, const BoundInstruction* launch,
                           std::span<const KernelFunction> kernels) {
  [[maybe_unused]] const LaunchRange range{binding, launch};
  if (launch->descends)
    detail::run_descending(team, binding, kernels[launch->kernel], {launch, launch->members});
  else if (launch->members == 1)
    kernels[launch->kernel](team, binding.call(*launch));
  else
    detail::run_joined(team, binding, kernels[launch->kernel], {launch, launch->members});
}

TWILL_BODY void run_instructions(const Team& team, Binding& binding, std::size_t begin, std::size_t end,
                                 std::span<const KernelFunction> kernels) {
  for_each_launch(binding, begin, end,
                  [&](const BoundInstruction* launch) { run_launch(team, binding, launch, kernels); });
}

TWILL_BODY void run_instructions(const Team& team, Binding& binding, std::span<const KernelFunction> kernels) {
  run_instructions(team, binding, 0, binding.instructions.size(), kernels);
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
