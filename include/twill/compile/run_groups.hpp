#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Calls of groups of ranks in the middle of a program. They stand between launches and are made by the thread that starts the
// run, so that a group may wait for its peers, copy through the host, or put work of its own into the device's stream. All
// ranks run one program, whose order the compiler has fixed, so they make the same calls in the same order. Read next:
// compile/executor.hpp.

#include <twill/compile/bindings.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/graph/ranks.hpp>
#include <twill/kernel/rank_group.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// The group along an axis. throws: ValueError when none is bound, or one of another size
[[nodiscard]] inline kernel::RankGroup& group_along(const kernel::AxisId& axis, const kernel::RankGroups* groups) {
  kernel::RankGroup* const group = groups == nullptr ? nullptr : groups->find(axis);
  if (group == nullptr)
    throw ValueError(join_text({"run: the program works on ", axis.size, " ranks along '", axis.name(),
                                "' and no group is bound; give each rank's network its group with bind(group)"}));
  if (group->axis().size != axis.size)
    throw ValueError(join_text({"run: the program works on ", axis.size, " ranks along '", axis.name(),
                                "', the group that is bound has ", group->axis().size}));
  return *group;
}

/// The axis of a collective instruction.
[[nodiscard]] inline kernel::AxisId axis_of(const BoundInstruction& instruction) {
  return {instruction.attributes[0], instruction.attributes[1], instruction.attributes[2]};
}

/// Makes one call. throws: what the group throws
inline void call_group(const Binding& binding, const BoundInstruction& instruction, const kernel::RankGroups* groups) {
  const kernel::Call call = binding.call(instruction);
  kernel::GroupCall made{};
  made.collective = instruction.collective;
  made.reduction = static_cast<kernel::Reduction>(call.attributes[3]);
  made.dtype = call.dtypes[0];
  made.source = call.operands[0].data;
  made.source_count = call.shapes[0].elements();
  made.target = call.operands[1].data;
  made.target_count = call.shapes[1].elements();
  if (made.source_count > 0) group_along(axis_of(instruction), groups).run(made);
}

/// Calls `run(begin, end)` for the instructions between two calls of groups, or two places of an interlude, and makes the calls
/// by `make_call(instruction)`. Groups are looked for before anything runs.
template <class Run, class Call>
void run_between_calls(const Binding& binding, const RunArguments& arguments, const Run& run, const Call& make_call) {
  for (const std::size_t call : binding.collectives)
    static_cast<void>(group_along(axis_of(binding.instructions[call]), arguments.groups));
  run_with_interlude(binding, arguments.interlude, [&](std::size_t begin, std::size_t end) {
    for (const std::size_t call : binding.collectives) {
      if (call < begin || call >= end) continue;
      if (begin < call) run(begin, call);
      make_call(binding.instructions[call]);
      begin = call + 1;
    }
    if (begin < end) run(begin, end);
  });
}

/// The same with plain calls.
template <class Run> void run_between_calls(const Binding& binding, const RunArguments& arguments, const Run& run) {
  run_between_calls(binding, arguments, run,
                    [&](const BoundInstruction& instruction) { call_group(binding, instruction, arguments.groups); });
}

/// The run-time numbers of a table that are the rank along an axis. They are not the caller's: the group knows them.
class RankNumbers {
public:
  explicit RankNumbers(const TableView& table) {
    for (std::size_t i = 0; i < table.knobs.size(); ++i) {
      const std::string_view name = table.knobs[i].name.view();
      if (!name.starts_with(graph::rank_knob)) continue;
      numbers_.push_back(
          {i, kernel::AxisId{name.substr(graph::rank_knob.size()), static_cast<std::int64_t>(table.knobs[i].initial)}});
    }
  }
  [[nodiscard]] bool is_empty() const { return numbers_.empty(); }

  /// Fills them in. throws: ValueError when no group is bound
  void write(std::span<std::uint64_t> knobs, const kernel::RankGroups* groups) const {
    for (const Number& number : numbers_)
      knobs[number.knob] = static_cast<std::uint64_t>(group_along(number.axis, groups).rank());
  }

private:
  struct Number {
    std::size_t knob = 0;
    kernel::AxisId axis{};
  };
  std::vector<Number> numbers_{};
};

} // namespace twill::inline v0::compile::inline TWILL_ISA
