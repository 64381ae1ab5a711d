#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run/groups.hpp.

#include <twill/compile/run/groups.hpp>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY kernel::RankGroup& group_along(const kernel::AxisId& axis, const kernel::RankGroups* groups) {
  kernel::RankGroup* const group = groups == nullptr ? nullptr : groups->find(axis);
  if (group == nullptr)
    throw ValueError(join_text({"run: the program works on ", axis.size, " ranks along '", axis.name(),
                                "' and no group is bound; give each rank's network its group with bind(group)"}));
  if (group->axis().size != axis.size)
    throw ValueError(join_text({"run: the program works on ", axis.size, " ranks along '", axis.name(),
                                "', the group that is bound has ", group->axis().size}));
  return *group;
}

TWILL_BODY kernel::AxisId axis_of(const BoundInstruction& instruction) {
  return {instruction.attributes[0], instruction.attributes[1], instruction.attributes[2]};
}

TWILL_BODY void call_group(const Binding& binding, const BoundInstruction& instruction,
                           const kernel::RankGroups* groups) {
  const kernel::Launch launch = binding.launch_of(instruction);
  kernel::GroupCall made{};
  made.collective = instruction.collective;
  made.reduction = static_cast<kernel::Reduction>(launch.attributes[3]);
  made.dtype = launch.dtypes[0];
  made.source = launch.operands[0].data;
  made.source_count = launch.shapes[0].elements();
  made.target = launch.operands[1].data;
  made.target_count = launch.shapes[1].elements();
  if (made.source_count > 0) group_along(axis_of(instruction), groups).run(made);
}

TWILL_BODY void require_groups(const Binding& binding, const kernel::RankGroups* groups) {
  for (const Segment& segment : binding.segments.list)
    if (segment.kind == Segment::Kind::collective)
      static_cast<void>(group_along(axis_of(binding.instructions[segment.begin]), groups));
}

TWILL_BODY RankNumbers::RankNumbers(const TableView& table) {
  for (std::size_t i = 0; i < table.run_scalars.size(); ++i) {
    const std::string_view name = table.run_scalars[i].name.view();
    if (!name.starts_with(graph::rank_scalar)) continue;
    numbers_.push_back({i, kernel::AxisId{name.substr(graph::rank_scalar.size()),
                                          static_cast<std::int64_t>(table.run_scalars[i].initial)}});
  }
}

TWILL_BODY std::span<const std::uint64_t> RankNumbers::added_to(std::span<const std::uint64_t> run_scalars,
                                                                const kernel::RankGroups* groups) {
  if (numbers_.empty()) return run_scalars;
  with_ranks_.assign(run_scalars.begin(), run_scalars.end());
  for (const Number& number : numbers_)
    with_ranks_[number.run_scalar] = static_cast<std::uint64_t>(group_along(number.axis, groups).rank());
  return with_ranks_;
}

}}}} // namespace twill::v0::compile::TWILL_ISA
